// The types of slots in code that is compiled: instructions that compute with numbers and cells of
// matrices alone, and what they give.
//
//   std::vector<SlotType> types = {SlotType::Integer, SlotType::Double, SlotType::None};
//   types[2] = resultType(image, function, instruction, types);      // of s2 = add s0, s1: a double
//   if (isCompilable(function, instruction, types)) ...
#ifndef TOKAMAK_RUNTIME_IMAGE_SCALARTYPES_H
#define TOKAMAK_RUNTIME_IMAGE_SCALARTYPES_H

#include "runtime/image/Image.h"

#include <vector>

namespace tokamak::runtime {

// Whether the array is a matrix of doubles of which each cell is stored.
inline bool hasPlainCells(const Array &array) {
  return array.elementType() == ElementType::F64 && array.shape().rank() == 2 &&
         !array.isSparse() && !array.isRepeated();
}

// None: not known yet, or of no use to compiled code.
enum class SlotType : uint8_t { None, Boolean, Integer, Double, Matrix };

inline bool isNumber(SlotType type) { return type != SlotType::None && type != SlotType::Matrix; }
SlotType typeOf(const Value &value);

// Numbers as compiled code passes them: doubles by their bits, booleans as 0 or 1. Any other word for
// values that are not numbers.
int64_t wordOf(const Value &value);
// `type` is that of a number.
Value valueOfWord(SlotType type, int64_t word);

// The type of the instruction's result, as ScalarOperations.h computes it; None if it has none, if it
// is not known from the types of the operands, or for calls.
SlotType resultType(const Image &image, const ImageFunction &function,
                    const Instruction &instruction, const std::vector<SlotType> &types);
// Whether compiled code can do it, all types being known. False for calls.
bool isCompilable(const ImageFunction &function, const Instruction &instruction,
                  const std::vector<SlotType> &types);

} // namespace tokamak::runtime
#endif
