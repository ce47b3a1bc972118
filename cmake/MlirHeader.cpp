// Compiles the precompiled header that the MLIR folders share (cmake/TokamakFolder.cmake).
