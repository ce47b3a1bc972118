#include "fusion/select/Patterns.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

//===- the language of patterns --------------------------------------------------------------===//

namespace {

// An expression with unknowns. Arrays that a cell operator combines have the shape of its result.
struct Term {
  enum class Kind : uint8_t {
    Array,   // any array; the same one, or its transpose, wherever the name stands
    Column,  // an array of one column
    Scalar,  // no array
    Number,  // a constant
    Unary,   // one of the operators
    Binary,  // in both orders if it is commutative
    Product, // of matrices
    Outer,   // a product with several rows and columns
    Aggregate,
  };
  Kind kind;
  StringRef name = {};
  bool isTransposed = false;
  double number = 0;
  SmallVector<UnaryOperator, 1> unary = {};
  BinaryOperator binary = {};
  AggregateKind aggregate = {};
  SmallVector<AggregateDirection, 1> directions = {};
  std::vector<Term> operands = {};
};

Term array(StringRef name) { return {.kind = Term::Kind::Array, .name = name}; }
Term column(StringRef name) { return {.kind = Term::Kind::Column, .name = name}; }
Term scalar(StringRef name) { return {.kind = Term::Kind::Scalar, .name = name}; }
Term number(double value) { return {.kind = Term::Kind::Number, .number = value}; }

Term unary(ArrayRef<UnaryOperator> operators, Term x) {
  return {.kind = Term::Kind::Unary,
          .unary = SmallVector<UnaryOperator, 1>(operators),
          .operands = {std::move(x)}};
}
Term binary(BinaryOperator kind, Term a, Term b) {
  return {.kind = Term::Kind::Binary, .binary = kind, .operands = {std::move(a), std::move(b)}};
}
Term operator+(Term a, Term b) { return binary(BinaryOperator::Add, std::move(a), std::move(b)); }
Term operator-(Term a, Term b) { return binary(BinaryOperator::Sub, std::move(a), std::move(b)); }
Term operator*(Term a, Term b) { return binary(BinaryOperator::Mul, std::move(a), std::move(b)); }
Term operator/(Term a, Term b) { return binary(BinaryOperator::Div, std::move(a), std::move(b)); }
Term operator-(Term x) { return unary(UnaryOperator::Neg, std::move(x)); }
Term square(Term x) { return binary(BinaryOperator::Pow, std::move(x), number(2)); }
Term isNotZero(Term x) { return binary(BinaryOperator::Ne, std::move(x), number(0)); }
Term log(Term x) { return unary(UnaryOperator::Log, std::move(x)); }
Term sigmoid(Term x) { return unary(UnaryOperator::Sigmoid, std::move(x)); }
Term logistic(Term x) { // the sigmoid as scripts spell it out
  return number(1) / (number(1) + unary(UnaryOperator::Exp, std::move(x)));
}
Term product(Term a, Term b) {
  return {.kind = Term::Kind::Product, .operands = {std::move(a), std::move(b)}};
}
Term outer(Term a, Term b) {
  return {.kind = Term::Kind::Outer, .operands = {std::move(a), std::move(b)}};
}
Term t(Term named) {
  named.isTransposed = true;
  return named;
}
Term sum(Term x, ArrayRef<AggregateDirection> directions = AggregateDirection::Full) {
  return {.kind = Term::Kind::Aggregate,
          .aggregate = AggregateKind::Sum,
          .directions = SmallVector<AggregateDirection, 1>(directions),
          .operands = {std::move(x)}};
}

struct NamedTerm {
  StringRef name;
  Term term;
};

// Those that hold more come first.
std::vector<NamedTerm> makePatterns() {
  using enum AggregateDirection;
  Term W = array("W"), X = array("X"), Y = array("Y"), Z = array("Z"), U = array("U"),
       V = array("V");
  Term v = column("v"), w = column("w"), s = scalar("s");
  Term UV = outer(U, t(V));
  // U %*% t(V) + 1e-15, or without.
  Term shifted = UV + s;
  constexpr UnaryOperator functions[] = {
      UnaryOperator::Abs, UnaryOperator::Round,  UnaryOperator::Ceil, UnaryOperator::Floor,
      UnaryOperator::Exp, UnaryOperator::Log,    UnaryOperator::Sqrt, UnaryOperator::Sin,
      UnaryOperator::Cos, UnaryOperator::Sigmoid};
  std::vector<NamedTerm> patterns;
  auto add = [&](StringRef name, std::initializer_list<Term> terms) {
    for (const Term &term : terms)
      patterns.push_back({name, term});
  };
  add("chain of products", {product(t(X), w * product(X, v)), product(t(X), product(X, v) - w),
                            product(t(X), product(X, v))});
  add("weighted squared loss",
      {sum(isNotZero(X) * square(X - UV)), sum(isNotZero(X) * square(UV - X)),
       sum(W * square(X - UV)), sum(W * square(UV - X)), sum(square(X - W * UV)),
       sum(square(W * UV - X)), sum(square(X - UV)), sum(square(UV - X))});
  add("weighted cross-entropy", {sum(X * log(shifted)), sum(X * log(UV))});
  add("weighted division",
      {product(t(U), X / shifted), product(t(U), X / UV), product(X / shifted, V),
       product(X / UV, V), product(t(U), W * (UV - X)), product(W * (UV - X), V),
       product(t(U), W * shifted), product(W * shifted, V), product(t(U), W * UV),
       product(W * UV, V)});
  add("weighted sigmoid",
      {W * log(sigmoid(UV)), W * log(sigmoid(-UV)), W * log(logistic(-UV)), W * log(logistic(UV)),
       W * sigmoid(UV), W * sigmoid(-UV), W * logistic(-UV), W * logistic(UV)});
  add("weighted function", {W * unary(functions, UV), W / unary(functions, UV), W * square(UV)});
  add("weighted product", {W * (UV - X), X / shifted, X / UV, W * shifted, W * UV});
  add("sum of products", {sum(X * Y * Z, {Full, Column}), sum(X * Y, {Full, Column})});
  add("sum of squares", {sum(square(X), {Full, Row, Column})});
  add("logistic function", {logistic(-X)});
  add("derivative of the logistic function", {X * (number(1) - X)});
  add("1 - X * Y", {number(1) - X * Y});
  add("multiple added", {X + s * Y, X - s * Y});
  return patterns;
}

//===- matching ------------------------------------------------------------------------------===//

// Matches one term at one value. `inside` are the operations of cells and products that it takes.
class Matcher {
public:
  explicit Matcher(const BlockGraph &graph) : graph_(graph) {}

  bool match(const Term &term, Value value) {
    Operation *operation = value.getDefiningOp();
    switch (term.kind) {
    case Term::Kind::Array:
      return tok::isArray(value.getType()) && isBound(term, value);
    case Term::Kind::Column:
      return tok::isArray(value.getType()) && graph_.shapeOf(value).hasOneColumn() &&
             isBound(term, value);
    case Term::Kind::Scalar:
      return !tok::isArray(value.getType());
    case Term::Kind::Number:
      return !tok::isArray(value.getType()) &&
             graph_.facts().everywhere(value).constant() == term.number;
    case Term::Kind::Unary: {
      auto unary = dyn_cast_or_null<tok::UnaryOp>(operation);
      return unary && llvm::is_contained(term.unary, unary.getKind()) && take(term, operation);
    }
    case Term::Kind::Binary: {
      auto binary = dyn_cast_or_null<tok::BinaryOp>(operation);
      return binary && binary.getKind() == term.binary && take(term, operation);
    }
    case Term::Kind::Product:
      return isa_and_nonnull<tok::MatmulOp>(operation) && take(term, operation);
    case Term::Kind::Outer: {
      const Shape &shape = graph_.shapeOf(value);
      return isa_and_nonnull<tok::MatmulOp>(operation) && !shape.hasOneRow() &&
             !shape.hasOneColumn() && take(term, operation);
    }
    case Term::Kind::Aggregate: {
      auto aggregate = dyn_cast_or_null<tok::AggregateOp>(operation);
      return aggregate && aggregate.getKind() == term.aggregate &&
             llvm::is_contained(term.directions, aggregate.getDirection()) && take(term, operation);
    }
    }
    llvm_unreachable("a kind without a case");
  }

  ArrayRef<Operation *> operations() const { return operations_; }

private:
  // Transpositions are no operations of an operator: what reads them reads by columns.
  bool isBound(const Term &term, Value value) {
    bool isTransposed = term.isTransposed;
    while (auto transpose = value.getDefiningOp<tok::TransposeOp>()) {
      value = transpose.getOperand();
      isTransposed = !isTransposed;
    }
    std::pair meant(value, isTransposed);
    return bound_.try_emplace(term.name, meant).first->second == meant;
  }

  // Matches the operands of an operation; if it combines cells in any order, also the other way round.
  bool take(const Term &term, Operation *operation) {
    if (term.kind == Term::Kind::Binary || term.kind == Term::Kind::Unary)
      for (Value operand : operation->getOperands())
        if (tok::isArray(operand.getType()) &&
            graph_.shapeOf(operand) != graph_.shapeOf(operation->getResult(0)))
          return false;
    llvm::StringMap<std::pair<Value, bool>> boundBefore = bound_;
    size_t operationsBefore = operations_.size();
    auto matches = [&](bool swapped) {
      operations_.push_back(operation);
      for (auto [index, operand] : llvm::enumerate(term.operands))
        if (!match(operand, operation->getOperand(swapped ? 1 - index : index)))
          return false;
      return true;
    };
    if (matches(false))
      return true;
    bool isCommutative = term.kind == Term::Kind::Binary &&
                         (term.binary == BinaryOperator::Add || term.binary == BinaryOperator::Mul);
    operations_.truncate(operationsBefore);
    bound_ = std::move(boundBefore);
    return isCommutative && matches(true);
  }

  const BlockGraph &graph_;
  llvm::StringMap<std::pair<Value, bool>> bound_;
  SmallVector<Operation *> operations_; // the root first
};

} // namespace

std::vector<PatternMatch> fusion::matchPatterns(const BlockGraph &graph) {
  static const std::vector<NamedTerm> patterns = makePatterns();
  llvm::DenseMap<Operation *, int> indices;
  for (int index : graph.nodes())
    indices[graph[index].operation] = index;
  BitVector taken(graph.size());
  // The operations below the root as nodes, if the operator can have them for itself.
  auto insideOf = [&](ArrayRef<Operation *> operations) -> std::optional<SmallVector<int>> {
    SmallVector<int> inside;
    for (Operation *operation : operations.drop_front()) {
      auto found = indices.find(operation);
      if (found == indices.end() || taken[found->second] || graph[found->second].leavesBlock ||
          graph.consumers(found->second) > 1)
        return std::nullopt;
      inside.push_back(found->second);
    }
    return inside;
  };
  std::vector<PatternMatch> matches;
  for (int root : llvm::reverse(graph.nodes())) {
    if (taken[root])
      continue;
    for (const NamedTerm &pattern : patterns) {
      Matcher matcher(graph);
      if (!matcher.match(pattern.term, graph[root].result()))
        continue;
      std::optional<SmallVector<int>> inside = insideOf(matcher.operations());
      if (!inside)
        continue;
      taken.set(root);
      for (int node : *inside)
        taken.set(node);
      matches.push_back({pattern.name, root, std::move(*inside)});
      break;
    }
  }
  return matches;
}

BitVector fusion::storedOutsidePatterns(const BlockGraph &graph) {
  BitVector stored(graph.size(), true);
  for (const PatternMatch &match : matchPatterns(graph))
    for (int node : match.inside)
      stored.reset(node);
  return stored;
}
