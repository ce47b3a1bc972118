// Error propagation through any operation except control flow: error bounds of results from those
// of the operands.
//
//   OperationRules rules(model, context);
//   CellErrors errors = rules.errorsOf(operation, operands, result);     // throws Undecided
#ifndef TOKAMAK_ORACLE_OPERATIONRULES_H
#define TOKAMAK_ORACLE_OPERATIONRULES_H

#include "base/Natives.h"
#include "oracle/BoundedInterpreter.h"

#include "mlir/IR/Operation.h"

#include <span>

namespace tokamak::oracle {

class OperationRules {
public:
  OperationRules(const ErrorModel &model, runtime::ExecutionContext &context)
      : model_(model), context_(context) {}

  // `result` is the reference's; for an operation with several results call this once for each.
  CellErrors errorsOf(mlir::Operation &operation, std::span<const Tracked> operands,
                      const runtime::Value &result) const;

private:
  CellErrors valueErrors(mlir::Operation &operation, std::span<const Tracked> operands,
                         const runtime::Value &result) const;
  void keepProduct(mlir::Operation &operation, std::span<const Tracked> operands,
                   CellErrors &errors) const;
  CellErrors nativeErrors(mlir::Operation &operation, const NativeRow &native,
                          std::span<const Tracked> operands, const runtime::Value &result) const;
  CellErrors movedErrors(mlir::Operation &operation, std::span<const Tracked> operands,
                         size_t movedOperands) const;
  CellErrors windowErrors(mlir::Operation &operation, std::span<const Tracked> operands,
                          bool areSums, size_t weights) const;
  CellErrors removeEmptyErrors(mlir::Operation &operation, std::span<const Tracked> operands) const;
  CellErrors tableErrors(mlir::Operation &operation, std::span<const Tracked> operands,
                         const runtime::Value &result) const;
  std::vector<runtime::Value> meaning(mlir::Operation &operation,
                                      std::vector<runtime::Value> operands) const;

  ErrorModel model_;
  runtime::ExecutionContext &context_;
};

} // namespace tokamak::oracle
#endif
