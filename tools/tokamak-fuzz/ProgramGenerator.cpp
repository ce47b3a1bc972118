#include "tokamak-fuzz/ProgramGenerator.h"

#include "tokamak-fuzz/DmlGenerator.h"

namespace tokamak::fuzz {

GeneratedProgram generateProgram(uint64_t seed) {
  constexpr double shareOfTokPrograms = 0.25;
  Random random(seed);
  if (random.chance(shareOfTokPrograms))
    return {generateTokProgram(random), Language::Tok};
  return {DmlGenerator(random).program(), Language::Dml};
}

} // namespace tokamak::fuzz
