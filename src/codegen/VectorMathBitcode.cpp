#include "codegen/VectorMathBitcode.h"

// The assembler reads the file; TOKAMAK_BITCODE_FOLDER is its folder (CMakeLists.txt).
__asm__(".section .rodata\n"
        ".balign 16\n"
        "tokamakVectorMathBegin:\n"
        ".incbin \"" TOKAMAK_BITCODE_FOLDER "/VectorMath.bc\"\n"
        "tokamakVectorMathEnd:\n"
        ".byte 0\n"
        ".text\n");

extern "C" const char tokamakVectorMathBegin[], tokamakVectorMathEnd[];

llvm::StringRef tokamak::codegen::vectorMathBitcode() {
  return {tokamakVectorMathBegin,
          static_cast<size_t>(tokamakVectorMathEnd - tokamakVectorMathBegin)};
}
