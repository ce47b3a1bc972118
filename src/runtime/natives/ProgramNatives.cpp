// The natives stop, assert and time, and two that the compiler inserts.
#include "runtime/natives/NativeOperands.h"

#include <chrono>

namespace tokamak::runtime {
void runStop(ExecutionContext &, std::span<Value> operands, std::span<Value>) {
  throw Error(operands[0].asText(), ErrorKind::Stop);
}

// Stands for an operation that the compiler proved wrong: it fails only when it is reached.
void runRaise(ExecutionContext &, std::span<Value> operands, std::span<Value>) {
  throw Error(operands[0].text());
}

void runAssert(ExecutionContext &, std::span<Value> operands, std::span<Value>) {
  if (operands[0].isString() || operands[0].isList())
    throw Error(fmt::format("assert: expected a boolean, got {}", operands[0].describe()));
  if (!operands[0].asBoolean())
    throw Error("assertion failed");
}

void runTime(ExecutionContext &, std::span<Value>, std::span<Value> results) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  results[0] = int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

// Converts an operand whose type is known only at run time to a double, as the scalar operand of a
// kernel. The second operand is the operator's spelling for the message, or empty.
void runNumberBesideMatrix(ExecutionContext &, std::span<Value> operands,
                           std::span<Value> results) {
  const std::string &name = operands[1].text();
  if (!name.empty() && !operands[0].isNumber())
    throw Error(fmt::format("{}: a matrix goes with a matrix or a number, not with {}", name,
                            operands[0].describe()));
  results[0] = operands[0].asDouble();
}

} // namespace tokamak::runtime
