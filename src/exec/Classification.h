// What a plan made for a block's inputs may rely on, and under which conditions it may be taken
// again.
//
//   Classification first = classify(block, inputs, varying, policy);
//   session.specialize(blocks, number, first.facts, ...);
//   if (first.conditions.holdFor(otherInputs)) ...                  // the same plan serves
//
// Small sizes (0, 1, narrow ones) and sizes that the block names as literals are bound exactly;
// others are symbols, equal where the sizes are equal. The layout of an array is bound, and of a
// CSR array the order of magnitude of its density. Cells are looked at where a session wants it.
#ifndef TOKAMAK_EXEC_CLASSIFICATION_H
#define TOKAMAK_EXEC_CLASSIFICATION_H

#include "pipeline/CompileSession.h"
#include "runtime/PlanConditions.h"

#include <map>
#include <span>

namespace tokamak::exec {

struct ClassificationPolicy {
  bool exactSizes = false; // bind every size exactly
  // Sizes up to this are bound exactly: kernels keep rows of so many columns in registers.
  int64_t narrowLimit = 128;
  // Ranges of sizes and densities are fixed powers, not those around the inputs: which plan serves
  // does not depend on which inputs come first.
  bool fixedRanges = false;
};

// By input: what is to be known of its cells.
using WantedCells = std::map<unsigned, CellFact>;

struct Classification {
  runtime::PlanConditions conditions;
  llvm::SmallVector<pipeline::InputFacts> facts;
  std::string description; // "569x30, 569x1, 0.001"

  // Equal for classifications with the same conditions (of one block).
  std::string key() const;
};

// `wanted`: as sessions asked. `varying[i]`: scalar i has been seen to change, it is never bound;
// shorter: no others have.
Classification classify(const pipeline::FrozenBlock &block, std::span<const runtime::Value> inputs,
                        const std::vector<bool> &varying, const ClassificationPolicy &policy,
                        const WantedCells &wanted = {});

} // namespace tokamak::exec
#endif
