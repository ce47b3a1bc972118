// What code around a block touches before the block is executed again: the caches hold nothing else then, and costs are
// predicted for that.
//
//   int64_t bytes = surroundingBytes({function, instruction, slots}, arguments);
#ifndef TOKAMAK_RUNTIME_IMAGE_SURROUNDINGBYTES_H
#define TOKAMAK_RUNTIME_IMAGE_SURROUNDINGBYTES_H

#include "runtime/image/Image.h"

namespace tokamak::runtime {

// Of the arrays in slots that the innermost loop around the block names, each once; in no loop, of all arrays in slots.
// `arguments`, the block's, count as well: they may have been moved out of their slots. Arrays that the loop is
// going to make, and those in lists, are not seen.
int64_t surroundingBytes(const BlockPlace &place, std::span<const Value> arguments);

} // namespace tokamak::runtime
#endif
