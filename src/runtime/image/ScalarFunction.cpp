#include "runtime/image/ScalarFunction.h"

#include <algorithm>

namespace tokamak::runtime {

// A program has few; this bounds those that call each other with ever more types.
static constexpr size_t mostFunctions = 64;

bool endsCompiledCode(const Instruction &instruction) {
  return instruction.opcode == Opcode::Concat ||
         (instruction.opcode == Opcode::Native && instruction.resultCount == 0);
}

std::optional<int32_t> ScalarFunctions::find(int32_t function,
                                             const std::vector<SlotType> &arguments) {
  size_t before = functions_.size();
  std::optional<int32_t> found = require(function, arguments);
  if (!found)
    return {};
  bool isRefused = false;
  do {
    hasChanged_ = false;
    for (int32_t i = static_cast<int32_t>(before); i < size() && !isRefused; ++i)
      isRefused = !follow(i);
  } while (hasChanged_ && !isRefused);
  for (int32_t i = static_cast<int32_t>(before); i < size() && !isRefused; ++i)
    isRefused = !isSuitable(functions_[i]);
  if (!isRefused)
    return found;
  functions_.resize(before);
  return {};
}

std::optional<int32_t> ScalarFunctions::require(int32_t function,
                                                const std::vector<SlotType> &arguments) {
  for (int32_t i = 0; i < size(); ++i)
    if (functions_[i].function == function &&
        std::equal(arguments.begin(), arguments.end(), functions_[i].types.begin()))
      return i;
  const ImageFunction &code = image_->functions[function];
  if (functions_.size() >= mostFunctions || !std::ranges::all_of(arguments, isNumber) ||
      static_cast<int32_t>(arguments.size()) != code.parameterCount)
    return {};
  ScalarFunction &scalar = functions_.emplace_back();
  scalar.function = function;
  scalar.types = arguments;
  scalar.types.resize(code.slotCount);
  scalar.results.resize(code.resultCount);
  hasChanged_ = true;
  return size() - 1;
}

// Types only become known. False if two of them differ for the same slot.
bool ScalarFunctions::follow(int32_t number) {
  const ImageFunction &code = image_->functions[functions_[number].function];
  bool agree = true;
  auto assign = [&](SlotType &known, SlotType type) {
    if (type == SlotType::None || known == type)
      return;
    agree &= known == SlotType::None;
    known = type;
    hasChanged_ = true;
  };
  for (size_t i = 0; i < code.instructions.size() && agree; ++i) {
    const Instruction &instruction = code.instructions[i];
    const Slot *operands = code.slots.data() + instruction.operandBegin;
    const Slot *results = code.slots.data() + instruction.resultBegin;
    if (instruction.opcode == Opcode::Call) {
      std::vector<SlotType> arguments;
      for (int32_t j = 0; j < instruction.operandCount; ++j)
        arguments.push_back(functions_[number].types[operands[j]]);
      if (std::ranges::count(arguments, SlotType::None) > 0)
        continue; // not known yet
      std::optional<int32_t> callee = require(instruction.index, arguments);
      if (!callee)
        return false;
      functions_[number].callees[static_cast<int32_t>(i)] = *callee;
      for (int32_t j = 0; j < instruction.resultCount; ++j)
        assign(functions_[number].types[results[j]], functions_[*callee].results[j]);
    } else if (instruction.opcode == Opcode::Return) {
      ScalarFunction &scalar = functions_[number];
      for (size_t j = 0; j < scalar.results.size(); ++j)
        assign(scalar.results[j], scalar.types[operands[j]]);
    } else if (instruction.resultCount == 1) {
      std::vector<SlotType> &types = functions_[number].types;
      assign(types[results[0]], resultType(*image_, code, instruction, types));
    }
  }
  return agree;
}

bool ScalarFunctions::isSuitable(const ScalarFunction &scalar) const {
  const ImageFunction &code = image_->functions[scalar.function];
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    const Instruction &instruction = code.instructions[i];
    // Texts of messages: compiled code ends before it would need them.
    bool isText = instruction.opcode == Opcode::Constant &&
                  scalar.types[code.slots[instruction.resultBegin]] == SlotType::None;
    bool isKnown = isText || instruction.opcode == Opcode::Return ||
                   scalar.callees.contains(static_cast<int32_t>(i)) ||
                   endsCompiledCode(instruction) || isCompilable(code, instruction, scalar.types);
    if (!isKnown)
      return false;
  }
  return std::ranges::all_of(scalar.results, isNumber);
}

} // namespace tokamak::runtime
