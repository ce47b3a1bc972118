// The natives stop, assert, time and eval, and two that the compiler inserts.
#include "runtime/natives/LateFunctions.h"
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

namespace {

std::vector<Value> callByName(ExecutionContext &context, std::span<Value> operands, bool asList) {
  if (!context.functions)
    throw Error(fmt::format("eval: \"{}\" can't be called: this program runs without the compiler",
                            operands[0].text()));
  NamedCall call{operands[0].text(), operands[1].text(), {}, {}, asList};
  // "a,,b,": of arguments without a name, the empty text.
  std::string_view names = operands[2].text();
  for (Value &argument : operands.subspan(3)) {
    size_t comma = names.find(',');
    call.arguments.push_back(std::move(argument));
    call.names.emplace_back(names.substr(0, comma));
    names.remove_prefix(comma + 1);
  }
  return context.functions->call(std::move(call), context);
}

} // namespace

// eval(function, file of the call, names, arguments...): the first result as a matrix.
void runEval(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  results[0] = std::move(callByName(context, operands, /*asList=*/false).front());
}

// Likewise, with all results as a list.
void runEvalList(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  results[0] = std::move(callByName(context, operands, /*asList=*/true).front());
}

// exists of a variable that is assigned on some paths only.
void runIsAssigned(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  results[0] = !operands[0].isUndefined();
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
