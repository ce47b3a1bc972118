// Runs a program on each engine and collects its results, output or error.
//
//   Script script({text, Language::Dml});
//   if (!script.isValid()) return script.message();
//   ReferenceRun expected = script.runReference({});
//   NativeRun actual = script.runNative(configuration, resources);
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_ENGINES_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_ENGINES_H

#include "base/Error.h"
#include "frontend/dml/Import.h"
#include "oracle/BoundedInterpreter.h"
#include "rewrite/BlockRules.h"
#include "tokamak-fuzz/Trial.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace tokamak::fuzz {

struct ReferenceRun {
  std::vector<oracle::Bounded> results;
  std::vector<oracle::PrintedPiece> output;
  std::optional<Error> error;
  std::optional<std::string> undecided;
  bool sawSparseMatrix = false, sawSmallSparseMatrix = false;
  int64_t nanoseconds = 0;
};

struct NativeRun {
  std::vector<runtime::Value> results;
  std::string output;
  std::optional<Error> error;
  bool rejected = false; // before it ran; then the error has no place
  Times times;
  std::vector<rewrite::RuleRun> rules; // the rewrite rules that fired
};

class Script {
public:
  explicit Script(const SourceText &source);
  bool isValid() const { return bool(module_); }
  const std::string &message() const { return message_; }
  // Of strangers' models, which mistake is found first is open.
  bool isModel() const { return isModel_; }
  // Whether something may be computed with several sizes.
  bool hasLoopsOrCalls() const;

  ReferenceRun runReference(oracle::BoundedOptions options);
  NativeRun runNative(const Configuration &configuration, TrialResources &resources);

private:
  void import(const SourceText &source);
  mlir::OwningOpRef<mlir::ModuleOp> copy(bool singlePrecision);

  mlir::MLIRContext context_;
  frontend::SourceManager sources_;
  support::DiagnosticEngine diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::vector<runtime::Value> inputs_, weights_; // of main
  std::string message_;
  bool isModel_;
};

} // namespace tokamak::fuzz
#endif
