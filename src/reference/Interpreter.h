// Runs a program of the `tok` dialect operation by operation: the reference definition of its
// semantics.
//
//   Interpreter interpreter(module, context);
//   interpreter.run();                                     // func.func @main
//   interpreter.call("square", {Value(3.0)}).front()       // one function, for tests
#ifndef TOKAMAK_REFERENCE_INTERPRETER_H
#define TOKAMAK_REFERENCE_INTERPRETER_H

#include "ir/tok/TokDialect.h"
#include "runtime/natives/Native.h"
#include "runtime/values/Value.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace tokamak::reference {

class Interpreter {
public:
  // The module must be verified; module and context must outlive the interpreter.
  Interpreter(mlir::ModuleOp module, runtime::ExecutionContext &context)
      : module_(module), context_(context) {}

  // Both throw Error with the source place of the failing operation and its call stack. A function
  // that does not exist is an internal error.
  void run();
  std::vector<runtime::Value> call(llvm::StringRef function, std::vector<runtime::Value> arguments);

private:
  mlir::ModuleOp module_;
  runtime::ExecutionContext &context_;
};

// Whether the operation has a side effect: print, write, stop, ...
bool hasEffect(mlir::Operation &operation);

} // namespace tokamak::reference
#endif
