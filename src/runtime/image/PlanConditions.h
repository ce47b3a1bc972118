// The conditions that a block's inputs must meet for a plan to be valid for them. Plain data, so
// that a plan made ahead of time can be stored with its conditions.
//
//   if (plan.conditions.holdFor(inputs)) ...                      // use the plan
//   else log(plan.conditions.mismatch(inputs));                   // "input 2 has size 100x3"
//
// Sizes are constants or symbols. Different symbols stand for different sizes, each within its range,
// in which the predicted costs hold; in plans for sizes that keep changing they may be equal by chance.
// The layout of an array is exact; the density of a sparse array must lie in such a range. If a plan
// depends on their values, the cells of an array or a number are checked, too.
#ifndef TOKAMAK_RUNTIME_IMAGE_PLANCONDITIONS_H
#define TOKAMAK_RUNTIME_IMAGE_PLANCONDITIONS_H

#include "base/Size.h"
#include "base/SparseSafety.h"
#include "runtime/values/Value.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokamak::runtime {

// Requires that allows(cells, value) == holds.
struct CellCondition {
  CellFact cells;
  bool holds = true;
};
// Whether the fact allows a number, or all cells of an array (read up to the first one that it does
// not allow).
bool allows(const CellFact &cells, const Value &value);

struct PlanConditions {
  // The factor by which a size may change before the plan's costs count as changed.
  static constexpr int64_t costRange = 16;

  // Of a sparse array: the share of its cells that are entries. Both bounds are included; costs are
  // predicted for the estimate.
  struct Density {
    double low, high, estimate;
    bool contains(double value) const { return value >= low && value <= high; }
  };
  struct Input {
    enum class Kind : uint8_t { Free, Bound, Integer, Array } kind = Kind::Free;
    Value bound;                             // Bound: the value
    std::vector<Size> sizes;                 // Array: its dimensions; Integer: its value
    std::optional<Density> sparseDensity;    // Array: it is sparse
    std::optional<CellCondition> cells = {}; // Array, and Free: a number
    bool isRepeated = false;                 // Array: one number, stored once
  };

  std::vector<Input> inputs;
  int64_t symbolCount = 0;          // the sizes' symbols are 0 to symbolCount - 1
  std::vector<int64_t> exactValues; // sizes that no symbol may have,
  int64_t narrowLimit = 0;          // nor any size up to this,
  bool mayCoincide = false;         // nor that of another symbol, if this is false
  // No condition: that code around the block touches (SurroundingBytes.h), for which costs are predicted; 0: not known.
  int64_t surroundingBytes = 0;

  // For which inputs they hold: "s0:0..281474976710656 x 100, any".
  std::string text() const;
  bool holdFor(std::span<const Value> inputs) const;
  // The reason why they don't hold, for messages: "input 2 has size 100x3".
  std::string mismatch(std::span<const Value> inputs) const;
};

// Equal type and value; NaN equals itself.
bool identical(const Value &a, const Value &b);

} // namespace tokamak::runtime
#endif
