// Random DML programs: the same one for the same seed, always.
//
//   Node program = generateProgram(42);
//   std::cout << render(program);
//
// A program ends by printing every variable that is left; the trial compares these values.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_PROGRAMGENERATOR_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_PROGRAMGENERATOR_H

#include "tokamak-fuzz/SyntaxTree.h"

namespace tokamak::fuzz {

Node generateProgram(uint64_t seed);

} // namespace tokamak::fuzz
#endif
