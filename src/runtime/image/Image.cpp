#include "runtime/image/Image.h"

#include "base/PlaceText.h"

#include <fmt/format.h>
#include <ostream>

namespace tokamak::runtime {
namespace {

std::string slotList(const ImageFunction &function, int32_t begin, int32_t count) {
  std::string text;
  for (int32_t i = 0; i < count; ++i)
    text += fmt::format("{}s{}", i ? ", " : "", function.slots[begin + i]);
  return text;
}

std::string constantText(const Value &value) {
  if (value.isString())
    return fmt::format("\"{}\"", value.text());
  if (value.isUndefined())
    return fmt::format("undefined '{}'", value.undefined().variable);
  return value.isScalar() ? value.asText() : std::string(value.describe());
}

constexpr std::string_view castNames[] = {"boolean", "integer", "double", "string",
                                          "matrix",  "scalar",  "list",   "frame"};

std::string operationText(const Image &image, const ImageFunction &function,
                          const Instruction &instruction) {
  std::string operands = slotList(function, instruction.operandBegin, instruction.operandCount);
  int32_t index = instruction.index;
  switch (instruction.opcode) {
  case Opcode::Constant:
    return "constant " + constantText(image.constants[index]);
  case Opcode::Move:
    return "move " + operands;
  case Opcode::Copy:
    return "copy " + operands;
  case Opcode::Free:
    return "free " + operands;
  case Opcode::Unary:
    return fmt::format("{} {}", mnemonic(static_cast<UnaryOperator>(index)), operands);
  case Opcode::Binary:
    return fmt::format("{} {}", mnemonic(static_cast<BinaryOperator>(index)), operands);
  case Opcode::Concat:
    return "concat " + operands;
  case Opcode::IfElse:
    return "ifelse " + operands;
  case Opcode::Cast:
    return fmt::format("cast {} to {}", operands, castNames[index]);
  case Opcode::Rows:
    return "rows " + operands;
  case Opcode::Columns:
    return "columns " + operands;
  case Opcode::Length:
    return "length " + operands;
  case Opcode::Size:
    return fmt::format("size {} of {}", index + 1, operands);
  case Opcode::Native:
    return fmt::format("native {}({})", image.natives[index]->row.name, operands);
  case Opcode::ReadCell:
    return "read-cell " + operands;
  case Opcode::WriteCell:
    return "write-cell " + operands;
  case Opcode::Kernel:
    return fmt::format("kernel {}({})", image.kernels[index].name, operands);
  case Opcode::Block:
    return fmt::format("block {} ({})", index, operands);
  case Opcode::Call:
    return fmt::format("call {}({})", image.functions[index].name, operands);
  case Opcode::ParallelLoop:
    return fmt::format("parallel loop {}({})", image.functions[image.loops[index].body].name,
                       operands);
  case Opcode::Jump:
    return fmt::format("jump -> {}", instruction.target);
  case Opcode::BranchIfNot:
    return fmt::format("branch-if-not {} -> {}", operands, instruction.target);
  case Opcode::LoopTest:
    return fmt::format("loop-test {} -> {}", operands, instruction.target);
  case Opcode::LoopStep:
    return fmt::format("loop-step {} -> {}", operands, instruction.target);
  case Opcode::Return:
    return operands.empty() ? "return" : "return " + operands;
  }
  return {};
}

std::string instructionText(const Image &image, const ImageFunction &function,
                            const Instruction &instruction) {
  std::string text = operationText(image, function, instruction);
  if (instruction.resultCount > 0)
    text = slotList(function, instruction.resultBegin, instruction.resultCount) + " = " + text;
  if (instruction.place > 0 && image.places[instruction.place].isKnown())
    text = fmt::format("{:<40} @ {}", text, placeText(image.places[instruction.place]));
  return text;
}

} // namespace

void print(const Image &image, std::ostream &out) {
  for (const ImageFunction &function : image.functions) {
    out << fmt::format("function {}: {} slots\n", function.name, function.slotCount);
    for (size_t i = 0; i < function.instructions.size(); ++i)
      out << fmt::format("  {:<3} {}\n", i,
                         instructionText(image, function, function.instructions[i]));
  }
}

} // namespace tokamak::runtime
