// Generates random DML expressions of a given shape over the variables in scope.
//
//   Expressions expressions(random);
//   expressions.variables["x1"] = {matrix("x1", 3, 5), 9};
//   Expression e = expressions.matrixOf(3, 5, /*depth=*/4);   // "(x1 + exp((x2 / (1 + abs(x2)))))"
//
// The magnitude of cells is bounded, so that most results are meaningful numbers; NaN, infinities,
// huge and tiny numbers are added on purpose.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_EXPRESSIONS_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_EXPRESSIONS_H

#include "tokamak-fuzz/SyntaxTree.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tokamak::fuzz {

// A random number generator that gives the same numbers with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t upTo(int64_t count) { return static_cast<int64_t>(engine_() % count); } // 0..count-1
  int64_t between(int64_t low, int64_t high) { return low + upTo(high - low + 1); }
  bool chance(double probability) {
    return static_cast<double>(engine_() >> 11) < probability * 0x1p53;
  }
  template <typename T> const T &choose(const std::vector<T> &of) { return of[upTo(of.size())]; }
  template <typename T> T choose(std::initializer_list<T> of) {
    return *(of.begin() + upTo(of.size()));
  }

private:
  std::mt19937_64 engine_;
};

// A size. A negative number stands for a size known only at run time, equal only to itself.
using Dimension = int64_t;

struct Expression {
  Node node;
  double size = 1; // upper bound on the magnitude of finite cells
  bool isScalar() const { return node.kind == Node::Kind::Scalar; }
};

class Expressions {
public:
  explicit Expressions(Random &random) : random_(random) {}

  Expression matrixOf(Dimension rows, Dimension columns, int depth);
  Expression scalarOf(int depth);
  Expression leaf(Dimension rows, Dimension columns);
  // The magnitude of cells is at most `size`, except for NaN and infinities.
  Expression boundedMatrix(Dimension rows, Dimension columns, int depth, double size);
  Expression boundedScalar(int depth, double size);
  // An expression of x's shape that always reads x; at most `size`.
  Expression over(const Expression &x, int depth, double size);
  // A matrix with few non-zero cells.
  Expression sparse(Dimension rows, Dimension columns);
  // A sparse matrix divided by a matrix with many zeros.
  Expression quotient(const Expression &s, int depth);
  // A number of rows or columns that depends on cells.
  Expression dataSize(int depth);
  // A small integer.
  Expression number();
  Node dimension(Dimension dimension);
  int64_t most(Dimension dimension) const;
  Dimension unknown(int64_t most);
  Dimension inner() { return random_.choose(sizes); }

  std::map<std::string, Expression> variables;
  std::vector<Dimension> sizes = {1, 2, 3, 5};           // the sizes that shapes are made of
  std::map<int64_t, std::vector<std::string>> sizeNames; // variables that hold a size

private:
  using Attempt = std::optional<Expression>;
  using Maker = Attempt (Expressions::*)(Dimension, Dimension, int);
  Attempt attempt(Dimension rows, Dimension columns, int depth);
  Attempt pickVariable(Dimension rows, Dimension columns);
  Expression combined(Expression a, Expression b, Dimension rows, Dimension columns);
  Expression squashed(Expression x, double size);
  Expression withSpecials(Expression x);

  Attempt unary(Dimension rows, Dimension columns, int depth);
  Attempt binary(Dimension rows, Dimension columns, int depth);
  Attempt broadcast(Dimension rows, Dimension columns, int depth);
  Attempt scaled(Dimension rows, Dimension columns, int depth);
  Attempt choice(Dimension rows, Dimension columns, int depth);
  Attempt replaced(Dimension rows, Dimension columns, int depth);
  Attempt bits(Dimension rows, Dimension columns, int depth);
  Attempt sparseQuotient(Dimension rows, Dimension columns, int depth);
  Attempt idiom(Dimension rows, Dimension columns, int depth);
  Attempt vectorIdiom(Dimension rows, Dimension columns, int depth);
  Attempt contraction(Dimension rows, Dimension columns, int depth);
  Attempt chain(Dimension rows, Dimension columns, int depth);
  Attempt gradient(Dimension rows, Dimension columns, int depth);
  Attempt sampledProduct(Dimension rows, Dimension columns, int depth);
  Attempt softmax(Dimension rows, Dimension columns, int depth);
  Attempt rowPattern(Dimension rows, Dimension columns, int depth);
  Attempt rowAggregate(Dimension rows, Dimension columns, int depth);
  Attempt columnAggregate(Dimension rows, Dimension columns, int depth);
  Attempt rowIndex(Dimension rows, Dimension columns, int depth);
  Attempt scan(Dimension rows, Dimension columns, int depth);
  Attempt reorganised(Dimension rows, Dimension columns, int depth);
  Attempt triangle(Dimension rows, Dimension columns, int depth);
  Attempt diagonal(Dimension rows, Dimension columns, int depth);
  Attempt ordered(Dimension rows, Dimension columns, int depth);
  Attempt piece(Dimension rows, Dimension columns, int depth);
  Attempt bound(Dimension rows, Dimension columns, int depth);
  Attempt reshaped(Dimension rows, Dimension columns, int depth);
  Attempt counted(Dimension rows, Dimension columns, int depth);
  Attempt outer(Dimension rows, Dimension columns, int depth);
  Attempt solved(Dimension rows, Dimension columns, int depth);
  Attempt aggregate(Expression x, int64_t count, const std::string &prefix, Dimension rows,
                    Dimension columns);
  Attempt fullAggregate(int depth);
  Attempt countOfSpecials(int depth);
  Attempt aggregateIdiom(int depth);
  Attempt statistic(int depth);
  bool fits(Dimension rows, Dimension columns) const;

  Random &random_;
  std::vector<int64_t> unknowns_; // the upper bound of each unknown size
};

} // namespace tokamak::fuzz
#endif
