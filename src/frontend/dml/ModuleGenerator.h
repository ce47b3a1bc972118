// Turns a loaded program into a module of the `tok` dialect, one function at a time: main first,
// other functions at their first call, since the result types of a function are found by generating
// its body.
//
//   ModuleGenerator generator(loader, reporter, options, context);
//   mlir::OwningOpRef<mlir::ModuleOp> module = generator.generate(*main);
#ifndef TOKAMAK_FRONTEND_DML_MODULEGENERATOR_H
#define TOKAMAK_FRONTEND_DML_MODULEGENERATOR_H

#include "frontend/dml/ProgramLoader.h"
#include "frontend/dml/SourceReporter.h"
#include "frontend/onnx/ImportModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace tokamak::frontend {

/// The function of the module that a DML function is translated to.
struct GeneratedFunction {
  mlir::func::FuncOp operation;
  /// As declared. A type is null if errors keep the function from giving such a result.
  llvm::SmallVector<mlir::Type, 4> resultTypes;
};

/// A model that the program calls, and its function in the module.
struct CalledModel {
  explicit CalledModel(const std::string &path) : file(path) {}
  onnx::ModelFile file;
  std::vector<const onnx::ValueInfo *> inputs;
  mlir::func::FuncOp operation;
};

class ModuleGenerator {
public:
  ModuleGenerator(ProgramLoader &loader, SourceReporter &reporter, const ImportOptions &options,
                  mlir::MLIRContext &context);

  /// Null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> generate(LoadedFile &main);
  /// A module of this function, which is public in it, and of those that it calls.
  mlir::OwningOpRef<mlir::ModuleOp> generate(const Function &entry);

  // Interface for the function generators.
  const GeneratedFunction &functionFor(const Function &function);
  /// The model of this file, which is imported where it is called first; null after errors, which are reported
  /// at `place`, once.
  const CalledModel *modelAt(const std::string &path, SourceRange place);
  ProgramLoader &loader() { return loader_; }
  const ImportOptions &options() const { return options_; }
  mlir::MLIRContext *context() { return &context_; }
  mlir::Location location(SourceRange range) const;
  mlir::Type declaredType(const DeclaredType &type);

  /// Reports only the first error at each place, because the body of a loop is generated several
  /// times while the types of its variables are being inferred; later diagnostics are discarded.
  support::Diagnostic &error(SourceRange range, std::string message);
  support::Diagnostic &warning(SourceRange range, std::string message);
  /// "'conv2d' is not supported yet"; not reported in unreachable functions.
  void unsupported(SourceRange range, const std::string &what);
  support::DiagnosticNote noteAt(SourceRange range, std::string message) const {
    return reporter_.noteAt(range, std::move(message));
  }
  void reportUnknownFunction(const CallExpression &call, bool isStatement);
  bool wantsCandidates(support::Diagnostic &latest) {
    return &latest != &ignored_ && reporter_.engine().wantsCandidates(latest);
  }
  bool hasErrors() const { return reporter_.engine().hasErrors(); }

private:
  bool isFirstAt(SourceRange range) { return reportedAt_.insert({range.file, range.begin}).second; }
  void generateMain(const Program &program);
  // The module with its traces, or null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> finished();
  void generateBody(const Function &function, GeneratedFunction &target);
  // In a function that is erased with those that are never called.
  void checkDefaults(const Function &function);
  std::unique_ptr<CalledModel> import(const std::string &path);
  std::string uniqueSymbol(const std::string &name);

  ProgramLoader &loader_;
  SourceReporter &reporter_;
  const ImportOptions &options_;
  mlir::MLIRContext &context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::map<const FunctionDefinition *, GeneratedFunction> functions_;
  std::map<std::string, std::unique_ptr<CalledModel>> models_;
  llvm::StringSet<> symbols_;
  std::set<std::pair<FileId, uint32_t>> reportedAt_;
  support::Diagnostic ignored_;
  bool isReachable_ = true;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_MODULEGENERATOR_H
