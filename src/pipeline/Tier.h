// With which kernels a block runs: at once with those that are part of the program, or with fused ones that are
// compiled for it (BuiltInTier.h).
//
//   options.firstTier = Tier::BuiltIn;
#ifndef TOKAMAK_PIPELINE_TIER_H
#define TOKAMAK_PIPELINE_TIER_H

#include <cstdint>

namespace tokamak::pipeline {

// Which kernels a plan may have.
enum class Tier : uint8_t {
  BuiltIn,  // those of single operators that are part of the program, where that pays
  Compiled, // those that are made for the block, as the selector chooses
};

} // namespace tokamak::pipeline
#endif
