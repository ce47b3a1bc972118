# libtokamak-runtime.a, which programs that call models compiled ahead of time are linked with: `runtime` and `base` in one
# archive, without LLVM. In lib/tokamak/ARCHITECTURE, where `tokamak compile` looks for it (src/aot/ModelFiles.cpp).

string(TOLOWER ${CMAKE_SYSTEM_PROCESSOR} architecture)
add_library(tokamak-runtime STATIC $<TARGET_OBJECTS:tokamak_runtime> $<TARGET_OBJECTS:tokamak_base>)
set_target_properties(tokamak-runtime PROPERTIES LINKER_LANGUAGE CXX
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/tokamak/${architecture})
add_dependencies(tokamak tokamak-runtime)

# The same for AArch64, compiled here: `cmake --build build/release --target tokamak-runtime-aarch64`. Not part of the default
# build: it takes minutes, and Debian's libstdc++-12-dev-arm64-cross. Tests of programs without files and frames link
# tokamak-runtime-aarch64-without-files, which takes two thirds as long.
if(NOT architecture STREQUAL "aarch64")
  set(folder ${CMAKE_BINARY_DIR}/runtime-aarch64)
  # The precompiled header has templates instantiated, which takes a seventh off, and no timestamp, so that ccache knows what it
  # has compiled in another build folder.
  set(compiler ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} --target=aarch64-linux-gnu -std=c++20 -O2 -DNDEBUG -fPIC
    -fno-math-errno -ffp-contract=off -ffunction-sections -fdata-sections -fpch-instantiate-templates -Xclang -fno-pch-timestamp
    -Wno-unused-parameter "-DTOKAMAK_VERSION=\"${PROJECT_VERSION}\"" -I${CMAKE_SOURCE_DIR}/src)
  set(header ${folder}/StandardHeader.pch)
  file(MAKE_DIRECTORY ${folder} ${CMAKE_BINARY_DIR}/lib/tokamak/aarch64)
  add_custom_command(OUTPUT ${header}
    COMMAND ${compiler} -x c++-header ${CMAKE_SOURCE_DIR}/cmake/StandardHeader.h -o ${header} -MD -MF ${header}.d
    DEPENDS ${CMAKE_SOURCE_DIR}/cmake/StandardHeader.h DEPFILE ${header}.d VERBATIM)
  set(objects)
  foreach(target tokamak_runtime tokamak_base)
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
      file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${source})
      string(REPLACE "/" "_" name ${name})
      set(object ${folder}/${name}.o)
      add_custom_command(OUTPUT ${object}
        COMMAND ${compiler} -include-pch ${header} -c ${source} -o ${object} -MD -MF ${object}.d
        DEPENDS ${source} ${header} DEPFILE ${object}.d VERBATIM COMMENT "Compiling ${name} for AArch64")
      list(APPEND objects ${object})
    endforeach()
  endforeach()
  function(add_runtime_archive target archive)
    add_custom_command(OUTPUT ${archive}
      COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
      COMMAND ${CMAKE_AR} qcs ${archive} ${ARGN}
      DEPENDS ${ARGN} VERBATIM COMMENT "Linking ${target}")
    add_custom_target(${target} DEPENDS ${archive})
  endfunction()
  add_runtime_archive(tokamak-runtime-aarch64 ${CMAKE_BINARY_DIR}/lib/tokamak/aarch64/libtokamak-runtime.a ${objects})
  list(FILTER objects EXCLUDE REGEX "/runtime_(io|transform)_|/base_MatrixMetadata")
  add_runtime_archive(tokamak-runtime-aarch64-without-files ${folder}/libtokamak-runtime.a ${objects})
endif()
