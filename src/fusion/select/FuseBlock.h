// Chooses which operations of a block become one kernel, and rewrites the block accordingly.
//
//   std::string text;
//   fusion::FusionOptions options{fusion::Selector::Cost, &machine, &text};
//   if (failed(fusion::fuseBlock(function, factsOf, options))) ...
//
// Before:  %1 = tok.binary mul %X, %Y
//          %2 = tok.aggregate sum full %1
// After:   %2 = plan.operator cell(%X, %Y) sizes [..] : (..) -> f64 {
//            ... the two operations ...
//          }
#ifndef TOKAMAK_FUSION_SELECT_FUSEBLOCK_H
#define TOKAMAK_FUSION_SELECT_FUSEBLOCK_H

#include "cost/MachineModel.h"
#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tokamak::fusion {

enum class Selector : uint8_t {
  None, // every operation alone
  All,  // everything that may be fused is, shared results are computed again in each consumer
  NoRedundancy, // nothing is computed twice: results with several consumers are stored
  Cost,         // the cheapest plan under the machine model
};
llvm::StringRef name(Selector selector); // "none", "all", "no-redundancy", "cost"
std::optional<Selector> findSelector(llvm::StringRef name);

struct FusionOptions {
  Selector selector = Selector::Cost;
  const cost::MachineModel *machine = nullptr; // must be set
  std::string *explanation = nullptr;          // text is appended; null: none is made
};

// Rewrites a straight-line block function in place: elementwise operations, aggregates and fitting
// products on arrays become plan.operators. `facts` gives the sizes of every value before the
// rewrite. What stays `tok`: natives, scalar operations, and elementwise operations whose sizes do
// not agree (they raise when executed). Fails, after an error at the function, where it is not one
// straight-line block.
llvm::LogicalResult fuseBlock(mlir::func::FuncOp block,
                              llvm::function_ref<const tok::Facts &(mlir::Value)> facts,
                              const FusionOptions &options);

} // namespace tokamak::fusion
#endif
