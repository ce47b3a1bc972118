#include "frontend/dml/VariableFlow.h"

#include <utility>

namespace tokamak::frontend {

using llvm::cast;
using llvm::dyn_cast;

VariableFlow::VariableFlow(StatementList body, const NameSet &neededAtEnd, Resolve resolve)
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

void VariableFlow::read(const Expression *expression, NameSet &names) const {
  if (!expression)
    return;
  switch (expression->kind()) {
  case Expression::Kind::Name:
    names.insert(cast<NameExpression>(expression)->name());
    break;
  case Expression::Kind::Index: {
    const auto *index = cast<IndexExpression>(expression);
    names.insert(index->name());
    for (const IndexDimension &dimension : index->dimensions()) {
      read(dimension.lower, names);
      read(dimension.upper, names);
    }
    break;
  }
  case Expression::Kind::Call: {
    const auto *call = cast<CallExpression>(expression);
    for (const CallArgument &argument : call->arguments()) {
      read(argument.value, names);
      // exists("x") reads the variable named by the string.
      if (const auto *text = dyn_cast<StringLiteral>(argument.value);
          text && call->callee() == "exists")
        names.insert(text->value());
    }
    if (const FunctionDefinition *definition = resolve_(*call))
      for (const Parameter &parameter : definition->parameters)
        read(parameter.defaultValue, names);
    break;
  }
  case Expression::Kind::Unary:
    read(&cast<UnaryExpression>(expression)->operand(), names);
    break;
  case Expression::Kind::Binary:
    read(&cast<BinaryExpression>(expression)->left(), names);
    read(&cast<BinaryExpression>(expression)->right(), names);
    break;
  case Expression::Kind::List:
    for (const Expression *element : cast<ListExpression>(expression)->elements())
      read(element, names);
    break;
  case Expression::Kind::Integer:
  case Expression::Kind::Double:
  case Expression::Kind::String:
  case Expression::Kind::Boolean:
  case Expression::Kind::Argument:
    break;
  }
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
    read(index, summary.read);
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
  switch (statement.kind()) {
  case Statement::Kind::Assign: {
    const auto &assignment = cast<AssignStatement>(statement);
    read(&assignment.value(), summary.read);
    if (assignment.op() == AssignOperator::Accumulate)
      read(&assignment.target(), summary.read);
    assign(assignment.target(), summary);
    break;
  }
  case Statement::Kind::MultiAssign: {
    const auto &assignment = cast<MultiAssignStatement>(statement);
    read(&assignment.call(), summary.read);
    for (const Expression *target : assignment.targets())
      assign(*target, summary);
    break;
  }
  case Statement::Kind::Call:
    read(&cast<CallStatement>(statement).call(), summary.read);
    break;
  case Statement::Kind::Ifdef:
    read(&cast<IfdefStatement>(statement).fallback(), summary.read);
    assign(cast<IfdefStatement>(statement).target(), summary);
    break;
  case Statement::Kind::If: {
    const auto &branch = cast<IfStatement>(statement);
    read(&branch.predicate(), summary.read);
    Summary thenSummary = summarize(branch.thenBody()), elseSummary = summarize(branch.elseBody());
    for (Summary *side : {&thenSummary, &elseSummary}) {
      summary.read.insert(side->read.begin(), side->read.end());
      summary.assigned.insert(side->assigned.begin(), side->assigned.end());
    }
    for (const std::string &name : thenSummary.certain)
      if (elseSummary.certain.contains(name))
        summary.certain.insert(name);
    break;
  }
  case Statement::Kind::While: {
    const auto &loop = cast<WhileStatement>(statement);
    read(&loop.predicate(), summary.read);
    Summary body = summarize(loop.body());
    summary.read.insert(body.read.begin(), body.read.end());
    summary.assigned = body.assigned;
    break;
  }
  case Statement::Kind::For: {
    const auto &loop = cast<ForStatement>(statement);
    Summary body = summarize(loop.body());
    summary.read = body.read;
    summary.read.erase(loop.variable());
    for (const Expression *bound :
         {loop.iteration().from, loop.iteration().to, loop.iteration().increment})
      read(bound, summary.read);
    summary.assigned = body.assigned;
    summary.assigned.insert(loop.variable());
    break;
  }
  case Statement::Kind::Source:
  case Statement::Kind::SetWorkingDirectory:
    break;
  }
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
    read(&whileLoop->predicate(), atHead);
  else if (!needed.contains(forLoop->variable()))
    atHead.erase(forLoop->variable());
  neededAtHead_[&statement] = atHead;
  propagate(body, std::move(atHead));
}

} // namespace tokamak::frontend
