#include "frontend/dml/VariableReads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak::frontend {

using llvm::cast;
using llvm::dyn_cast;

StatementParts partsOf(const Statement &statement) {
  StatementParts parts;
  switch (statement.kind()) {
  case Statement::Kind::Assign:
    parts.values = {&cast<AssignStatement>(statement).value()};
    parts.targets = {&cast<AssignStatement>(statement).target()};
    break;
  case Statement::Kind::MultiAssign: {
    const auto &assignment = cast<MultiAssignStatement>(statement);
    parts.values = {&assignment.call()};
    parts.targets.assign(assignment.targets().begin(), assignment.targets().end());
    break;
  }
  case Statement::Kind::Call:
    parts.values = {&cast<CallStatement>(statement).call()};
    break;
  case Statement::Kind::Ifdef:
    parts.values = {&cast<IfdefStatement>(statement).fallback()};
    parts.targets = {&cast<IfdefStatement>(statement).target()};
    break;
  case Statement::Kind::If: {
    const auto &branch = cast<IfStatement>(statement);
    parts.values = {&branch.predicate()};
    parts.bodies = {branch.thenBody(), branch.elseBody()};
    break;
  }
  case Statement::Kind::While:
    parts.values = {&cast<WhileStatement>(statement).predicate()};
    parts.bodies = {cast<WhileStatement>(statement).body()};
    break;
  case Statement::Kind::For: {
    const auto &loop = cast<ForStatement>(statement);
    const IterationRange &iteration = loop.iteration();
    for (const Expression *bound : {iteration.from, iteration.to, iteration.increment})
      if (bound)
        parts.values.push_back(bound);
    parts.bodies = {loop.body()};
    break;
  }
  case Statement::Kind::Source:
  case Statement::Kind::SetWorkingDirectory:
    break;
  }
  return parts;
}

const NameExpression *countedVariable(const CallExpression &call, const ResolveFunction &resolve) {
  static constexpr llvm::StringRef counts[] = {"nrow", "ncol", "length"};
  if (!llvm::is_contained(counts, call.callee()) || call.arguments().size() != 1 || resolve(call))
    return nullptr;
  return dyn_cast<NameExpression>(call.arguments().front().value);
}

namespace {

class ReadVisitor {
public:
  using Visit = llvm::function_ref<void(const VariableRead &)>;

  ReadVisitor(const ResolveFunction &resolve, Visit visit) : resolve_(resolve), visit_(visit) {}

  void visit(const Expression &expression) {
    switch (expression.kind()) {
    case Expression::Kind::Name:
      visit_({cast<NameExpression>(expression).name(), expression.range()});
      break;
    case Expression::Kind::Index: {
      const auto &index = cast<IndexExpression>(expression);
      visit_({index.name(), index.nameRange(), &index});
      for (const IndexDimension &dimension : index.dimensions())
        for (const Expression *bound : {dimension.lower, dimension.upper})
          if (bound)
            visit(*bound);
      break;
    }
    case Expression::Kind::Call:
      visitCall(cast<CallExpression>(expression));
      break;
    case Expression::Kind::Unary:
      visit(cast<UnaryExpression>(expression).operand());
      break;
    case Expression::Kind::Binary:
      visit(cast<BinaryExpression>(expression).left());
      visit(cast<BinaryExpression>(expression).right());
      break;
    case Expression::Kind::List:
      for (const Expression *element : cast<ListExpression>(expression).elements())
        visit(*element);
      break;
    case Expression::Kind::Integer:
    case Expression::Kind::Double:
    case Expression::Kind::String:
    case Expression::Kind::Boolean:
    case Expression::Kind::Argument:
      break;
    }
  }

private:
  void visitCall(const CallExpression &call) {
    if (const NameExpression *counted = countedVariable(call, resolve_))
      return visit_({counted->name(), counted->range(), nullptr, false});
    const FunctionDefinition *definition = resolve_(call);
    for (const CallArgument &argument : call.arguments()) {
      visit(*argument.value);
      // exists("x") reads the variable named by the string.
      if (const auto *text = dyn_cast<StringLiteral>(argument.value);
          text && !definition && call.callee() == "exists")
        visit_({text->value(), text->range(), nullptr, false});
    }
    if (definition)
      visitDefaults(call, *definition);
  }

  void visitDefaults(const CallExpression &call, const FunctionDefinition &definition) {
    // In a default, the names of parameters are those of the callee, also in subscripts: so which
    // cells it reads is not known here.
    auto ofCaller = [&](const VariableRead &read) {
      bool isParameter = llvm::any_of(definition.parameters, [&](const Parameter &parameter) {
        return parameter.name == read.name;
      });
      if (!isParameter)
        visit_({read.name, call.range(), nullptr, read.isOfCells});
    };
    ReadVisitor inDefault(resolve_, ofCaller);
    inDefault.defaults_ = defaults_;
    for (auto [position, parameter] : llvm::enumerate(definition.parameters)) {
      bool isGiven = llvm::any_of(llvm::enumerate(call.arguments()), [&](auto argument) {
        return argument.value().isNamed() ? argument.value().name == parameter.name
                                          : argument.index() == position;
      });
      // A default that needs itself is refused when the call is generated.
      if (isGiven || !parameter.defaultValue ||
          llvm::is_contained(defaults_, parameter.defaultValue))
        continue;
      inDefault.defaults_.push_back(parameter.defaultValue);
      inDefault.visit(*parameter.defaultValue);
      inDefault.defaults_.pop_back();
    }
  }

  const ResolveFunction &resolve_;
  Visit visit_;
  llvm::SmallVector<const Expression *, 4> defaults_; // in which this visitor is
};

} // namespace

void forEachRead(const Expression &expression, const ResolveFunction &resolve,
                 llvm::function_ref<void(const VariableRead &)> visit) {
  ReadVisitor(resolve, visit).visit(expression);
}

} // namespace tokamak::frontend
