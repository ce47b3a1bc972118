// The operators whose kernels are built into Tokamak: each operator on cells, each aggregate and the usual
// products, alone, for the shapes and types of operands that programs combine. `--fusion=none` runs most
// programs with nothing else.
//
//   for (const OperatorBlock &block : singleOperators())
//     session.specialize(blocks, add(block.text), block.conditions, pipeline::UnknownSizes::Reject, pipeline::Tier::Compiled);
#ifndef TOKAMAK_TOOLS_BUILTINKERNELS_SINGLEOPERATORS_H
#define TOKAMAK_TOOLS_BUILTINKERNELS_SINGLEOPERATORS_H

#include "pipeline/CompileSession.h"
#include "runtime/image/PlanConditions.h"

#include <string>
#include <vector>

namespace tokamak {

// A function of operations that don't depend on each other, in the text of the tok dialect.
struct OperatorBlock {
  std::string text;
  runtime::PlanConditions conditions;
};

std::vector<OperatorBlock> singleOperators();

} // namespace tokamak
#endif
