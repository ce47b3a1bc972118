// The facts under which a plan of a block stays right: what the block's inputs must be for it to be
// taken again. Plain data, so that a plan made ahead of time brings its conditions along.
//
//   if (plan.conditions.holdFor(inputs)) ...                      // take it
//   else log(plan.conditions.mismatch(inputs));                   // "input 2 has size 100x3"
//
// Sizes are exact, or symbols: two symbols stand for different sizes, each in a range in which what
// the plan costs is what was predicted. The layout of an array is exact, and of a CSR array its
// density up to such a range. Where a plan depends on it, the cells of an array or a number are
// looked at.
#ifndef TOKAMAK_RUNTIME_PLANCONDITIONS_H
#define TOKAMAK_RUNTIME_PLANCONDITIONS_H

#include "base/SparseSafety.h"
#include "runtime/Value.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tokamak::runtime {

// Whether all cells are as the fact says.
struct CellCondition {
  CellFact cells;
  bool holds = true;
};
// Of an array, whose cells are all read until one is not allowed, or of a number.
bool allows(const CellFact &cells, const Value &value);

struct PlanConditions {
  // Costs change when sizes do, by about this factor.
  static constexpr int64_t costRange = 16;

  struct Size {
    bool isExact = true;
    int64_t value = 0; // the size, or the number of the symbol
  };
  template <typename Number> struct Range {
    Number low, high; // both included
    bool contains(Number value) const { return value >= low && value <= high; }
  };
  struct Input {
    enum class Kind : uint8_t { Free, Bound, Integer, Array } kind = Kind::Free;
    Value bound;                             // Bound: the value
    std::vector<Size> sizes;                 // Array: its dimensions; Integer: its value
    std::optional<Range<double>> csrDensity; // Array: it is CSR, with such a share of entries
    std::optional<CellCondition> cells = {}; // Array, and Free: a number
  };

  std::vector<Input> inputs;
  std::vector<Range<int64_t>> symbols;
  std::vector<int64_t> exactValues; // no symbol may take one of these,
  int64_t narrowLimit = 0;          // nor a value up to this

  bool holdFor(std::span<const Value> inputs) const;
  // Why they don't hold, for people: "input 2 has size 100x3".
  std::string mismatch(std::span<const Value> inputs) const;
};

// Equal type and value; NaN equals itself.
bool identical(const Value &a, const Value &b);

} // namespace tokamak::runtime
#endif
