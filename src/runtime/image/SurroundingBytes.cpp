#include "runtime/image/SurroundingBytes.h"

#include <algorithm>

namespace tokamak::runtime {

// The instructions of the innermost loop that holds this one; all of them if there is none.
static std::span<const Instruction> loopAround(const BlockPlace &place) {
  std::span<const Instruction> all = place.function.instructions, innermost = all;
  const auto here = static_cast<size_t>(&place.instruction - all.data());
  for (size_t end = here + 1; end < all.size(); ++end) {
    const auto head = static_cast<size_t>(all[end].target);
    if (mayJump(all[end].opcode) && head <= here && end - head < innermost.size())
      innermost = all.subspan(head, end + 1 - head);
  }
  return innermost;
}

int64_t surroundingBytes(const BlockPlace &place, std::span<const Value> arguments) {
  std::vector<const Array *> arrays;
  auto add = [&](const Value &value) {
    if (value.isArray())
      arrays.push_back(value.array().get());
  };
  for (const Value &argument : arguments)
    add(argument);
  const ImageFunction &function = place.function;
  std::span<const Instruction> loop = loopAround(place);
  if (loop.size() == function.instructions.size())
    std::for_each(place.slots, place.slots + function.slotCount, add);
  else
    for (const Instruction &instruction : loop)
      for (int32_t i = 0; i < instruction.operandCount; ++i)
        add(place.slots[function.slots[instruction.operandBegin + i]]);
  std::sort(arrays.begin(), arrays.end());
  arrays.erase(std::unique(arrays.begin(), arrays.end()), arrays.end());
  int64_t bytes = 0;
  for (const Array *array : arrays)
    bytes += array->bytes();
  return bytes;
}

} // namespace tokamak::runtime
