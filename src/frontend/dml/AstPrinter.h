// Prints syntax trees as s-expressions, for tests and for inspecting what the parser made of a
// text.
//
//   std::cout << toString(program);
//
// A statement, and how it is printed, as text:
//
//   x = -a ^ 2 + X[1, 2:n]        (assign x (+ (- (^ a 2)) (index X 1 (range 2 n))))
#ifndef TOKAMAK_FRONTEND_DML_ASTPRINTER_H
#define TOKAMAK_FRONTEND_DML_ASTPRINTER_H

#include "frontend/dml/Ast.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tokamak::frontend {

void print(const Expression &expression, llvm::raw_ostream &os);
void print(const Statement &statement, llvm::raw_ostream &os);
void print(const FunctionDefinition &function, llvm::raw_ostream &os);

/// One line for each top-level statement, then one for each function.
void print(const Program &program, llvm::raw_ostream &os);
std::string toString(const Program &program);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_ASTPRINTER_H
