// Calls of functions whose names are known only when the program runs: eval("lm", X, y). The function is looked up where the
// script's own statements are, and translated for the types of the values that it is called with.
//
//   LateCall call{"lm", "script.dml", {{LateCall::Kind::Matrix, ""}, {LateCall::Kind::Double, "reg"}}};
//   mlir::OwningOpRef<mlir::ModuleOp> module =
//       importLateCall(sources, "script.dml", text, call, options, context, diagnostics);
//   // Its public function @eval takes a matrix and a double, and returns the function's first result as a matrix.
#ifndef TOKAMAK_FRONTEND_DML_LATECALL_H
#define TOKAMAK_FRONTEND_DML_LATECALL_H

#include "frontend/dml/Ast.h"
#include "frontend/dml/Import.h"

namespace tokamak::frontend {

struct LateCall {
  enum class Kind : uint8_t { Matrix, Frame, List, Double, Integer, Boolean, String };
  struct Argument {
    Kind kind;
    std::string name; // empty: by position
  };
  enum class Result : uint8_t { FirstAsMatrix, AllAsList };

  std::string function;
  std::string file; // where the call stands: names are looked up there, then in the script
  std::vector<Argument> arguments;
  Result result = Result::FirstAsMatrix;
  // Further arguments, by name, that are the same in all calls: numbers and texts as DML writes them.
  std::vector<std::pair<std::string, std::string>> literals = {};
};

/// A single list stands for the arguments, unless the function has one parameter, a list: whether it does.
bool takesOneList(SourceManager &sources, const std::string &path, const std::string &text,
                  const std::string &function, const std::string &file,
                  const ImportOptions &options, support::DiagnosticEngine &diagnostics);

/// Null after errors, as of importDml.
mlir::OwningOpRef<mlir::ModuleOp> importLateCall(SourceManager &sources, const std::string &path,
                                                 const std::string &text, const LateCall &call,
                                                 const ImportOptions &options,
                                                 mlir::MLIRContext &context,
                                                 support::DiagnosticEngine &diagnostics);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_LATECALL_H
