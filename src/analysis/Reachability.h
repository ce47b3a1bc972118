// Whether control reaches the operations of a program. An operation that is proved wrong is an
// error at compile time only if it is certainly executed.
//
//   FactsAnalysis facts(module);
//   Reachability reachability(module, facts);
//   reachability.of(op) == Reach::Certain     // every run of the program executes it
//
// Certain are: the operations of a public function up to the first that may end the program
// (`stop`, an assertion), including those in branches with a known condition, in loops that are
// known to run, and in functions that are called there. The possible failure of other operations is
// not considered.
#ifndef TOKAMAK_ANALYSIS_REACHABILITY_H
#define TOKAMAK_ANALYSIS_REACHABILITY_H

#include "analysis/FactsAnalysis.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

#include <cstdint>
#include <optional>

namespace tokamak::analysis {

enum class Reach : uint8_t { Never, Maybe, Certain };

class Reachability {
public:
  Reachability(mlir::ModuleOp module, FactsAnalysis &facts);

  Reach of(mlir::Operation *op) const { return reached_.lookup(op); }

private:
  // Records the reach of the operations of a block; `reach` is that of its beginning.
  // Returns whether control that enters the block reaches its end: always (Certain),
  // sometimes (Maybe) or never.
  Reach enter(mlir::Block &block, Reach reach);
  Reach passage(mlir::Operation &op, Reach reach);
  Reach enterBranches(tok::IfOp op, Reach reach);
  Reach enterWhile(tok::WhileOp op, Reach reach);
  template <typename Loop> Reach enterLoop(Loop loop, Reach reach);
  void findEndingFunctions(mlir::ModuleOp module);
  std::optional<bool> constantCondition(mlir::Value condition);

  FactsAnalysis &facts_;
  mlir::SymbolTable functions_;
  llvm::DenseMap<mlir::Operation *, Reach> reached_;
  // Functions that may end the program, themselves or by a call.
  llvm::DenseSet<mlir::Operation *> ending_;
  // Worklist of called functions that were not entered yet, with their reach.
  llvm::SmallVector<std::pair<mlir::Operation *, Reach>> called_;
};

} // namespace tokamak::analysis
#endif
