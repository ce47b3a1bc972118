#include "frontend/dml/ParforDependencies.h"

#include "frontend/dml/LinearSubscript.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>

namespace tokamak::frontend {

using llvm::cast;
using llvm::dyn_cast;

namespace {

// The positions that an access touches in one dimension: a single one, a range, or, if neither is
// set, any position. Forms are whole.
struct AccessedPositions {
  std::optional<LinearForm> single;
  std::optional<std::pair<double, double>> range;
};

struct Access {
  enum class Kind { Read, Write, Accumulate };
  Kind kind;
  SourceRange place;
  bool isWhole = false;
  std::vector<AccessedPositions> positions;
  // In a loop with check=0, and nobody knows whether it happens or at which cells.
  bool isUncertain = false;

  bool isWrite() const { return kind != Kind::Read; }
};

// Variables that the statements assign as a whole, and the variables of loops among them.
void findAssigned(StatementList body, NameSet &names) {
  for (const Statement *statement : body) {
    StatementParts parts = partsOf(*statement);
    for (const Expression *target : parts.targets)
      if (const auto *name = dyn_cast<NameExpression>(target))
        names.insert(name->name());
    if (const auto *loop = dyn_cast<ForStatement>(statement))
      names.insert(loop->variable());
    for (StatementList inner : parts.bodies)
      findAssigned(inner, names);
  }
}

// Collects the accesses of a loop's body, grouped by variable.
class AccessCollector {
public:
  AccessCollector(const ForStatement &loop, const ParforSurroundings &surroundings)
      : surroundings_(surroundings) {
    findAssigned(loop.body(), assigned_);
    space.tested = collectLoop(loop);
  }

  std::map<std::string, std::vector<Access>> accesses;
  NameSet loopVariables;
  IndexSpace space;

private:
  std::string collectLoop(const ForStatement &loop);
  void collect(StatementList body);
  void read(const Expression &expression);
  void write(const Expression &target, Access::Kind kind);
  void touch(const IndexExpression &expression, Access::Kind kind);
  std::optional<LinearForm> linear(const Expression &expression) const;
  std::optional<LinearForm> linearName(const std::string &name) const;
  std::optional<LinearForm> position(const Expression &expression) const;

  const ParforSurroundings &surroundings_;
  NameSet assigned_;
  // Whether the statements are in a loop with check=0, and, in that, under a condition.
  bool isUnchecked_ = false;
  bool isConditional_ = false;
  // By the variables of the loops around: the name of its index, which no other loop has; none if
  // the body changes the variable.
  std::map<std::string, std::optional<std::string>> indices_;
};

// The name of the index that the loop gets.
std::string AccessCollector::collectLoop(const ForStatement &loop) {
  std::string index = loop.variable() + "#" + std::to_string(space.bounds.size());
  IndexBounds bounds;
  std::optional<LinearForm> from = position(*loop.iteration().from);
  std::optional<LinearForm> to = position(*loop.iteration().to);
  if (from && to && from->isConstant() && to->isConstant())
    bounds = {std::min(from->constant, to->constant), std::max(from->constant, to->constant)};
  space.bounds[index] = bounds;
  loopVariables.insert(loop.variable());
  NameSet assigned;
  findAssigned(loop.body(), assigned);
  auto outer = indices_;
  indices_[loop.variable()] =
      assigned.contains(loop.variable()) ? std::nullopt : std::optional(index);
  // That the tested loop is to be tested is known.
  bool isTested = space.bounds.size() == 1, wasUnchecked = isUnchecked_;
  isUnchecked_ = isUnchecked_ || (!isTested && surroundings_.isUnchecked(loop));
  collect(loop.body());
  isUnchecked_ = wasUnchecked;
  indices_ = std::move(outer);
  return index;
}

std::optional<LinearForm> AccessCollector::linearName(const std::string &name) const {
  if (auto index = indices_.find(name); index != indices_.end())
    return index->second ? std::optional(LinearForm::of(*index->second)) : std::nullopt;
  if (assigned_.contains(name))
    return std::nullopt;
  if (std::optional<double> value = surroundings_.constant(name))
    return LinearForm::of(*value);
  return LinearForm::of(name);
}

// Only constants may be fractional: where names are multiplied by fractions, the program rounds.
std::optional<LinearForm> AccessCollector::linear(const Expression &expression) const {
  if (const auto *integer = dyn_cast<IntegerLiteral>(&expression))
    return LinearForm::of(static_cast<double>(integer->value()));
  if (const auto *number = dyn_cast<DoubleLiteral>(&expression))
    return LinearForm::of(number->value());
  if (const auto *name = dyn_cast<NameExpression>(&expression))
    return linearName(name->name());
  if (const auto *call = dyn_cast<CallExpression>(&expression)) {
    const NameExpression *counted = countedVariable(*call, surroundings_.resolve);
    if (!counted || assigned_.contains(counted->name()))
      return std::nullopt;
    return LinearForm::of(call->callee() + "(" + counted->name() + ")");
  }
  if (const auto *unary = dyn_cast<UnaryExpression>(&expression)) {
    std::optional<LinearForm> operand = linear(unary->operand());
    if (!operand || unary->op() == UnaryOperator::Not)
      return std::nullopt;
    return unary->op() == UnaryOperator::Minus ? operand->times(-1) : *operand;
  }
  const auto *binary = dyn_cast<BinaryExpression>(&expression);
  if (!binary)
    return std::nullopt;
  std::optional<LinearForm> left = linear(binary->left()), right = linear(binary->right());
  if (!left || !right)
    return std::nullopt;
  bool isConstant = left->isConstant() && right->isConstant();
  if (!isConstant && !(left->isWhole() && right->isWhole()))
    return std::nullopt;
  switch (binary->op()) {
  case BinaryOperator::Add:
    return left->plus(*right, 1);
  case BinaryOperator::Subtract:
    return left->plus(*right, -1);
  case BinaryOperator::Multiply:
    if (left->isConstant())
      return right->times(left->constant);
    return right->isConstant() ? std::optional(left->times(right->constant)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

// The integer that a subscript or a bound of a loop is truncated to.
std::optional<LinearForm> AccessCollector::position(const Expression &expression) const {
  std::optional<LinearForm> form = linear(expression);
  if (form && form->isConstant())
    form = LinearForm::of(std::trunc(form->constant));
  return form && form->isWhole() ? form : std::nullopt;
}

void AccessCollector::touch(const IndexExpression &expression, Access::Kind kind) {
  Access access{kind, expression.nameRange(), false, {}, isUnchecked_ && isConditional_};
  for (const IndexDimension &dimension : expression.dimensions()) {
    AccessedPositions positions;
    bool isKnown = true;
    if (dimension.isSingle()) {
      positions.single = position(*dimension.lower);
      isKnown = positions.single.has_value();
    } else if (dimension.isRange()) {
      auto lower = position(*dimension.lower), upper = position(*dimension.upper);
      if (lower && upper && lower->isConstant() && upper->isConstant())
        positions.range = {lower->constant, upper->constant};
      isKnown = positions.range.has_value();
    }
    access.isUncertain |= isUnchecked_ && !isKnown;
    access.positions.push_back(std::move(positions));
  }
  accesses[expression.name()].push_back(std::move(access));
}

void AccessCollector::write(const Expression &target, Access::Kind kind) {
  const auto *index = dyn_cast<IndexExpression>(&target);
  if (!index) {
    accesses[cast<NameExpression>(target).name()].push_back(
        {kind, target.range(), true, {}, false});
    return;
  }
  for (const IndexDimension &dimension : index->dimensions())
    for (const Expression *bound : {dimension.lower, dimension.upper})
      if (bound)
        read(*bound);
  // `+=` to cells reads and writes them.
  if (kind == Access::Kind::Accumulate)
    touch(*index, Access::Kind::Read);
  touch(*index, Access::Kind::Write);
}

void AccessCollector::read(const Expression &expression) {
  forEachRead(expression, surroundings_.resolve, [&](const VariableRead &read) {
    if (read.cells)
      touch(*read.cells, Access::Kind::Read);
    else if (read.isOfCells)
      accesses[read.name].push_back(
          {Access::Kind::Read, read.place, true, {}, isUnchecked_ && isConditional_});
  });
}

void AccessCollector::collect(StatementList body) {
  for (const Statement *statement : body) {
    StatementParts parts = partsOf(*statement);
    for (const Expression *value : parts.values)
      read(*value);
    const auto *assignment = dyn_cast<AssignStatement>(statement);
    bool isSum = assignment && assignment->op() == AssignOperator::Accumulate;
    for (const Expression *target : parts.targets)
      write(*target, isSum ? Access::Kind::Accumulate : Access::Kind::Write);
    if (const auto *loop = dyn_cast<ForStatement>(statement)) {
      collectLoop(*loop);
      continue;
    }
    bool wasConditional = isConditional_;
    isConditional_ = isUnchecked_;
    for (StatementList inner : parts.bodies)
      collect(inner);
    isConditional_ = wasConditional;
  }
}

bool mayMeet(const AccessedPositions &a, const AccessedPositions &b, const IndexSpace &space) {
  auto outside = [&](const AccessedPositions &range, const AccessedPositions &other) {
    if (!range.range)
      return false;
    auto [first, last] = *range.range;
    if (other.range)
      return other.range->second < first || other.range->first > last;
    if (!other.single)
      return false;
    // Interval of the other subscript over the bounds of its indices: disjoint from the range?
    double low = other.single->constant, high = low;
    for (const auto &[name, factor] : other.single->terms) {
      auto bounds = space.bounds.find(name);
      if (bounds == space.bounds.end() || !bounds->second.first)
        return false;
      double atFirst = factor * *bounds->second.first, atLast = factor * *bounds->second.last;
      low += std::min(atFirst, atLast);
      high += std::max(atFirst, atLast);
    }
    return high < first || low > last;
  };
  if (a.single && b.single)
    return mayMeet(*a.single, *b.single, space);
  return !outside(a, b) && !outside(b, a);
}

bool mayMeet(const Access &a, const Access &b, const IndexSpace &space) {
  if (a.isWhole || b.isWhole)
    return true;
  // X[i] is a whole row, so its columns overlap with any.
  size_t dimensions = std::min(a.positions.size(), b.positions.size());
  for (size_t dimension = 0; dimension < dimensions; ++dimension)
    if (!mayMeet(a.positions[dimension], b.positions[dimension], space))
      return false;
  return true;
}

// Unsets `isIndependent` where there is neither a conflict nor a proof that there is none.
std::optional<ParforConflict>
conflictOf(const std::string &name, const std::vector<Access> &accesses, const IndexSpace &space,
           const ParforSurroundings &surroundings, bool &isIndependent) {
  auto isWrite = [](const Access &access) { return access.isWrite(); };
  auto isWholeWrite = [](const Access &access) { return access.isWrite() && access.isWhole; };
  if (llvm::none_of(accesses, isWrite))
    return std::nullopt;
  if (!surroundings.isDefined(name)) {
    // Private to each iteration, unless it is live after the loop.
    if (!surroundings.isNeededAfter(name))
      return std::nullopt;
    return ParforConflict{
        llvm::find_if(accesses, isWrite)->place,
        "'" + name + "' is private to each iteration of this parfor, but it is read after the loop",
        {},
        ""};
  }
  bool isSum = surroundings.isMatrix(name) && llvm::all_of(accesses, [](const Access &access) {
                 return access.kind == Access::Kind::Accumulate;
               });
  if (isSum)
    return std::nullopt;
  if (auto whole = llvm::find_if(accesses, isWholeWrite); whole != accesses.end())
    return ParforConflict{whole->place,
                          "every iteration of this parfor assigns '" + name +
                              "', which is defined before the loop",
                          {},
                          ""};
  for (const Access &first : llvm::make_filter_range(accesses, isWrite))
    for (const Access &second : accesses) {
      if (!mayMeet(first, second, space))
        continue;
      if (first.isUncertain || second.isUncertain) {
        isIndependent = false;
        continue;
      }
      return ParforConflict{first.place,
                            "iterations of this parfor depend on each other: cells of '" + name +
                                "' written here",
                            second.place,
                            std::string("may be ") + (second.isWrite() ? "written" : "read") +
                                " here by another iteration"};
    }
  return std::nullopt;
}

} // namespace

ParforConflicts findParforConflicts(const ForStatement &loop,
                                    const ParforSurroundings &surroundings) {
  AccessCollector collector(loop, surroundings);
  ParforConflicts conflicts;
  for (const auto &[name, accesses] : collector.accesses)
    if (!collector.loopVariables.contains(name))
      if (auto conflict =
              conflictOf(name, accesses, collector.space, surroundings, conflicts.isIndependent))
        conflicts.found.push_back(std::move(*conflict));
  return conflicts;
}

} // namespace tokamak::frontend
