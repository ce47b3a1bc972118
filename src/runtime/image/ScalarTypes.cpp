#include "runtime/image/ScalarTypes.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace tokamak::runtime {
namespace {

SlotType resultType(UnaryOperator op, SlotType operand) {
  if (!isNumber(operand))
    return SlotType::None;
  if (operand == SlotType::Integer && resultOf(op) == CellResult::Number)
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

SlotType castType(CastTarget target, SlotType operand) {
  switch (target) {
  case CastTarget::Boolean:
    return SlotType::Boolean;
  case CastTarget::Integer:
    return SlotType::Integer;
  case CastTarget::Double:
    return SlotType::Double;
  case CastTarget::Scalar:
    return operand;
  default:
    return SlotType::None;
  }
}

} // namespace

SlotType typeOf(const Value &value) {
  if (value.isBoolean())
    return SlotType::Boolean;
  if (value.isInteger())
    return SlotType::Integer;
  if (value.isDouble())
    return SlotType::Double;
  return value.isArray() && hasPlainCells(*value.array()) ? SlotType::Matrix : SlotType::None;
}

int64_t wordOf(const Value &value) {
  if (value.isDouble())
    return std::bit_cast<int64_t>(value.asDouble());
  return value.isNumber() ? value.asInteger() : 0;
}

Value valueOfWord(SlotType type, int64_t word) {
  if (type == SlotType::Boolean)
    return Value(word != 0);
  return type == SlotType::Integer ? Value(word) : Value(std::bit_cast<double>(word));
}

SlotType resultType(const Image &image, const ImageFunction &function,
                    const Instruction &instruction, const std::vector<SlotType> &types) {
  auto type = [&](int32_t i) { return types[function.slots[instruction.operandBegin + i]]; };
  switch (instruction.opcode) {
  case Opcode::Constant:
    return typeOf(image.constants[instruction.index]);
  case Opcode::Move:
  case Opcode::Copy:
  case Opcode::WriteCell:
    return type(0);
  case Opcode::Unary:
    return resultType(static_cast<UnaryOperator>(instruction.index), type(0));
  case Opcode::Binary:
    return resultType(static_cast<BinaryOperator>(instruction.index), type(0), type(1));
  case Opcode::IfElse:
    return type(1) == SlotType::None ? type(2) : type(1);
  case Opcode::Cast:
    return castType(static_cast<CastTarget>(instruction.index), type(0));
  case Opcode::Rows:
  case Opcode::Columns:
  case Opcode::Length:
  case Opcode::LoopStep:
    return SlotType::Integer;
  case Opcode::ReadCell:
    return SlotType::Double;
  default:
    return SlotType::None;
  }
}

bool isCompilable(const ImageFunction &function, const Instruction &instruction,
                  const std::vector<SlotType> &types) {
  auto type = [&](int32_t i) { return types[function.slots[instruction.operandBegin + i]]; };
  auto are = [&](std::initializer_list<int32_t> operands, auto suits) {
    return std::all_of(operands.begin(), operands.end(), [&](int32_t i) { return suits(type(i)); });
  };
  auto isInteger = [](SlotType type) { return type == SlotType::Integer; };
  auto isMatrix = [](SlotType type) { return type == SlotType::Matrix; };
  switch (instruction.opcode) {
  case Opcode::Constant:
    return isNumber(types[function.slots[instruction.resultBegin]]);
  case Opcode::Move:
  case Opcode::Copy:
    return type(0) != SlotType::None;
  case Opcode::Free:
  case Opcode::Jump:
    return true;
  case Opcode::Unary:
  case Opcode::BranchIfNot:
    return are({0}, isNumber);
  case Opcode::Binary:
    return are({0, 1}, isNumber);
  case Opcode::IfElse:
    return are({0, 1, 2}, isNumber) && type(1) == type(2);
  case Opcode::Cast:
    return are({0}, isNumber) &&
           castType(static_cast<CastTarget>(instruction.index), type(0)) != SlotType::None;
  case Opcode::Rows:
  case Opcode::Columns:
  case Opcode::Length:
    return are({0}, isMatrix);
  case Opcode::ReadCell:
    return are({0}, isMatrix) && are({1, 3}, isInteger) && (instruction.lastUse & 1) == 0;
  case Opcode::WriteCell:
    return are({0}, isMatrix) && are({2, 4}, isInteger) &&
           (type(1) == SlotType::Double || isInteger(type(1))) && (instruction.lastUse & 1) != 0;
  case Opcode::LoopTest:
    return are({0, 1, 2}, isInteger);
  case Opcode::LoopStep:
    return are({0, 1}, isInteger);
  default:
    return false;
  }
}

} // namespace tokamak::runtime
