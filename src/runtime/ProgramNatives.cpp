// Failure and the clock.
#include "runtime/NativeOperands.h"
#include "runtime/NativeTables.h"

#include <chrono>

namespace tokamak::runtime {
namespace {

void stop(ExecutionContext &, std::span<Value> operands, std::span<Value>) {
  throw Error(operands[0].asText(), ErrorKind::Stop);
}

void assertNative(ExecutionContext &, std::span<Value> operands, std::span<Value>) {
  if (operands[0].isString() || operands[0].isList())
    throw Error(fmt::format("assert: expected a boolean, got {}", operands[0].describe()));
  if (!operands[0].asBoolean())
    throw Error("assertion failed");
}

void timeNative(ExecutionContext &, std::span<Value>, std::span<Value> results) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  results[0] = int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

constexpr bool hasEffect = true;
constexpr Native natives[] = {
    {"assert", assertNative, hasEffect}, {"stop", stop, hasEffect}, {"time", timeNative}};

} // namespace

std::span<const Native> programNatives() { return natives; }

} // namespace tokamak::runtime
