// The facts under which a plan stays right: what a block's inputs must be for the plan to be taken
// again.
//
//   Classification first = classify(block, inputs, scalars, policy);   // facts for the session,
//   conditions for later if (first.conditions.holdFor(otherInputs)) ...                      // the
//   same plan serves
//
// Small sizes (0, 1, narrow ones) and sizes that the block names as literals are bound exactly;
// others are symbols, equal where the sizes are equal, each with a range in which the plan's costs
// are representative. The layout of an array is bound, and of a CSR array the order of magnitude of
// its density.
#ifndef TOKAMAK_EXEC_PLANCONDITIONS_H
#define TOKAMAK_EXEC_PLANCONDITIONS_H

#include "pipeline/CompileSession.h"
#include "runtime/Value.h"

#include <span>

namespace tokamak::exec {

struct ClassificationPolicy {
  bool exactSizes = false;  // bind every size exactly
  int64_t narrowLimit = 32; // sizes up to this are bound exactly
};

class PlanConditions {
public:
  // Costs change when sizes do, by about this factor.
  static constexpr int64_t costRange = 16;

  bool holdFor(std::span<const runtime::Value> inputs) const;
  // Why they don't hold, for people: "rows of input 2: 100 instead of 569".
  std::string mismatch(std::span<const runtime::Value> inputs) const;

private:
  friend struct Classification classify(const pipeline::FrozenBlock &,
                                        std::span<const runtime::Value>, const std::vector<bool> &,
                                        const ClassificationPolicy &);
  struct Size {
    bool exact = true;
    int64_t value = 0; // the size, or the number of the symbol
  };
  struct Input {
    enum class Kind : uint8_t { Free, Bound, Integer, Array } kind = Kind::Free;
    runtime::Value bound;             // Bound
    llvm::SmallVector<Size, 2> sizes; // Array: its dimensions; Integer: its value
    std::optional<double> csrDensity; // Array: it is CSR, with about this share of entries
  };
  // Calls `report(input, description)` at the first mismatch and returns false.
  template <typename Report>
  bool check(std::span<const runtime::Value> inputs, Report report) const;

  std::vector<Input> inputs_;
  std::vector<int64_t> symbolEstimates_;
  std::vector<int64_t> exactValues_; // no symbol may take one of these
  int64_t narrowLimit_ = 0;
};

struct Classification {
  PlanConditions conditions;
  llvm::SmallVector<pipeline::InputFacts> facts;
  std::string description; // "569x30, 569x1, 0.001"
};

// `varying[i]`: scalar i has been seen to change, it is never bound.
Classification classify(const pipeline::FrozenBlock &block, std::span<const runtime::Value> inputs,
                        const std::vector<bool> &varying, const ClassificationPolicy &policy);

// Equal type and value; NaN equals itself.
bool identical(const runtime::Value &a, const runtime::Value &b);

} // namespace tokamak::exec
#endif
