// The native builtins of DML, supported or not (the table is in Builtins.def).
//
//   if (const Builtin *builtin = findBuiltin("ceiling"))      // its name is "ceil"
//     for (const BuiltinParameter &parameter : builtin->parameters())
//       ...
#ifndef TOKAMAK_FRONTEND_DML_BUILTINS_H
#define TOKAMAK_FRONTEND_DML_BUILTINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tokamak::frontend {

enum class BuiltinGroup : uint8_t {
  Files,
  Constructors,
  Sizes,
  Conversions,
  Reorganisation,
  Aggregation,
  Statistics,
  Cells,
  LinearAlgebra,
  NeuralNetworks,
  Frames,
  Lists,
  SecondOrder,
  Others
};

/// How a call is translated; see Builtins.def.
enum class BuiltinKind : uint8_t {
  Unary,
  Binary,
  Aggregate,
  Operation,
  Native,
  Special,
  Library,
  Unsupported
};

enum class BuiltinResult : uint8_t {
  None,
  Matrix,
  Integer,
  Double,
  Boolean,
  String,
  List,
  Frame,
  Derived
};

enum class ParameterType : uint8_t {
  Value,
  Matrix,
  Cell,  // a matrix or a number
  Array, // a matrix or a tensor
  Cells, // one of both, or a number
  Scalar,
  Integer,
  Double,
  Boolean,
  String,
  List,
  Frame
};

enum class ParameterPresence : uint8_t {
  Required,
  Optional,   // an operand of type none if absent
  Default,    // the literal `defaultText` if absent
  Variadic,   // takes all positional arguments; the only parameter
  Unsupported // known to the language; passing it is an error for now
};

struct BuiltinParameter {
  llvm::StringRef name;
  llvm::StringRef otherName; // a second name; usually empty
  ParameterType type = ParameterType::Value;
  ParameterPresence presence = ParameterPresence::Required;
  /// A literal: 3, -1, TRUE, 'text' (quoted like this).
  llvm::StringRef defaultText;
};

struct Builtin {
  llvm::StringRef name;
  BuiltinGroup group;
  BuiltinKind kind;
  llvm::StringRef target;
  BuiltinResult result;
  llvm::StringRef signature;

  llvm::SmallVector<BuiltinParameter, 8> parameters() const;
  bool isSupported() const { return kind != BuiltinKind::Unsupported; }
};

/// Finds a builtin by name or alias; null if there is none.
const Builtin *findBuiltin(llvm::StringRef name);

/// In the order of the table.
llvm::ArrayRef<Builtin> allBuiltins();

struct BuiltinAlias {
  llvm::StringRef alias;
  llvm::StringRef name;
};
llvm::ArrayRef<BuiltinAlias> allBuiltinAliases();

/// All names and aliases, for suggestions.
std::vector<std::string> builtinNames();

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_BUILTINS_H
