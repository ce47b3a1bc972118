#include "frontend/dml/ParforDependencies.h"

#include "frontend/dml/LinearSubscript.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

namespace tokamak::frontend {

using llvm::cast;
using llvm::dyn_cast;

namespace {

// The positions that an access touches in one dimension: a single one, a range, or, if neither is
// set, any position.
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

  bool isWrite() const { return kind != Kind::Read; }
};

// Collects the accesses of a loop's body, grouped by variable.
class AccessCollector {
public:
  AccessCollector(const ForStatement &loop, const ParforSurroundings &surroundings)
      : surroundings_(surroundings) {
    collectAssigned(loop.body());
    space.tested = loop.variable();
    enterLoop(loop);
    collect(loop.body());
  }

  std::map<std::string, std::vector<Access>> accesses;
  IndexSpace space;

private:
  void collectAssigned(StatementList body);
  void enterLoop(const ForStatement &loop);
  void collect(StatementList body);
  void collect(const Statement &statement);
  void read(const Expression *expression);
  void write(const Expression &target, Access::Kind kind);
  void touch(const IndexExpression &expression, Access::Kind kind);
  std::optional<LinearForm> linear(const Expression &expression) const;
  std::optional<LinearForm> linearName(const std::string &name) const;

  const ParforSurroundings &surroundings_;
  std::set<std::string> assigned_; // whole variables that the body assigns, without loop indices
};

void AccessCollector::collectAssigned(StatementList body) {
  auto target = [&](const Expression &expression) {
    if (const auto *name = dyn_cast<NameExpression>(&expression))
      assigned_.insert(name->name());
  };
  for (const Statement *statement : body) {
    if (const auto *assignment = dyn_cast<AssignStatement>(statement)) {
      target(assignment->target());
    } else if (const auto *several = dyn_cast<MultiAssignStatement>(statement)) {
      for (const Expression *expression : several->targets())
        target(*expression);
    } else if (const auto *ifdef = dyn_cast<IfdefStatement>(statement)) {
      target(ifdef->target());
    } else if (const auto *branch = dyn_cast<IfStatement>(statement)) {
      collectAssigned(branch->thenBody());
      collectAssigned(branch->elseBody());
    } else if (const auto *loop = dyn_cast<WhileStatement>(statement)) {
      collectAssigned(loop->body());
    } else if (const auto *loop = dyn_cast<ForStatement>(statement)) {
      collectAssigned(loop->body());
    }
  }
}

void AccessCollector::enterLoop(const ForStatement &loop) {
  const IterationRange &iteration = loop.iteration();
  IndexBounds bounds;
  auto constant = [&](const Expression &expression) -> std::optional<double> {
    std::optional<LinearForm> form = linear(expression);
    return form && form->isConstant() ? std::optional(form->constant) : std::nullopt;
  };
  std::optional<double> from = constant(*iteration.from), to = constant(*iteration.to);
  if (from && to)
    bounds = {std::min(*from, *to), std::max(*from, *to)};
  // Two loops use the same index name: its bounds are unknown.
  auto [entry, isNew] = space.bounds.try_emplace(loop.variable(), bounds);
  if (!isNew)
    entry->second = {};
}

std::optional<LinearForm> AccessCollector::linearName(const std::string &name) const {
  bool isIndex = space.bounds.contains(name);
  if (assigned_.contains(name))
    return std::nullopt;
  if (!isIndex)
    if (std::optional<double> value = surroundings_.constant(name))
      return LinearForm::of(*value);
  return LinearForm::of(name);
}

std::optional<LinearForm> AccessCollector::linear(const Expression &expression) const {
  if (const auto *integer = dyn_cast<IntegerLiteral>(&expression))
    return LinearForm::of(static_cast<double>(integer->value()));
  if (const auto *number = dyn_cast<DoubleLiteral>(&expression))
    return LinearForm::of(number->value());
  if (const auto *name = dyn_cast<NameExpression>(&expression))
    return linearName(name->name());
  if (const auto *call = dyn_cast<CallExpression>(&expression)) {
    bool isSize = call->callee() == "nrow" || call->callee() == "ncol";
    const auto *name = isSize && call->arguments().size() == 1
                           ? dyn_cast<NameExpression>(call->arguments().front().value)
                           : nullptr;
    if (!name || assigned_.contains(name->name()))
      return std::nullopt;
    return LinearForm::of(call->callee() + "(" + name->name() + ")");
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

void AccessCollector::touch(const IndexExpression &expression, Access::Kind kind) {
  Access access{kind, expression.nameRange(), false, {}};
  for (const IndexDimension &dimension : expression.dimensions()) {
    AccessedPositions positions;
    if (dimension.isSingle()) {
      positions.single = linear(*dimension.lower);
    } else if (dimension.isRange()) {
      auto lower = linear(*dimension.lower), upper = linear(*dimension.upper);
      if (lower && upper && lower->isConstant() && upper->isConstant())
        positions.range = {std::floor(lower->constant), std::floor(upper->constant)};
    }
    access.positions.push_back(std::move(positions));
    read(dimension.lower);
    read(dimension.upper);
  }
  accesses[expression.name()].push_back(std::move(access));
}

void AccessCollector::write(const Expression &target, Access::Kind kind) {
  if (const auto *index = dyn_cast<IndexExpression>(&target)) {
    // `+=` to cells reads and writes them.
    if (kind == Access::Kind::Accumulate)
      touch(*index, Access::Kind::Read);
    return touch(*index, Access::Kind::Write);
  }
  accesses[cast<NameExpression>(target).name()].push_back({kind, target.range(), true, {}});
}

void AccessCollector::read(const Expression *expression) {
  if (!expression)
    return;
  if (const auto *name = dyn_cast<NameExpression>(expression)) {
    accesses[name->name()].push_back({Access::Kind::Read, name->range(), true, {}});
  } else if (const auto *index = dyn_cast<IndexExpression>(expression)) {
    touch(*index, Access::Kind::Read);
  } else if (const auto *call = dyn_cast<CallExpression>(expression)) {
    static constexpr llvm::StringRef sizes[] = {"nrow", "ncol", "length"};
    bool isSize = llvm::is_contained(sizes, call->callee());
    for (const CallArgument &argument : call->arguments())
      if (!isSize || !llvm::isa<NameExpression>(argument.value))
        read(argument.value);
  } else if (const auto *unary = dyn_cast<UnaryExpression>(expression)) {
    read(&unary->operand());
  } else if (const auto *binary = dyn_cast<BinaryExpression>(expression)) {
    read(&binary->left());
    read(&binary->right());
  } else if (const auto *list = dyn_cast<ListExpression>(expression)) {
    for (const Expression *element : list->elements())
      read(element);
  }
}

void AccessCollector::collect(StatementList body) {
  for (const Statement *statement : body)
    collect(*statement);
}

void AccessCollector::collect(const Statement &statement) {
  if (const auto *assignment = dyn_cast<AssignStatement>(&statement)) {
    bool isSum = assignment->op() == AssignOperator::Accumulate;
    read(&assignment->value());
    write(assignment->target(), isSum ? Access::Kind::Accumulate : Access::Kind::Write);
  } else if (const auto *several = dyn_cast<MultiAssignStatement>(&statement)) {
    read(&several->call());
    for (const Expression *target : several->targets())
      write(*target, Access::Kind::Write);
  } else if (const auto *call = dyn_cast<CallStatement>(&statement)) {
    read(&call->call());
  } else if (const auto *ifdef = dyn_cast<IfdefStatement>(&statement)) {
    read(&ifdef->fallback());
    write(ifdef->target(), Access::Kind::Write);
  } else if (const auto *branch = dyn_cast<IfStatement>(&statement)) {
    read(&branch->predicate());
    collect(branch->thenBody());
    collect(branch->elseBody());
  } else if (const auto *loop = dyn_cast<WhileStatement>(&statement)) {
    read(&loop->predicate());
    collect(loop->body());
  } else if (const auto *loop = dyn_cast<ForStatement>(&statement)) {
    for (const Expression *bound :
         {loop->iteration().from, loop->iteration().to, loop->iteration().increment})
      read(bound);
    enterLoop(*loop);
    if (!surroundings_.isUnchecked(*loop))
      collect(loop->body());
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

std::optional<ParforConflict> conflictOf(const std::string &name,
                                         const std::vector<Access> &accesses,
                                         const IndexSpace &space,
                                         const ParforSurroundings &surroundings) {
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
    for (const Access &second : accesses)
      if (mayMeet(first, second, space))
        return ParforConflict{first.place,
                              "iterations of this parfor depend on each other: cells of '" + name +
                                  "' written here",
                              second.place,
                              std::string("may be ") + (second.isWrite() ? "written" : "read") +
                                  " here by another iteration"};
  return std::nullopt;
}

} // namespace

std::vector<ParforConflict> findParforConflicts(const ForStatement &loop,
                                                const ParforSurroundings &surroundings) {
  AccessCollector collector(loop, surroundings);
  std::vector<ParforConflict> conflicts;
  for (const auto &[name, accesses] : collector.accesses)
    if (!collector.space.bounds.contains(name))
      if (auto conflict = conflictOf(name, accesses, collector.space, surroundings))
        conflicts.push_back(std::move(*conflict));
  return conflicts;
}

} // namespace tokamak::frontend
