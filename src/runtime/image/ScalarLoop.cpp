#include "runtime/image/ScalarLoop.h"

#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <bit>

namespace tokamak::runtime {
namespace {

// Finds the types of slots by following the instructions until nothing changes.
class Analysis {
public:
  Analysis(const Image &image, const ImageFunction &function, int32_t head, int32_t end,
           const Value *slots)
      : image_(image), function_(function), slots_(slots) {
    loop_.head = head;
    loop_.end = end;
    loop_.types.resize(function.slotCount);
    loop_.isWritten.resize(function.slotCount);
    for (Slot slot = 0; slot < function.slotCount; ++slot)
      loop_.matrixOf.push_back(slot);
  }

  std::optional<ScalarLoop> run() {
    forEach([&](const Instruction &instruction) {
      for (int32_t i = 0; i < instruction.operandCount; ++i)
        enter(operand(instruction, i));
      for (int32_t i = 0; i < instruction.resultCount; ++i)
        enter(result(instruction, i));
    });
    do {
      hasChanged_ = false;
      forEach([&](const Instruction &instruction) { follow(instruction); });
    } while (hasChanged_ && !isRefused_);
    forEach([&](const Instruction &instruction) { check(instruction); });
    if (isRefused_)
      return {};
    findHolders();
    return isRefused_ ? std::nullopt : std::optional(std::move(loop_));
  }

private:
  template <typename Visit> void forEach(Visit visit) {
    for (int32_t i = loop_.head; i < loop_.end && !isRefused_; ++i)
      visit(function_.instructions[i]);
  }
  Slot operand(const Instruction &instruction, int32_t i) const {
    return function_.slots[instruction.operandBegin + i];
  }
  Slot result(const Instruction &instruction, int32_t i = 0) const {
    return function_.slots[instruction.resultBegin + i];
  }
  SlotType type(const Instruction &instruction, int32_t i) const {
    return loop_.types[operand(instruction, i)];
  }

  void enter(Slot slot) {
    if (loop_.types[slot] == SlotType::None)
      loop_.types[slot] = typeOf(slots_[slot]);
  }

  void assign(Slot slot, SlotType type) {
    if (type == SlotType::None || loop_.types[slot] == type)
      return;
    isRefused_ |= loop_.types[slot] != SlotType::None;
    hasChanged_ = true;
    loop_.types[slot] = type;
  }

  // Both slots have the same matrix, at different times or at the same time.
  void join(Slot a, Slot b) {
    Slot first = loop_.matrixOf[a], second = loop_.matrixOf[b];
    if (first == second)
      return;
    hasChanged_ = true;
    // That of a slot which holds the matrix when the loop begins.
    bool takesSecond = !slots_[first].isArray() && slots_[second].isArray();
    for (Slot &matrix : loop_.matrixOf)
      if (matrix == first || matrix == second)
        matrix = takesSecond ? second : first;
  }

  void follow(const Instruction &instruction) {
    if (instruction.opcode == Opcode::Call)
      return followCall(instruction);
    if (instruction.resultCount != 1)
      return;
    bool passesOn = instruction.opcode == Opcode::Move || instruction.opcode == Opcode::Copy ||
                    instruction.opcode == Opcode::WriteCell;
    if (passesOn && type(instruction, 0) == SlotType::Matrix)
      join(operand(instruction, 0), result(instruction));
    assign(result(instruction), resultType(image_, function_, instruction, loop_.types));
  }

  void followCall(const Instruction &instruction) {
    std::vector<SlotType> arguments;
    for (int32_t i = 0; i < instruction.operandCount; ++i)
      arguments.push_back(type(instruction, i));
    if (std::ranges::count(arguments, SlotType::None) > 0)
      return; // not known yet
    if (!loop_.functions)
      loop_.functions.emplace(image_);
    std::optional<int32_t> callee = loop_.functions->find(instruction.index, arguments);
    isRefused_ |= !callee;
    if (!callee)
      return;
    loop_.callees[numberOf(instruction)] = *callee;
    for (int32_t i = 0; i < instruction.resultCount; ++i)
      assign(result(instruction, i), (*loop_.functions)[*callee].results[i]);
  }

  int32_t numberOf(const Instruction &instruction) const {
    return static_cast<int32_t>(&instruction - function_.instructions.data());
  }

  // Refuses what compiled code does not do, and operands whose types are not known.
  void check(const Instruction &instruction) {
    isRefused_ |= !loop_.callees.contains(numberOf(instruction)) &&
                  !isCompilable(function_, instruction, loop_.types);
    if (mayJump(instruction.opcode))
      isRefused_ |= instruction.target < loop_.head || instruction.target > loop_.end;
  }

  // Which slots hold the matrices before each instruction. A matrix is passed on from slot to slot and
  // never copied, so that it has one owner whose cells may be replaced.
  void findHolders() {
    for (Slot slot = 0; slot < function_.slotCount; ++slot) {
      if (loop_.types[slot] != SlotType::Matrix)
        continue;
      Slot matrix = loop_.matrixOf[slot];
      isRefused_ |= !slots_[matrix].isArray() || (slot != matrix && slots_[slot].isArray());
      if (slot == matrix)
        loop_.matrices.push_back(slot);
    }
    loop_.holders.resize(loop_.end - loop_.head + 1);
    std::vector<int32_t> open;
    auto reach = [&](int32_t i, const std::vector<Slot> &holders) {
      std::vector<Slot> &known = loop_.holders[i - loop_.head];
      if (!known.empty() || loop_.matrices.empty()) {
        isRefused_ |= known != holders;
        return;
      }
      known = holders;
      if (i < loop_.end)
        open.push_back(i);
    };
    reach(loop_.head, loop_.matrices);
    while (!open.empty() && !isRefused_) {
      int32_t i = open.back();
      open.pop_back();
      const Instruction &instruction = function_.instructions[i];
      std::vector<Slot> holders = loop_.holders[i - loop_.head];
      passOn(instruction, holders);
      if (mayJump(instruction.opcode))
        reach(instruction.target, holders);
      if (instruction.opcode != Opcode::Jump)
        reach(i + 1, holders);
    }
  }

  void passOn(const Instruction &instruction, std::vector<Slot> &holders) {
    for (int32_t i = 0; i < instruction.operandCount; ++i) {
      Slot slot = operand(instruction, i);
      if (loop_.types[slot] != SlotType::Matrix)
        continue;
      auto holder = std::find(holders.begin(), holders.end(), slot);
      bool isHeld = holder != holders.end();
      switch (instruction.opcode) {
      case Opcode::Move:
        isRefused_ |= !isHeld;
        if (isHeld)
          *holder = result(instruction);
        break;
      case Opcode::WriteCell:
        isRefused_ |= !isHeld;
        loop_.isWritten[loop_.matrixOf[slot]] = true;
        if (isHeld)
          *holder = result(instruction);
        break;
      case Opcode::Free:
        isRefused_ |= isHeld;
        break;
      case Opcode::Copy:
        isRefused_ = true;
        break;
      default:
        isRefused_ |= !isHeld;
      }
    }
  }

  const Image &image_;
  const ImageFunction &function_;
  const Value *slots_;
  ScalarLoop loop_;
  bool hasChanged_ = false, isRefused_ = false;
};

} // namespace

std::optional<ScalarLoop> scalarLoopAt(const Image &image, const ImageFunction &function,
                                       int32_t head, int32_t end, const Value *slots) {
  return Analysis(image, function, head, end, slots).run();
}

bool ScalarLoop::take(Value *slots, std::vector<int64_t> &words) const {
  words.resize(wordsPerSlot * types.size());
  for (size_t slot = 0; slot < types.size(); ++slot) {
    int64_t *word = words.data() + wordsPerSlot * slot;
    Value &value = slots[slot];
    // Slots that the loop assigns first may have nothing yet, or what an earlier run left.
    if (types[slot] == SlotType::None || (value.isNothing() && types[slot] != SlotType::Matrix))
      continue;
    if (types[slot] == SlotType::Matrix && matrixOf[slot] != static_cast<Slot>(slot))
      continue;
    if (typeOf(value) != types[slot] || (isWritten[slot] && !isSoleOwner(value)))
      return false;
    if (types[slot] == SlotType::Matrix) {
      auto &array = const_cast<Array &>(*value.array());
      word[0] = std::bit_cast<int64_t>(isWritten[slot] ? array.mutableData() : array.data());
      word[1] = array.rows();
      word[2] = array.columns();
    } else {
      word[0] = wordOf(value);
    }
  }
  return true;
}

void ScalarLoop::giveBack(const std::vector<int64_t> &words, int32_t next, Value *slots) const {
  const std::vector<Slot> &holding = holders[next - head];
  for (size_t i = 0; i < matrices.size(); ++i)
    if (holding[i] != matrices[i])
      slots[holding[i]] = std::exchange(slots[matrices[i]], Value());
  for (size_t slot = 0; slot < types.size(); ++slot)
    if (isNumber(types[slot]))
      slots[slot] = valueOfWord(types[slot], words[wordsPerSlot * slot]);
}

} // namespace tokamak::runtime
