// What code that was compiled ahead of time needs of the processor, and this one doesn't have.
//
//   uint64_t needed = 1 << 10 | 1 << 11;
//   std::vector<std::string_view> missing = missingFeatures(needed);    // {"avx512f", "avx512bw"}
#ifndef TOKAMAK_RUNTIME_MODEL_PROCESSOR_H
#define TOKAMAK_RUNTIME_MODEL_PROCESSOR_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

// Of a set of features of x86-64 (abi/ProcessorFeatures.h). On other processors, whose code needs no more than all of them have,
// nothing is missing.
std::vector<std::string_view> missingFeatures(uint64_t needed);

} // namespace tokamak::runtime
#endif
