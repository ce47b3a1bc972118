#include "codegen/VectorMathBitcode.h"

// The assembler reads the file; TOKAMAK_BITCODE_FOLDER is its folder (CMakeLists.txt).
#define TOKAMAK_EMBED(name, file)                                                                  \
  __asm__(".section .rodata\n"                                                                     \
          ".balign 16\n"                                                                           \
          ".globl tokamak" name "Begin\n"                                                          \
          ".globl tokamak" name "End\n"                                                            \
          "tokamak" name "Begin:\n"                                                                \
          ".incbin \"" TOKAMAK_BITCODE_FOLDER "/" file "\"\n"                                      \
          "tokamak" name "End:\n"                                                                  \
          ".byte 0\n"                                                                              \
          ".text\n")

TOKAMAK_EMBED("VectorMath", "VectorMath.bc");
TOKAMAK_EMBED("SinglePrecisionMath", "SinglePrecisionMath.bc");

extern "C" const char tokamakVectorMathBegin[], tokamakVectorMathEnd[];
extern "C" const char tokamakSinglePrecisionMathBegin[], tokamakSinglePrecisionMathEnd[];

static llvm::StringRef between(const char *begin, const char *end) {
  return {begin, static_cast<size_t>(end - begin)};
}

llvm::StringRef tokamak::codegen::vectorMathBitcode() {
  return between(tokamakVectorMathBegin, tokamakVectorMathEnd);
}

llvm::StringRef tokamak::codegen::singlePrecisionMathBitcode() {
  return between(tokamakSinglePrecisionMathBegin, tokamakSinglePrecisionMathEnd);
}
