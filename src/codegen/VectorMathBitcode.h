// The bitcode of VectorMath.cpp, embedded by the build.
//
//   auto math = llvm::MemoryBuffer::getMemBuffer(vectorMathBitcode(), "VectorMath", false);
#ifndef TOKAMAK_CODEGEN_VECTORMATHBITCODE_H
#define TOKAMAK_CODEGEN_VECTORMATHBITCODE_H

#include "llvm/ADT/StringRef.h"

namespace tokamak::codegen {

llvm::StringRef vectorMathBitcode();

} // namespace tokamak::codegen
#endif
