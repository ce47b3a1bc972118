// Runs a program of the `tok` dialect operation by operation: the definition of what it means.
//
//   Interpreter interpreter(module, context);
//   interpreter.run();                                     // func.func @main
//   interpreter.call("square", {Value(3.0)}).front()       // one function, for tests
#ifndef TOKAMAK_REFERENCE_INTERPRETER_H
#define TOKAMAK_REFERENCE_INTERPRETER_H

#include "ir/tok/TokDialect.h"
#include "runtime/Native.h"
#include "runtime/Value.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace tokamak::reference {

class Interpreter {
public:
  // How deep calls may nest before recursion counts as endless; the same for every engine.
  static constexpr int maximumCallDepth = 4000;

  // The module must be verified; module and context must outlive the interpreter.
  Interpreter(mlir::ModuleOp module, runtime::ExecutionContext &context);

  // Both throw Error with the source place of the operation that failed and the calls that led
  // there; a function that does not exist is an internal error.
  void run();
  std::vector<runtime::Value> call(llvm::StringRef function, std::vector<runtime::Value> arguments);

  // True once an operation with an effect outside the program (print, write, stop, ...) was
  // reached: decides between exit status 2 and 1.
  bool hasStarted() const { return started_; }

private:
  using Values = std::vector<runtime::Value>;
  // The values of one activation of a function; those of a loop body are overwritten by the next
  // iteration.
  using Frame = llvm::DenseMap<mlir::Value, runtime::Value>;

  Values runFunction(llvm::StringRef name, Values arguments);
  Values runBlock(mlir::Block &block, const Values &arguments, Frame &frame);
  Values runOperation(mlir::Operation &operation, Frame &frame);
  Values runIf(tok::IfOp op, Frame &frame);
  Values runWhile(tok::WhileOp op, Frame &frame);
  template <typename Loop> Values runCounted(Loop op, Frame &frame);
  Values runCall(mlir::Operation &call, llvm::StringRef function, Frame &frame);
  Values runComputation(mlir::Operation &operation, Frame &frame);

  mlir::SymbolTable functions_;
  runtime::ExecutionContext &context_;
  int callDepth_ = 0;
  bool started_ = false;
};

} // namespace tokamak::reference
#endif
