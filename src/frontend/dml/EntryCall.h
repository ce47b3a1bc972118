// The program that calls one function of a script instead of running its statements, as DML text.
//
//   entryCall(f, {{"X", "in.csv"}, {"k", "5"}})      // of `-nvargs X=in.csv k=5`
//
// A function, and the program that calls it, in DML:
//
//   f = function(matrix[double] X, int k) return (double s, matrix[double] R) { ... }
//
//   [s, R] = f(X = read($X, format="csv"), k = $k)
//   print("s = " + s)
//   print("R:")
//   print(toString(R))
//
// A matrix or a frame is read from the file that its argument names; without metadata beside it, the
// format follows from the ending. Arguments may also be numbered (`-args in.csv 5`). What is not
// given is left out of the call: it has a default, or the call is an error. A single result is
// printed without its name.
#ifndef TOKAMAK_FRONTEND_DML_ENTRYCALL_H
#define TOKAMAK_FRONTEND_DML_ENTRYCALL_H

#include "frontend/dml/Ast.h"

#include <map>
#include <string>

namespace tokamak::frontend {

std::string entryCall(const FunctionDefinition &function,
                      const std::map<std::string, std::string> &arguments);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_ENTRYCALL_H
