// The functions of the natives: operations that the runtime implements in C++ instead of generated
// code. What is known of them is in base/Natives.def; program images refer to them by name.
//
//   const Native *native = findNative("seq");
//   Value result;
//   native->function(context, {operands, 3}, {&result, 1});
#ifndef TOKAMAK_RUNTIME_NATIVES_NATIVE_H
#define TOKAMAK_RUNTIME_NATIVES_NATIVE_H

#include "base/Natives.h"
#include "base/SparseSafety.h"
#include "runtime/values/Value.h"

#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

namespace tokamak::runtime {

class LateFunctions; // LateFunctions.h
class Profile;       // Profile.h
class Scheduler;     // TileScheduler.h

// The position of the next draw without a seed. Each iteration of a parfor draws from its own
// stream, so that its numbers depend neither on threads nor on other iterations.
struct DrawPosition {
  uint64_t stream = 0;
  uint64_t count = 0; // draws from the stream so far; a parfor counts as one
  // The start position of an iteration of a parfor that begins at this position.
  DrawPosition ofIteration(uint64_t iteration) const;
};

// Which numbers rand and sample draw for a seed: ours, which any thread can draw anywhere, or SystemDS's.
enum class RandomNumbers : uint8_t { Own, Systemds };

// The state that natives may use besides their operands.
struct ExecutionContext {
  std::ostream *output = nullptr; // the script's standard output
  Scheduler *scheduler = nullptr;
  Profile *profile = nullptr;         // null: no measurements
  LateFunctions *functions = nullptr; // null: functions can't be called by name
  int64_t seed = -1;                  // --seed; -1: every draw takes a fresh seed
  DrawPosition draws;
  RandomNumbers randomNumbers = RandomNumbers::Own;
  // For --stats: the bytes moved by a native that does not read all of its operands or write all of
  // its results.
  std::optional<int64_t> touchedBytes = {};
  ZeroRule zeroRule = ZeroRule::Sparse;
  // The element type of the first result. Natives may return doubles, which are then converted;
  // those that create arrays from scalars use this type directly if they can, so that no second
  // copy is needed.
  ElementType resultType = ElementType::F64;
};

// Results may have any layout: natives with possibly sparse results call Array::inBestLayout last.
//
// Operands may be consumed: if an operand is the sole owner of its array, the array may be updated
// in place and moved to a result. `results` has its final size. Throws Error.
using NativeFunction = void(ExecutionContext &context, std::span<Value> operands,
                            std::span<Value> results);

// Programs compiled ahead of time refer to those that they call by these symbols, so that a linker takes no others.
#define TOKAMAK_NATIVE(Name, ...) NativeFunction run##Name __asm__("tokamak_native_" #Name);
#include "base/Natives.def"

struct Native {
  const NativeRow &row;
  NativeFunction *function;
};

// Null if there is no such native.
const Native *findNative(std::string_view name);

} // namespace tokamak::runtime
#endif
