// What functions take and give, for those who call them from outside the language.
//
//   for (const FunctionSignature &function : signaturesOf(sources, "script.dml", text, options, diagnostics))
//     std::cout << function.name << function.parameters.front().typeText();      // f, matrix[double]
#ifndef TOKAMAK_FRONTEND_DML_FUNCTIONSIGNATURES_H
#define TOKAMAK_FRONTEND_DML_FUNCTIONSIGNATURES_H

#include "frontend/dml/Ast.h"
#include "frontend/dml/Import.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tokamak::frontend {

struct FunctionSignature {
  using Constant = std::variant<bool, int64_t, double, std::string>;
  struct Parameter {
    std::string name;
    DeclaredType type;
    /// As written; nothing if the argument must be given.
    std::optional<std::string> defaultText;
    /// The default, where it is a number, a boolean or a string that is written out, or operators on such.
    std::optional<Constant> defaultConstant;
    std::string typeText() const; // "matrix[double]", "int"
  };
  std::string name;
  std::vector<Parameter> parameters, outputs;
  /// The comment above the function, without its number signs.
  std::string comment;
};

/// The functions that the script itself defines, in its order. Empty after errors.
std::vector<FunctionSignature> signaturesOf(SourceManager &sources, const std::string &path,
                                            const std::string &text, const ImportOptions &options,
                                            support::DiagnosticEngine &diagnostics);

/// Of a function that a call in the script would call by this name; nothing if there is none that is written in DML.
std::optional<FunctionSignature> signatureOf(SourceManager &sources, const std::string &path,
                                             const std::string &text, const std::string &function,
                                             const ImportOptions &options,
                                             support::DiagnosticEngine &diagnostics);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_FUNCTIONSIGNATURES_H
