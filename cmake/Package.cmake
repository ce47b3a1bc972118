# What is installed, and the packages that `./dev package` makes of it: a folder to unpack anywhere (tar.zst) and a Debian
# package. Both bring the shared libraries that the program opens, all but the C library, in lib/tokamak:
#
#   bin/tokamak                                    finds lib/tokamak from where it lies itself
#   lib/libtokamak.so.1, include/tokamak.{h,hpp}   the same for other programs (src/api), for C, and for CMake and pkg-config
#   lib/tokamak/libtokamak-parallel.so, ...        ours (src/base/BundledLibrary.h)
#   lib/tokamak/libtbb.so.12, libopenblas.so.0 ... those of this system
#   share/man, share/bash-completion, share/doc    manual page, completion, examples, the library's sources, licences
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE) # tests and tools are not installed

set(library_folder lib/tokamak)
set_target_properties(tokamak PROPERTIES INSTALL_RPATH "$ORIGIN/../${library_folder}")
set_target_properties(tokamak-parallel tokamak-sort PROPERTIES INSTALL_RPATH "$ORIGIN")
# While it is built, too: what CMake would write instead, colons as a place for the path, means the folder in which the
# program is run, so that its libraries would be taken from there.
set_target_properties(tokamak tokamak-parallel tokamak-sort PROPERTIES BUILD_WITH_INSTALL_RPATH TRUE)
install(TARGETS tokamak RUNTIME DESTINATION bin)
install(TARGETS tokamak-parallel tokamak-sort LIBRARY DESTINATION ${library_folder})
set_target_properties(tokamak-library PROPERTIES INSTALL_RPATH "$ORIGIN/tokamak" BUILD_WITH_INSTALL_RPATH TRUE)
install(TARGETS tokamak-library LIBRARY DESTINATION lib)
install(FILES src/api/tokamak.h src/api/tokamak.hpp DESTINATION include)
install(TARGETS tokamak-runtime ARCHIVE DESTINATION ${library_folder}/${architecture})
configure_file(cmake/TokamakConfig.cmake.in TokamakConfig.cmake @ONLY)
configure_file(cmake/tokamak.pc.in tokamak.pc @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(TokamakConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TokamakConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TokamakConfigVersion.cmake
  DESTINATION lib/cmake/Tokamak)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tokamak.pc DESTINATION lib/pkgconfig)

set(document_folder share/doc/tokamak)
install(FILES LICENSE DESTINATION ${document_folder} RENAME copyright)
install(FILES CHANGELOG.md DESTINATION ${document_folder})
install(DIRECTORY examples DESTINATION ${document_folder})
install(DIRECTORY lib/ DESTINATION ${document_folder}/library FILES_MATCHING PATTERN "*.dml")

find_library(OPENBLAS_LIBRARY libopenblas.so.0 REQUIRED)
set(LINKED_PACKAGES llvm-19-dev libmlir-19-dev libboost1.74-dev libfmt-dev libprotozero-dev libcli11-dev nlohmann-json3-dev libkissfft-dev
  libstdc++-12-dev)
set(oldest_c_library 2.36) # Debian 12's
# The rest is made by what was built: texts by the program, and the list of libraries by reading those we install.
configure_file(cmake/InstallGenerated.cmake.in InstallGenerated.cmake @ONLY)
install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/InstallGenerated.cmake)

set(CPACK_GENERATOR TZST DEB)
set(CPACK_PACKAGE_NAME tokamak)
set(CPACK_PACKAGE_VENDOR Tokamak)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler and runtime for whole machine-learning programs")
set(CPACK_PACKAGE_DESCRIPTION "Tokamak compiles programs in DML, the R-like language of Apache SystemDS, and ONNX models to
few, fused, native kernels, and runs them.")
set(CPACK_PACKAGE_FILE_NAME tokamak-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_CONTACT "The authors of Tokamak <tokamak@localhost>")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
# cmake/InstallGenerated.cmake.in refuses to install what needs a newer one.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${oldest_c_library})")
include(CPack)
