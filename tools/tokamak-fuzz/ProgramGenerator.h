// Generates random programs; the same seed always gives the same program.
//
//   GeneratedProgram program = generateProgram(42);
//   std::cout << render(program.tree);
//
// Most programs are written in DML, some in the textual form of the tok dialect. A program ends by
// printing every variable in scope; the trial compares these values.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_PROGRAMGENERATOR_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_PROGRAMGENERATOR_H

#include "tokamak-fuzz/Expressions.h"
#include "tokamak-fuzz/SourceText.h"
#include "tokamak-fuzz/SyntaxTree.h"

namespace tokamak::fuzz {

struct GeneratedProgram {
  Node tree;
  Language language = Language::Dml;
  SourceText source() const { return {render(tree), language}; }
};

GeneratedProgram generateProgram(uint64_t seed);

// A program in the textual form of the dialect, over arrays of one to four dimensions.
Node generateTokProgram(Random &random);

} // namespace tokamak::fuzz
#endif
