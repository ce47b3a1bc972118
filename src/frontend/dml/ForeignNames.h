// Hints for names that DML lacks but that exist in other languages or in SystemDS: what to write
// instead.
//
//   hintForVariable("PI")          // "the constant is written 'pi'"
//   hintForFunction("crossprod")   // "write t(X) %*% Y"
//   hintForFunction("scale")       // "'scale' is in SystemDS's library, not in ours yet; ..."
//   hintForMember("X", "T")        // "write t(X)"
//   hintForStatement("break")      // "a loop can't be left early: ..."
//   hintForWord("and")             // "write 'a & b'"
//   hintForOperator("**")          // "write x ^ y"
//   parameterMeantBy("nrow")       // "rows"
#ifndef TOKAMAK_FRONTEND_DML_FOREIGNNAMES_H
#define TOKAMAK_FRONTEND_DML_FOREIGNNAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tokamak::frontend {

// All functions return an empty text for names without a hint.

std::string hintForVariable(llvm::StringRef name);
std::string hintForFunction(llvm::StringRef name);
/// Of `object.member`: what other languages write so.
std::string hintForMember(llvm::StringRef object, llvm::StringRef member);
/// `word` is the first word of a statement.
std::string hintForStatement(llvm::StringRef word);
/// `word` stands inside an expression or behind the head of a statement.
std::string hintForWord(llvm::StringRef word);
/// `spelling` is that of an operator.
std::string hintForOperator(llvm::StringRef spelling);
/// The parameter of builtins that other languages call `name`.
std::string parameterMeantBy(llvm::StringRef name);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_FOREIGNNAMES_H
