// Derives from a block's actual inputs, or from what inputs are expected to be, the facts on which its plan may rely,
// which are the conditions under which the plan may be reused.
//
//   Classification first = classify(block, inputs, varying, policy);
//   session.specialize(blocks, number, first.conditions, pipeline::UnknownSizes::Split,
//                      pipeline::Tier::Compiled);
//   if (first.conditions.holdFor(otherInputs)) ...                  // the same plan serves
//
// Small sizes (0, 1, narrow ones) and sizes that the block names as literals are bound
// exactly. Other sizes become symbols, the same symbol for equal sizes. Where sizes keep changing
// (SizeHistory.h), those that do are symbols unless they are 0 or 1, the same symbol for sizes that have
// been equal each time. The layout of an array is bound, and the order of magnitude of a sparse array's
// density. Cells are inspected only if a session has asked for it.
#ifndef TOKAMAK_EXEC_CLASSIFICATION_H
#define TOKAMAK_EXEC_CLASSIFICATION_H

#include "exec/SizeHistory.h"
#include "ir/plan/IterationSpace.h"
#include "pipeline/CompileSession.h"
#include "runtime/image/PlanConditions.h"

#include <map>
#include <span>

namespace tokamak::exec {

struct ClassificationPolicy {
  bool exactSizes = false; // bind every size exactly
  // Sizes up to this are bound exactly.
  int64_t narrowLimit = plan::mostColumnsInRegisters;
  // Ranges of sizes and densities lie between fixed powers instead of around the inputs, so that
  // the choice of a plan does not depend on which inputs came first.
  bool fixedRanges = false;
  // Which sizes keep changing, of inputs that were added to it last; null if all are bound as above.
  const SizeHistory *history = nullptr;
  // Those that have been 0 or 1 may be so again; else a size that is, is bound, and others are neither:
  // what a program means may depend on it.
  bool smallSizesChange = false;
  // Integers that keep changing say sizes, too: a plan may rely on them being equal to others.
  bool integersAreSizes = false;
  // Sizes may be as large as sizes can be: no other plan is made later.
  bool anySize = false;
  int64_t surroundingBytes = 0; // as in PlanConditions
};

// An input, actual or expected.
struct InputFacts {
  enum class Kind : uint8_t { Array, Scalar, Other } kind = Kind::Other;
  std::vector<int64_t> sizes = {};          // Array
  bool isRepeated = false;                  // Array
  std::optional<double> density = {};       // Array: it is sparse
  runtime::Value scalar = {};               // Scalar
  std::string_view description = "a value"; // Other

  static InputFacts of(const runtime::Value &value);
};

// By number of the input: the fact that all of its cells are to be checked for.
using WantedCells = std::map<unsigned, CellFact>;

struct Classification {
  runtime::PlanConditions conditions;
  std::string description; // "569x30, 569x1, 0.001"

  // Equal for classifications with the same conditions (of one block).
  std::string key() const;
};

// `varying[i]`: scalar i has been seen to change and is never bound; missing entries are false.
// `wanted`: the cells that a session asked to inspect.
Classification classify(const pipeline::FrozenBlock &block, std::span<const runtime::Value> inputs,
                        const std::vector<bool> &varying, const ClassificationPolicy &policy,
                        const WantedCells &wanted = {});
// The same where the inputs' cells are not known.
Classification classify(const pipeline::FrozenBlock &block, std::span<const InputFacts> inputs,
                        const std::vector<bool> &varying, const ClassificationPolicy &policy);

} // namespace tokamak::exec
#endif
