// What statements and expressions do with variables: the one walk over them that both liveness
// (VariableFlow.h) and the test of parfors (ParforDependencies.h) are made of.
//
//   StatementParts parts = partsOf(statement);
//   for (const Expression *value : parts.values)
//     forEachRead(*value, resolve, [&](const VariableRead &read) { names.insert(read.name); });
#ifndef TOKAMAK_FRONTEND_DML_VARIABLEREADS_H
#define TOKAMAK_FRONTEND_DML_VARIABLEREADS_H

#include "frontend/dml/Ast.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <set>
#include <string>

namespace tokamak::frontend {

using NameSet = std::set<std::string>;

/// A statement without the statements in it: the values that it computes, in order, the variables
/// or cells that it assigns after that, and the bodies that it may run.
struct StatementParts {
  llvm::SmallVector<const Expression *, 3> values;
  llvm::SmallVector<const Expression *, 1> targets;
  llvm::SmallVector<StatementList, 2> bodies;
};
StatementParts partsOf(const Statement &statement);

struct VariableRead {
  const std::string &name;
  SourceRange place;
  /// The cells that are read; null: all of the variable.
  const IndexExpression *cells = nullptr;
  /// Whether it matters what the cells hold: not for nrow(X) and exists("X").
  bool isOfCells = true;
};

/// The DML function that a call resolves to, or null.
using ResolveFunction = std::function<const FunctionDefinition *(const CallExpression &)>;

/// Visits all reads of the expression, also those in the defaults of functions that it calls:
/// defaults are computed in the caller's scope, so they read the caller's variables.
void forEachRead(const Expression &expression, const ResolveFunction &resolve,
                 llvm::function_ref<void(const VariableRead &)> visit);

/// The variable whose rows, columns or cells the builtin call counts; null for other calls.
const NameExpression *countedVariable(const CallExpression &call, const ResolveFunction &resolve);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_VARIABLEREADS_H
