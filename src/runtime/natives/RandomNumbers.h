// Counter-based random numbers: the Philox4x32-10 generator of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A number is a function of seed, stream
// and position alone, so the order and the thread of a draw don't matter.
//
//   RandomBlock block = randomBlock(seed, /*stream=*/0, /*position=*/17);
//   double u = uniform(block, 0);   // in [0, 1)
#ifndef TOKAMAK_RUNTIME_NATIVES_RANDOMNUMBERS_H
#define TOKAMAK_RUNTIME_NATIVES_RANDOMNUMBERS_H

#include <array>
#include <cstdint>

namespace tokamak::runtime {

// Of the cells that rand draws.
enum class CellDistribution : uint8_t { Uniform, Normal, Poisson };

using RandomBlock = std::array<uint32_t, 4>;

// Philox4x32's constants.
constexpr int philoxRounds = 10;
constexpr uint64_t philoxMultiplier0 = 0xD2511F53, philoxMultiplier1 = 0xCD9E8D57;
constexpr uint32_t philoxIncrement0 = 0x9E3779B9, philoxIncrement1 = 0xBB67AE85;

inline RandomBlock randomBlock(uint64_t seed, uint64_t stream, uint64_t position) {
  RandomBlock counter = {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32),
                         static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < philoxRounds; ++round) {
    uint64_t product0 = philoxMultiplier0 * counter[0], product1 = philoxMultiplier1 * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += philoxIncrement0;
    key1 += philoxIncrement1;
  }
  return counter;
}

// Number `which` (0 or 1) of a block: 53 random bits, in [0, 1).
inline double uniform(const RandomBlock &block, int which) {
  uint64_t bits = static_cast<uint64_t>(block[2 * which + 1]) << 32 | block[2 * which];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace tokamak::runtime
#endif
