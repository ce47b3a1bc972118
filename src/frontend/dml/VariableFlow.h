// Liveness of variables: which variables statements read and assign, and which are live after a
// statement. Only live variables are carried through branches and loops, so that no temporary of a
// loop's body is kept.
//
//   VariableFlow flow(body, outputs, resolve);
//   flow.assignedIn(loop);      // may be assigned by the loop
//   flow.neededAfter(loop);     // may be read after it before they are assigned again
//   flow.neededAtHead(loop);    // may be read when the condition or the body of the loop starts
#ifndef TOKAMAK_FRONTEND_DML_VARIABLEFLOW_H
#define TOKAMAK_FRONTEND_DML_VARIABLEFLOW_H

#include "frontend/dml/VariableReads.h"

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace tokamak::frontend {

class VariableFlow {
public:
  VariableFlow(StatementList body, const NameSet &neededAtEnd, ResolveFunction resolve);

  const ResolveFunction &resolve() const { return resolve_; }

  const NameSet &assignedIn(const Statement &statement) const {
    return summaries_.at(&statement).assigned;
  }
  /// Only for if, while and for statements.
  const NameSet &neededAfter(const Statement &statement) const {
    return neededAfter_.at(&statement);
  }
  const NameSet &neededAtHead(const Statement &loop) const { return neededAtHead_.at(&loop); }

  /// Whether this is a call of a function without outputs: a variable assigned from it has no value
  /// afterwards.
  bool givesNothing(const Expression &expression) const;

private:
  // The effects of a piece of program: variables that it reads before assigning them, that it
  // assigns on every path, and that it assigns on some path.
  struct Summary {
    NameSet read;
    NameSet certain;
    NameSet assigned;
    void then(const Summary &next);
  };

  Summary summarize(StatementList statements);
  const Summary &summarize(const Statement &statement);
  Summary summarizeOnce(const Statement &statement);
  void read(const Expression &expression, NameSet &names) const;
  void assign(const Expression &target, Summary &summary) const;
  void propagate(StatementList statements, NameSet needed);
  void propagate(const Statement &statement, const NameSet &needed);

  ResolveFunction resolve_;
  llvm::DenseMap<const Statement *, Summary> summaries_;
  llvm::DenseMap<const Statement *, NameSet> neededAfter_;
  llvm::DenseMap<const Statement *, NameSet> neededAtHead_;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_VARIABLEFLOW_H
