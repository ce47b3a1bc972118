#include "frontend/dml/VariableFlow.h"

#include <utility>

namespace tokamak::frontend {

using llvm::cast;
using llvm::dyn_cast;

VariableFlow::VariableFlow(StatementList body, const NameSet &neededAtEnd, ResolveFunction resolve)
    : resolve_(std::move(resolve)) {
  summarize(body);
  propagate(body, neededAtEnd);
}

void VariableFlow::Summary::then(const Summary &next) {
  for (const std::string &name : next.read)
    if (!certain.contains(name))
      read.insert(name);
  certain.insert(next.certain.begin(), next.certain.end());
  assigned.insert(next.assigned.begin(), next.assigned.end());
}

void VariableFlow::read(const Expression &expression, NameSet &names) const {
  forEachRead(expression, resolve_, [&](const VariableRead &read) { names.insert(read.name); });
}

bool VariableFlow::givesNothing(const Expression &expression) const {
  const auto *call = dyn_cast<CallExpression>(&expression);
  const FunctionDefinition *definition = call ? resolve_(*call) : nullptr;
  return definition && definition->outputs.empty();
}

void VariableFlow::assign(const Expression &target, Summary &summary) const {
  std::string name;
  if (const auto *index = dyn_cast<IndexExpression>(&target)) {
    // Left indexing keeps the other cells, so it also reads the variable.
    read(*index, summary.read);
    name = index->name();
  } else {
    name = cast<NameExpression>(target).name();
  }
  summary.certain.insert(name);
  summary.assigned.insert(name);
}

VariableFlow::Summary VariableFlow::summarize(StatementList statements) {
  Summary summary;
  for (const Statement *statement : statements)
    summary.then(summarize(*statement));
  return summary;
}

const VariableFlow::Summary &VariableFlow::summarize(const Statement &statement) {
  auto found = summaries_.find(&statement);
  if (found != summaries_.end())
    return found->second;
  Summary summary = summarizeOnce(statement);
  return summaries_[&statement] = std::move(summary);
}

VariableFlow::Summary VariableFlow::summarizeOnce(const Statement &statement) {
  Summary summary;
  const StatementParts parts = partsOf(statement);
  for (const Expression *value : parts.values)
    read(*value, summary.read);
  if (const auto *assignment = dyn_cast<AssignStatement>(&statement);
      assignment && assignment->op() == AssignOperator::Accumulate)
    read(assignment->target(), summary.read);
  for (const Expression *target : parts.targets)
    assign(*target, summary);
  llvm::SmallVector<Summary, 2> bodies;
  for (StatementList body : parts.bodies)
    bodies.push_back(summarize(body));
  const auto *counted = dyn_cast<ForStatement>(&statement);
  for (const Summary &body : bodies) {
    for (const std::string &name : body.read)
      if (!counted || name != counted->variable())
        summary.read.insert(name);
    summary.assigned.insert(body.assigned.begin(), body.assigned.end());
  }
  if (counted)
    summary.assigned.insert(counted->variable());
  if (llvm::isa<IfStatement>(statement))
    for (const std::string &name : bodies[0].certain)
      if (bodies[1].certain.contains(name))
        summary.certain.insert(name);
  return summary;
}

void VariableFlow::propagate(StatementList statements, NameSet needed) {
  for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
    propagate(**statement, needed);
    const Summary &summary = summaries_.at(*statement);
    for (const std::string &name : summary.certain)
      needed.erase(name);
    needed.insert(summary.read.begin(), summary.read.end());
  }
}

void VariableFlow::propagate(const Statement &statement, const NameSet &needed) {
  if (const auto *branch = dyn_cast<IfStatement>(&statement)) {
    neededAfter_[&statement] = needed;
    propagate(branch->thenBody(), needed);
    propagate(branch->elseBody(), needed);
    return;
  }
  const auto *whileLoop = dyn_cast<WhileStatement>(&statement);
  const auto *forLoop = dyn_cast<ForStatement>(&statement);
  if (!whileLoop && !forLoop)
    return;
  neededAfter_[&statement] = needed;
  StatementList body = whileLoop ? whileLoop->body() : forLoop->body();
  // The body may run again or not at all, so what it reads and what is needed after the loop are
  // both needed at its head.
  NameSet atHead = needed;
  Summary bodySummary = summarize(body);
  atHead.insert(bodySummary.read.begin(), bodySummary.read.end());
  if (whileLoop)
    read(whileLoop->predicate(), atHead);
  else if (!needed.contains(forLoop->variable()))
    atHead.erase(forLoop->variable());
  neededAtHead_[&statement] = atHead;
  propagate(body, std::move(atHead));
}

} // namespace tokamak::frontend
