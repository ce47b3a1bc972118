// Chooses which operations of a block become one kernel, and rewrites the block accordingly.
//
//   std::string text;
//   fusion::FusionOptions options{fusion::Selector::Cost, &machine, &text};
//   if (failed(fusion::fuseBlock(function, factsOf, options))) ...
//
// Two operations, and the operator that replaces them, in MLIR:
//
//   %1 = tok.binary mul %X, %Y
//   %2 = tok.aggregate sum full %1
//
//   %2 = plan.operator (%x = %X ["s0", "s1"], %y = %Y ["s0", "s1"]) -> f64 {
//     ... reads of %x and %y, their product, the reduction, the write of the result ...
//   }
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
  None,         // each operation is an operator of its own
  Patterns,     // fuses what SystemML's hand-written operators covered (Patterns.h)
  All,          // fuses as much as is legal; shared results are recomputed in each consumer
  NoRedundancy, // nothing is computed twice: results with several consumers are stored
  Cost,         // the cheapest plan under the machine model
};
inline constexpr Selector allSelectors[] = {Selector::None, Selector::Patterns, Selector::All,
                                            Selector::NoRedundancy, Selector::Cost};
llvm::StringRef name(Selector selector); // "none", "patterns", "all", "no-redundancy", "cost"
std::optional<Selector> findSelector(llvm::StringRef name);

struct FusionOptions {
  Selector selector = Selector::Cost;
  const cost::MachineModel *machine = nullptr; // must be set
  std::string *explanation = nullptr;          // the explanation is appended here; may be null
  std::string *facts = nullptr;                // receives FusionFacts.h; may be null
};

// Rewrites a straight-line function in place: elementwise operations, aggregates and suitable
// products on arrays become plan.operators. `facts` gives the sizes of every value before the
// rewrite. Natives, scalar operations and elementwise operations with mismatched sizes (which raise
// an error when executed) remain `tok` operations. Fails, with an error at the function, if it is
// not one straight-line block.
llvm::LogicalResult fuseBlock(mlir::func::FuncOp block,
                              llvm::function_ref<const tok::Facts &(mlir::Value)> facts,
                              const FusionOptions &options);

} // namespace tokamak::fusion
#endif
