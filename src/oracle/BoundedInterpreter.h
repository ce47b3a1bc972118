// Runs a program as the reference does and says of every cell how far a right result may be off:
// what a differential test compares the native engine with.
//
//   BoundedInterpreter interpreter(module, context, {});
//   std::vector<Bounded> results = interpreter.call("main", {});     // throws Error, or Undecided
//   interpreter.output()                                             // what was printed
#ifndef TOKAMAK_ORACLE_BOUNDEDINTERPRETER_H
#define TOKAMAK_ORACLE_BOUNDEDINTERPRETER_H

#include "base/Error.h"
#include "oracle/CellErrors.h"
#include "runtime/Native.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::oracle {

// A value of the reference and how far others may be off. Of a text or a list the errors are one:
// exact, or anything.
struct Bounded {
  runtime::Value value;
  CellErrors engine; // any plan of the native engine against the reference
  CellErrors plan;   // two plans against each other: functions have the same bits
  // Set in place of a value: why there is none (BoundedOptions::failsWhereNeeded).
  std::shared_ptr<const Error> failure;
};

// What the program does next depends on a cell that may differ from one right run to another.
class Undecided : public std::exception {
public:
  explicit Undecided(std::string what) : what_(std::move(what)) {}
  const char *what() const noexcept override { return what_.c_str(); }

private:
  std::string what_;
};

// A piece of what was printed; `certain` if every right run prints the same.
struct PrintedPiece {
  std::string text;
  bool certain;
};

struct BoundedOptions {
  // Scalars, too, may be off as if they had been computed in f32.
  bool singlePrecision = false;
  bool sparse = false; // see ErrorModel
  ZeroRule zeroRule = ZeroRule::Sparse;
  // An operation without side effects that fails, fails where its result is used: the native engine
  // removes operations whose results are unused.
  bool failsWhereNeeded = false;
  // Conditions, and sizes and places that depend on cells, are taken as the reference has them
  // where another right run might have others; else that is Undecided. What such cells hold may
  // then be anything.
  bool takesReferenceDecisions = false;
};

class BoundedInterpreter {
public:
  // The module must be verified; module and context must outlive the interpreter. What is printed
  // is kept, not written to the context's output.
  BoundedInterpreter(mlir::ModuleOp module, runtime::ExecutionContext &context,
                     BoundedOptions options);

  std::vector<Bounded> call(llvm::StringRef function, std::vector<Bounded> arguments);
  // The results of one operation, whose operands are in the frame.
  using Frame = llvm::DenseMap<mlir::Value, Bounded>;
  std::vector<Bounded> execute(mlir::Operation &operation, Frame &frame);
  const std::vector<PrintedPiece> &output() const { return output_; }
  // Whether a matrix came up that the native engine may hold as CSR.
  bool sawSparseMatrix() const { return sawSparse_; }
  // Decisions that another right run might take otherwise (takesReferenceDecisions).
  int64_t openDecisions() const { return openDecisions_; }

private:
  struct Domain;
  // Goes on as the reference does, if it may. Throws Undecided.
  void decide(const char *why);

  mlir::ModuleOp module_;
  runtime::ExecutionContext &context_;
  // Between engines and between plans; of operations on arrays of f32, the latter two.
  ErrorModel engine_, plan_, singleEngine_, singlePlan_;
  std::vector<PrintedPiece> output_;
  bool sawSparse_ = false;
  bool takesReferenceDecisions_, failsWhereNeeded_;
  int64_t openDecisions_ = 0;
};

} // namespace tokamak::oracle
#endif
