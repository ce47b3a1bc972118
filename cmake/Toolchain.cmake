# Finds what Tokamak is built on and sets flags: everything comes from Debian packages (./dev setup installs them).

find_package(MLIR REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# LLVM's TableGen writes dependency files whose paths are relative to the top build folder. Under the new behaviour of
# CMP0116, CMake takes them as relative to the current folder, and Ninja runs TableGen at every build.
cmake_policy(SET CMP0116 OLD)
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS}) # TableGen looks here
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_path(PROTOZERO_HEADERS protozero/pbf_reader.hpp REQUIRED) # header-only; lies where compilers look

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# What every target gets. A precompiled header without its timestamp lets ccache share it between build folders.
add_library(tokamak_flags INTERFACE)
target_compile_options(tokamak_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -Werror=return-type -Werror=switch -Werror=bool-conversion -Werror=dangling-gsl
  -fno-math-errno -ffp-contract=off -ffunction-sections -fdata-sections
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
# The released objects are linked into the program and into the library (src/api). In the program the linker undoes what
# position independence costs.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(tokamak_flags INTERFACE -fPIC)
endif()
target_compile_definitions(tokamak_flags INTERFACE TOKAMAK_VERSION="${PROJECT_VERSION}")
target_include_directories(tokamak_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/src)
target_link_options(tokamak_flags INTERFACE -fuse-ld=mold)

# All of MLIR and LLVM as static archives: 2 ms of start-up where the shared libraries need 22 ms. Debian's exported
# targets pull in the shared libLLVM, so the archives are listed by hand.
file(GLOB llvm_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
list(FILTER llvm_archives EXCLUDE REGEX "CAPI|Test|Lsp|PDLLCodeGen|Tblgen|TableGen|Reduce|Query|BOLT|Hello")
add_library(llvm_static INTERFACE)
target_include_directories(llvm_static SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_link_libraries(llvm_static INTERFACE -Wl,--start-group ${llvm_archives} -Wl,--end-group z zstd pthread dl m)
# What runs before main stays together: LLVM has initialisers in a thousand files, and each page touched costs a start
# microseconds.
target_link_options(llvm_static INTERFACE -no-pie -Wl,--gc-sections -Wl,-z,keep-text-section-prefix)
# In the folders that use MLIR, checks of each pointer's value and alignment take a quarter of the time to compile; what
# they would find beyond AddressSanitizer are errors in our memory layouts, which the other folders have.
target_compile_options(llvm_static INTERFACE "$<$<CONFIG:Address>:-fno-sanitize=null,alignment,object-size>")
if(NOT CMAKE_BUILD_TYPE MATCHES "^(Fuzz|Address|Thread)$") # sanitizers look for the shared libstdc++
  target_link_options(llvm_static INTERFACE -static-libstdc++ -static-libgcc)
endif()
