// The natives print and toString.
#include "base/FileReason.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/TextFormat.h"

#include <cerrno>
#include <ostream>

namespace tokamak::runtime {
void runPrint(ExecutionContext &context, std::span<Value> operands, std::span<Value>) {
  std::string text;
  if (operands.size() > 1)
    text = formatText(textOperand(operands[0], "print", "the format"), operands.subspan(1));
  else if (!operands.empty())
    text = textOf(operands[0], TextOptions());
  text += '\n';
  if (!context.output)
    return;
  errno = 0;
  context.output->write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!*context.output)
    throw Error(fmt::format("print: the output can't be written{}",
                            errno != 0 ? ": " + fileReason(errno) : ""));
}

void runToString(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  TextOptions options;
  auto setSize = [&](int64_t &option, const Value &operand, std::string_view what) {
    // Numbers beyond the largest size mean all.
    if (!operand.isNothing())
      option = checkedSize(std::min(operand.asInteger(), largestSize), "toString", what);
  };
  setSize(options.rows, operands[1], "rows");
  setSize(options.columns, operands[2], "columns");
  setSize(options.decimals, operands[3], "decimals");
  constexpr int64_t mostDecimals = 1000;
  if (options.decimals > mostDecimals)
    throw Error(
        fmt::format("toString: at most {} decimals, got {}", mostDecimals, options.decimals));
  if (!operands[4].isNothing())
    options.sparse = operands[4].asBoolean();
  if (!operands[5].isNothing())
    options.separator = operands[5].asText();
  if (!operands[6].isNothing())
    options.lineSeparator = operands[6].asText();
  results[0] = textOf(operands[0], options);
}

} // namespace tokamak::runtime
