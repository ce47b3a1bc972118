// Compiles the precompiled header of the folders that do not use MLIR (cmake/TokamakFolder.cmake).
