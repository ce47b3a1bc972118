#include "codegen/VectorMathBitcode.h"

// The assembler reads the file; TOKAMAK_VECTOR_MATH_BITCODE is its path (CMakeLists.txt).
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl tokamakVectorMathBegin\n"
        ".globl tokamakVectorMathEnd\n"
        "tokamakVectorMathBegin:\n"
        ".incbin \"" TOKAMAK_VECTOR_MATH_BITCODE "\"\n"
        "tokamakVectorMathEnd:\n"
        ".byte 0\n"
        ".text\n");

extern "C" const char tokamakVectorMathBegin[], tokamakVectorMathEnd[];

llvm::StringRef tokamak::codegen::vectorMathBitcode() {
  return {tokamakVectorMathBegin,
          static_cast<size_t>(tokamakVectorMathEnd - tokamakVectorMathBegin)};
}
