// Runs a program with the reference semantics and computes an error bound for every cell: a
// differential test compares the native engine with these results.
//
//   BoundedInterpreter interpreter(module, context, {});
//   std::vector<Bounded> results = interpreter.call("main", {});     // throws Error, or Undecided
//   interpreter.output()                                             // the printed output
#ifndef TOKAMAK_ORACLE_BOUNDEDINTERPRETER_H
#define TOKAMAK_ORACLE_BOUNDEDINTERPRETER_H

#include "base/Error.h"
#include "oracle/CellErrors.h"
#include "runtime/natives/Native.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::oracle {

// A value of the reference and the error bounds for values of other engines. A string or a list has
// a single bound: exact, or anything.
struct Bounded {
  runtime::Value value;
  CellErrors engine; // of any plan of the native engine, compared with the reference
  CellErrors plan;   // of two of its plans; functions such as exp give the same bits in both
  // Set instead of `value`: the error that left no value (BoundedOptions::failsWhereNeeded).
  std::shared_ptr<const Error> failure;
};

// Thrown if control flow, a size or a failure depends on a cell that may differ between correct
// runs.
class Undecided : public std::exception {
public:
  explicit Undecided(std::string what) : what_(std::move(what)) {}
  const char *what() const noexcept override { return what_.c_str(); }

private:
  std::string what_;
};

// A piece of the printed output; `certain` if every correct run prints the same.
struct PrintedPiece {
  std::string text;
  bool certain;
};

struct BoundedOptions {
  // Error bounds of scalars assume computation in f32, too.
  bool singlePrecision = false;
  bool sparse = false; // see ErrorModel
  ZeroRule zeroRule = ZeroRule::Sparse;
  // An operation that fails without side effects raises its error only where its result is used:
  // the native engine removes operations whose results are unused.
  bool failsWhereNeeded = false;
  // Where a condition, or a size or position that depends on cells, may differ between correct
  // runs, go on as the reference does instead of throwing Undecided. Cells that depend on such
  // sizes and positions may then have any value.
  bool takesReferenceDecisions = false;
};

class BoundedInterpreter {
public:
  // The module must be verified; module and context must outlive the interpreter. Printed output is
  // collected, not written to the context's output.
  BoundedInterpreter(mlir::ModuleOp module, runtime::ExecutionContext &context,
                     BoundedOptions options);

  std::vector<Bounded> call(llvm::StringRef function, std::vector<Bounded> arguments);
  // Executes one operation whose operands are in the frame, and returns its results.
  using Frame = llvm::DenseMap<mlir::Value, Bounded>;
  std::vector<Bounded> execute(mlir::Operation &operation, Frame &frame);
  const std::vector<PrintedPiece> &output() const { return output_; }
  // Whether any value was a matrix that the native engine may store as sparse; plans for sizes that aren't known
  // take small ones for sparse, too.
  bool sawSparseMatrix(bool sizesAreKnown = true) const {
    return sizesAreKnown ? sawSparse_ : sawSmallSparse_;
  }

private:
  struct Domain;
  // Throws Undecided at a decision that another correct run might take differently, unless
  // takesReferenceDecisions is set.
  void decide(const char *why);

  mlir::ModuleOp module_;
  runtime::ExecutionContext &context_;
  BoundedOptions options_;
  std::vector<PrintedPiece> output_;
  bool sawSparse_ = false, sawSmallSparse_ = false;
};

} // namespace tokamak::oracle
#endif
