#include "runtime/image/ScalarLoop.h"

#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <bit>

namespace tokamak::runtime {
namespace {

// A slot whose array was moved elsewhere has a null pointer.
bool holdsArray(const Value &value) { return value.isArray() && value.array(); }

SlotType typeOf(const Value &value) {
  if (value.isBoolean())
    return SlotType::Boolean;
  if (value.isInteger())
    return SlotType::Integer;
  if (value.isDouble())
    return SlotType::Double;
  if (!holdsArray(value))
    return SlotType::None;
  return hasPlainCells(*value.array()) ? SlotType::Matrix : SlotType::None;
}

bool isNumber(SlotType type) { return type != SlotType::None && type != SlotType::Matrix; }

// The types of scalar results, as ScalarOperations.h computes them.
SlotType resultType(UnaryOperator op, SlotType operand) {
  if (!isNumber(operand))
    return SlotType::None;
  if (operand == SlotType::Integer && op == UnaryOperator::Neg)
    return SlotType::Integer;
  return resultOf(op) == CellResult::Boolean ? SlotType::Boolean : SlotType::Double;
}

SlotType resultType(BinaryOperator op, SlotType lhs, SlotType rhs) {
  if (!isNumber(lhs) || !isNumber(rhs))
    return SlotType::None;
  if (resultOf(op) == CellResult::Boolean)
    return SlotType::Boolean;
  bool areIntegers = lhs == SlotType::Integer && rhs == SlotType::Integer;
  return areIntegers && resultOf(op) == CellResult::Number ? SlotType::Integer : SlotType::Double;
}

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
    bool takesSecond = !holdsArray(slots_[first]) && holdsArray(slots_[second]);
    for (Slot &matrix : loop_.matrixOf)
      if (matrix == first || matrix == second)
        matrix = takesSecond ? second : first;
  }

  void follow(const Instruction &instruction) {
    switch (instruction.opcode) {
    case Opcode::Constant:
      return assign(result(instruction), typeOf(image_.constants[instruction.index]));
    case Opcode::Move:
    case Opcode::Copy:
    case Opcode::WriteCell:
      if (type(instruction, 0) == SlotType::Matrix)
        join(operand(instruction, 0), result(instruction));
      return assign(result(instruction), type(instruction, 0));
    case Opcode::Unary:
      return assign(result(instruction), resultType(static_cast<UnaryOperator>(instruction.index),
                                                    type(instruction, 0)));
    case Opcode::Binary:
      return assign(result(instruction), resultType(static_cast<BinaryOperator>(instruction.index),
                                                    type(instruction, 0), type(instruction, 1)));
    case Opcode::IfElse:
      assign(result(instruction), type(instruction, 1));
      return assign(result(instruction), type(instruction, 2));
    case Opcode::Cast:
      return assign(result(instruction), castType(instruction));
    case Opcode::Rows:
    case Opcode::Columns:
    case Opcode::Length:
    case Opcode::LoopStep:
      return assign(result(instruction), SlotType::Integer);
    case Opcode::ReadCell:
      return assign(result(instruction), SlotType::Double);
    default:
      return;
    }
  }

  SlotType castType(const Instruction &instruction) const {
    switch (static_cast<CastTarget>(instruction.index)) {
    case CastTarget::Boolean:
      return SlotType::Boolean;
    case CastTarget::Integer:
      return SlotType::Integer;
    case CastTarget::Double:
      return SlotType::Double;
    case CastTarget::Scalar:
      return type(instruction, 0);
    default:
      return SlotType::None;
    }
  }

  // Refuses what compiled code does not do, and operands whose types are not known.
  void check(const Instruction &instruction) {
    auto are = [&](std::initializer_list<int32_t> operands, auto suits) {
      return std::all_of(operands.begin(), operands.end(),
                         [&](int32_t i) { return suits(type(instruction, i)); });
    };
    auto isInteger = [](SlotType type) { return type == SlotType::Integer; };
    auto isMatrix = [](SlotType type) { return type == SlotType::Matrix; };
    auto holds = [&] {
      switch (instruction.opcode) {
      case Opcode::Constant:
        return isNumber(loop_.types[result(instruction)]);
      case Opcode::Move:
      case Opcode::Copy:
        return type(instruction, 0) != SlotType::None;
      case Opcode::Free:
      case Opcode::Jump:
        return true;
      case Opcode::Unary:
      case Opcode::BranchIfNot:
        return are({0}, isNumber);
      case Opcode::Binary:
        return are({0, 1}, isNumber);
      case Opcode::IfElse:
        return are({0, 1, 2}, isNumber);
      case Opcode::Cast:
        return are({0}, isNumber) && castType(instruction) != SlotType::None;
      case Opcode::Rows:
      case Opcode::Columns:
      case Opcode::Length:
        return are({0}, isMatrix);
      case Opcode::ReadCell:
        return are({0}, isMatrix) && are({1, 3}, isInteger) && (instruction.lastUse & 1) == 0;
      case Opcode::WriteCell:
        return are({0}, isMatrix) && are({2, 4}, isInteger) &&
               (type(instruction, 1) == SlotType::Double || isInteger(type(instruction, 1))) &&
               (instruction.lastUse & 1) != 0;
      case Opcode::LoopTest:
        return are({0, 1, 2}, isInteger);
      case Opcode::LoopStep:
        return are({0, 1}, isInteger);
      default:
        return false;
      }
    };
    isRefused_ |= !holds();
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
      isRefused_ |= !holdsArray(slots_[matrix]) || (slot != matrix && holdsArray(slots_[slot]));
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
    switch (types[slot]) {
    case SlotType::Boolean:
      word[0] = value.asBoolean();
      break;
    case SlotType::Integer:
      word[0] = value.asInteger();
      break;
    case SlotType::Double:
      word[0] = std::bit_cast<int64_t>(value.asDouble());
      break;
    case SlotType::Matrix: {
      auto &array = const_cast<Array &>(*value.array());
      word[0] = std::bit_cast<int64_t>(isWritten[slot] ? array.mutableData() : array.data());
      word[1] = array.rows();
      word[2] = array.columns();
      break;
    }
    case SlotType::None:
      break;
    }
  }
  return true;
}

void ScalarLoop::giveBack(const std::vector<int64_t> &words, int32_t next, Value *slots) const {
  const std::vector<Slot> &holding = holders[next - head];
  for (size_t i = 0; i < matrices.size(); ++i)
    if (holding[i] != matrices[i])
      slots[holding[i]] = std::exchange(slots[matrices[i]], Value());
  for (size_t slot = 0; slot < types.size(); ++slot) {
    int64_t word = words[wordsPerSlot * slot];
    if (types[slot] == SlotType::Boolean)
      slots[slot].assign(word != 0);
    else if (types[slot] == SlotType::Integer)
      slots[slot].assign(word);
    else if (types[slot] == SlotType::Double)
      slots[slot].assign(std::bit_cast<double>(word));
  }
}

} // namespace tokamak::runtime
