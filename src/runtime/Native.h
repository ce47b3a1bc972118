// Natives: operations of the runtime that are not generated. One table maps names to functions; the
// program image refers to natives by name.
//
//   const Native *native = findNative("seq");
//   Value result;
//   native->function(context, {operands, 3}, {&result, 1});
#ifndef TOKAMAK_RUNTIME_NATIVE_H
#define TOKAMAK_RUNTIME_NATIVE_H

#include "base/SparseSafety.h"
#include "runtime/Value.h"

#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

class Profile;   // Profile.h
class Scheduler; // TileScheduler.h

// Which unseeded draw comes next. Each iteration of a parfor draws from a stream of its own, so
// that what it draws depends neither on threads nor on other iterations.
struct DrawPosition {
  uint64_t stream = 0;
  uint64_t count = 0; // draws from it so far; a parfor counts as one
  // Where iteration number `iteration` of a parfor that is reached here begins.
  DrawPosition ofIteration(uint64_t iteration) const;
};

// What natives may touch beside their operands.
struct ExecutionContext {
  std::ostream *output = nullptr; // the script's standard output
  Scheduler *scheduler = nullptr;
  Profile *profile = nullptr; // null: nothing is measured
  int64_t seed = -1;          // --seed; -1: every draw takes a fresh seed
  DrawPosition draws;
  // For --stats: a native that does not read all of its operands or write all of its results says
  // how many bytes it moved.
  std::optional<int64_t> touchedBytes = {};
  ZeroRule zeroRule = ZeroRule::Sparse;
  // Of the cells of the first result. Natives may give doubles, which are converted; those that
  // make arrays of nothing give this, so that there is only one of them at a time.
  ElementType resultType = ElementType::F64;
};

// Results may have any layout: what may be sparse ends with Array::inBestLayout.
//
// Operands may be consumed: an operand that is the sole owner of its array may be updated in place
// and moved to a result. Results are pre-sized. Throws Error.
using NativeFunction = void (*)(ExecutionContext &context, std::span<Value> operands,
                                std::span<Value> results);

// The arrays a native takes; the executor converts others first.
enum class Operands : uint8_t {
  DenseDoubles, // dense, f64
  Dense,        // dense, all of them f64 or all of them f32; the result has the same element type
  Doubles,      // any layout, f64
  AnyLayout,    // as Dense; where one of them is CSR, as Doubles
  Any,          // any layout and element type: it passes arrays on, or looks at their types
};

struct Native {
  std::string_view name; // the tok mnemonic, or the name given to tok.native
  NativeFunction function;
  bool hasEffect = false; // visible outside the program: print, write, stop, assert
  Operands operands = Operands::DenseDoubles;
};

// Null if there is no such native.
const Native *findNative(std::string_view name);
const std::vector<Native> &allNatives();

} // namespace tokamak::runtime
#endif
