// The expressions that give a matrix of a given shape.
#include "tokamak-fuzz/Expressions.h"

#include <algorithm>
#include <cmath>

namespace tokamak::fuzz {

using Attempt = std::optional<Expression>;

static Expression made(const std::string &pattern, Dimension rows, Dimension columns, double size,
                       std::vector<Node> children) {
  return {matrix(pattern, rows, columns, std::move(children)), size};
}

//===- cell by cell ---------------------------------------------------------------------------===//

namespace {
// A function, the bound on its operand's magnitude, and that on its result.
struct Function {
  const char *pattern;
  double operand, result;
};
constexpr Function functions[] = {
    {"exp(@)", 6, 404},
    {"sinh(@)", 6, 202},
    {"cosh(@)", 6, 202},
    {"tan(@)", 1, 1.6},
    {"asin((@ * 0.9))", 1, 2},
    {"acos((@ * 0.9))", 1, 3},
    {"sin(@)", 1e4, 1},
    {"cos(@)", 1e4, 1},
    {"tanh(@)", 1e6, 1},
    {"atan(@)", 1e6, 1.6},
    {"sigmoid(@)", 1e6, 1},
    {"log((abs(@) + 0.5))", 1e6, 15},
    {"sqrt(@)", 1e6, 1e3},
    {"(2 ^ @)", 6, 64},
    {"((abs(@) + 0.5) ^ 0.3)", 1e6, 64},
    {"(@ ^ 3)", 40, 64000},
    {"(-@)", 1e6, 1e6},
    {"abs(@)", 1e6, 1e6},
    {"sign(@)", 1e6, 1},
    {"round(@)", 1e6, 1e6},
    {"floor(@)", 1e6, 1e6},
    {"ceil(@)", 1e6, 1e6},
    {"(!@)", 1e6, 1},
    {"is.nan(@)", 1e6, 1},
    {"(@ ^ 2)", 1e3, 1e6},
    {"(@ ^ 2)", 1e3, 1e6},
    {"is.infinite(@)", 1e6, 1},
    {"log(@)", 1e6, 800},
    {"((abs(@) + 0.5) ^ (-1.5))", 1e6, 3},
    {"(replace(target=@, pattern=0, replacement=NaN) != 1)", 1e6, 1},
    {"(replace(target=@, pattern=0, replacement=NaN) == 1)", 1e6, 1},
    {"(replace(target=@, pattern=1, replacement=Inf) > 1)", 1e6, 1},
};
} // namespace

Attempt Expressions::unary(Dimension rows, Dimension columns, int depth) {
  const Function &function = functions[random_.upTo(std::size(functions))];
  Expression x = boundedMatrix(rows, columns, depth, function.operand);
  return made(function.pattern, rows, columns, std::min(function.result, std::max(x.size, 800.0)),
              {x.node});
}

Attempt Expressions::binary(Dimension rows, Dimension columns, int depth) {
  return combined(matrixOf(rows, columns, depth), matrixOf(rows, columns, depth), rows, columns);
}

Attempt Expressions::broadcast(Dimension rows, Dimension columns, int depth) {
  Expression x = matrixOf(rows, columns, depth);
  Expression vector = random_.chance(0.5) ? matrixOf(rows, 1, depth) : matrixOf(1, columns, depth);
  return random_.chance(0.6) ? combined(x, vector, rows, columns)
                             : combined(vector, x, rows, columns);
}

Attempt Expressions::scaled(Dimension rows, Dimension columns, int depth) {
  Expression x = matrixOf(rows, columns, depth), s = scalarOf(depth);
  return random_.chance(0.5) ? combined(x, s, rows, columns) : combined(s, x, rows, columns);
}

Attempt Expressions::choice(Dimension rows, Dimension columns, int depth) {
  auto operand = [&] {
    return random_.chance(0.3) ? scalarOf(depth) : matrixOf(rows, columns, depth);
  };
  Expression test = matrixOf(rows, columns, depth), yes = operand(), no = operand();
  // A vector as one of the three.
  if (random_.chance(0.3)) {
    Expression vector =
        random_.chance(0.5) ? matrixOf(rows, 1, depth) : matrixOf(1, columns, depth);
    bool isTest = random_.chance(0.3) && !(yes.isScalar() && no.isScalar());
    (isTest ? test : random_.chance(0.5) ? yes : no) = std::move(vector);
  }
  return made("ifelse(@, @, @)", rows, columns, std::max(yes.size, no.size),
              {test.node, yes.node, no.node});
}

Attempt Expressions::replaced(Dimension rows, Dimension columns, int depth) {
  Expression x = matrixOf(rows, columns, depth), by = number();
  std::string pattern = random_.choose<std::string>({"NaN", "0", "1", "Inf"});
  return made("replace(target=@, pattern=" + pattern + ", replacement=@)", rows, columns,
              std::max(x.size, by.size), {x.node, by.node});
}

Attempt Expressions::bits(Dimension rows, Dimension columns, int depth) {
  Expression x = boundedMatrix(rows, columns, depth, 1000);
  if (random_.chance(0.4)) {
    // Shift right by any distance, of which only six bits count; shift left only a little, to keep
    // results small.
    bool isLeft = random_.chance(0.5);
    std::string pattern =
        isLeft ? "bitwShiftL(round(@), (abs(round(@)) %% 10))" : "bitwShiftR(round(@), round(@))";
    Expression distance =
        random_.chance(0.5) ? boundedMatrix(rows, columns, 0, 100) : boundedScalar(0, 100);
    return made(pattern, rows, columns, isLeft ? 512'000 : 1000, {x.node, distance.node});
  }
  std::string name = random_.choose<std::string>({"bitwAnd", "bitwOr", "bitwXor"});
  Expression y = boundedMatrix(rows, columns, 0, 1000);
  return made(name + "(round(@), round(@))", rows, columns, 2048, {x.node, y.node});
}

//===- products -------------------------------------------------------------------------------===//

Attempt Expressions::contraction(Dimension rows, Dimension columns, int depth) {
  Dimension k = inner();
  if (most(rows) * most(columns) * most(k) > 400'000 || !fits(rows, k) || !fits(k, columns))
    return std::nullopt;
  auto size = [&](const Expression &x, const Expression &y) {
    return x.size * y.size * std::max<int64_t>(1, most(k));
  };
  if (rows == columns && random_.chance(0.5)) {
    Expression x = matrixOf(k, rows, depth);
    return made("(t(@) %*% @)", rows, rows, size(x, x), {x.node, x.node});
  }
  auto factor = [&](Dimension r, Dimension c) {
    if (!random_.chance(0.3))
      return matrixOf(r, c, depth);
    Expression x = matrixOf(c, r, depth);
    return made("t(@)", r, c, x.size, {x.node});
  };
  Expression x = factor(rows, k), y = factor(k, columns);
  return made("(@ %*% @)", rows, columns, size(x, y), {x.node, y.node});
}

Attempt Expressions::chain(Dimension rows, Dimension columns, int depth) {
  Dimension k = inner(), l = inner();
  if (most(rows) * most(k) * most(l) > 400'000 || most(rows) * most(l) * most(columns) > 400'000 ||
      most(k) * most(l) * most(columns) > 400'000 || !fits(rows, k) || !fits(k, l) ||
      !fits(l, columns))
    return std::nullopt;
  Expression x = boundedMatrix(rows, k, depth, 10), y = boundedMatrix(k, l, 0, 10),
             z = boundedMatrix(l, columns, depth, 10);
  double size = x.size * y.size * z.size * std::max<int64_t>(1, most(k) * most(l));
  return made("((@ %*% @) %*% @)", rows, columns, size, {x.node, y.node, z.node});
}

// t(X) %*% (w * (X %*% v)), with or without w.
Attempt Expressions::gradient(Dimension rows, Dimension columns, int depth) {
  Dimension n = inner();
  if (!fits(rows, n) || columns != 1)
    return std::nullopt;
  Expression x = matrixOf(n, rows, 0), v = matrixOf(rows, 1, depth);
  double size = x.size * v.size * std::max<int64_t>(1, most(rows));
  Expression weighted = made("(@ %*% @)", n, 1, size, {x.node, v.node});
  if (random_.chance(0.6))
    weighted = combined(matrixOf(n, 1, depth), weighted, n, 1);
  return made("(t(@) %*% @)", rows, 1, x.size * weighted.size * std::max<int64_t>(1, most(n)),
              {x.node, weighted.node});
}

// X combined with a product of two narrow matrices, sampled at the non-zeros of X.
Attempt Expressions::sampledProduct(Dimension rows, Dimension columns, int depth) {
  int64_t k = random_.choose({1, 2, 3, 8});
  Expression x = matrixOf(rows, columns, depth), u = boundedMatrix(rows, k, depth, 9),
             v = boundedMatrix(columns, k, 0, 9);
  double size = x.size * u.size * v.size * static_cast<double>(k);
  std::string pattern = random_.choose<std::string>(
      {"(@ * (@ %*% t(@)))", "((@ != 0) * (@ %*% t(@)))", "(@ * log((abs((@ %*% t(@))) + 0.5)))",
       "(@ / (1 + abs((@ %*% t(@)))))", "(@ - (@ %*% t(@)))"});
  return made(pattern, rows, columns, size + x.size, {x.node, u.node, v.node});
}

//===- aggregates -----------------------------------------------------------------------------===//

Attempt Expressions::softmax(Dimension rows, Dimension columns, int depth) {
  if (most(columns) == 0)
    return std::nullopt;
  Node x = boundedMatrix(rows, columns, depth, 50).node;
  if (!random_.chance(0.5))
    return made("(exp((@ - rowMaxs(@))) * 0.5)", rows, columns, 1, {x, x});
  Expression shares = made("(exp((@ - rowMaxs(@))) / rowSums(exp((@ - rowMaxs(@)))))", rows,
                           columns, 1, {x, x, x, x});
  if (most(columns) % 2 != 0 || !fits(columns, columns))
    return shares;
  Expression factor = boundedMatrix(columns, columns, 0, 10);
  return made("(@ %*% @)", rows, columns, factor.size, {shares.node, factor.node});
}

// X combined with an aggregate of its rows or columns.
Attempt Expressions::rowPattern(Dimension rows, Dimension columns, int depth) {
  Expression x = matrixOf(rows, columns, depth);
  bool byRow = random_.chance(0.5);
  int64_t count = most(byRow ? columns : rows);
  if (count == 0)
    return std::nullopt;
  auto line = byRow ? aggregate(x, count, "row", rows, 1) : aggregate(x, count, "col", 1, columns);
  return line ? Attempt(combined(x, *line, rows, columns)) : std::nullopt;
}

Attempt Expressions::aggregate(Expression x, int64_t count, const std::string &prefix,
                               Dimension rows, Dimension columns) {
  std::string name = random_.choose<std::string>(
      {"Sums", "Sums", "Sums", "Maxs", "Mins", "Means", "Vars", "Sds", "Prods"});
  double n = static_cast<double>(std::max<int64_t>(count, 1));
  if (name == "Prods") {
    Node copy = x.node;
    if (x.size > 1)
      x = made("(@ / (1 + abs(@)))", x.node.rows, x.node.columns, 1, {copy, copy});
  }
  double size = name == "Sums"   ? x.size * n
                : name == "Vars" ? 4 * x.size * x.size
                : name == "Sds"  ? 2 * x.size
                                 : x.size;
  return made(prefix + name + "(@)", rows, columns, size, {x.node});
}

Attempt Expressions::rowAggregate(Dimension rows, Dimension, int depth) {
  Dimension width = inner();
  if (!fits(rows, width))
    return std::nullopt;
  return aggregate(matrixOf(rows, width, depth), most(width), "row", rows, 1);
}

Attempt Expressions::columnAggregate(Dimension, Dimension columns, int depth) {
  Dimension height = inner();
  if (!fits(height, columns))
    return std::nullopt;
  return aggregate(matrixOf(height, columns, depth), most(height), "col", 1, columns);
}

Attempt Expressions::rowIndex(Dimension rows, Dimension, int depth) {
  Dimension width = inner();
  if (!fits(rows, width) || most(width) == 0)
    return std::nullopt;
  std::string name = random_.choose<std::string>({"rowIndexMax", "rowIndexMin"});
  return made(name + "(@)", rows, 1, static_cast<double>(most(width)),
              {matrixOf(rows, width, depth).node});
}

Attempt Expressions::scan(Dimension rows, Dimension columns, int depth) {
  std::string name =
      random_.choose<std::string>({"cumsum", "cumsum", "rowcumsum", "cummin", "cummax", "cumprod"});
  Expression x =
      name == "cumprod" ? boundedMatrix(rows, columns, depth, 1) : matrixOf(rows, columns, depth);
  double size = x.size;
  if (name.ends_with("sum"))
    size *= static_cast<double>(std::max<int64_t>(1, most(name == "cumsum" ? rows : columns)));
  return made(name + "(@)", rows, columns, size, {x.node});
}

//===- reorganisation -------------------------------------------------------------------------===//

Attempt Expressions::reorganised(Dimension rows, Dimension columns, int depth) {
  switch (random_.upTo(3)) {
  case 0: {
    Expression x = matrixOf(columns, rows, depth);
    return made("t(@)", rows, columns, x.size, {x.node});
  }
  case 1: {
    Expression x = matrixOf(rows, columns, depth);
    return made("rev(@)", rows, columns, x.size, {x.node});
  }
  default: {
    if (rows <= 0)
      return std::nullopt;
    Expression x = matrixOf(rows, columns, depth);
    return made("roll(@, " + std::to_string(random_.between(-2, 3)) + ")", rows, columns, x.size,
                {x.node});
  }
  }
}

Attempt Expressions::triangle(Dimension rows, Dimension columns, int depth) {
  Expression x = matrixOf(rows, columns, depth);
  auto flag = [&] { return random_.choose<std::string>({"TRUE", "FALSE"}); };
  std::string name = random_.choose<std::string>({"lower.tri", "upper.tri"});
  return made(name + "(target=@, diag=" + flag() + ", values=" + flag() + ")", rows, columns,
              std::max(1.0, x.size), {x.node});
}

Attempt Expressions::diagonal(Dimension rows, Dimension columns, int depth) {
  if (rows == columns && rows > 1) {
    Expression x = matrixOf(rows, 1, depth);
    return made("diag(@)", rows, columns, x.size, {x.node});
  }
  if (columns != 1 || rows == 1 || rows > 100)
    return std::nullopt;
  Expression x = matrixOf(rows, rows, depth);
  return made("diag(@)", rows, 1, x.size, {x.node});
}

Attempt Expressions::ordered(Dimension rows, Dimension columns, int depth) {
  Expression x = matrixOf(rows, columns, depth);
  std::string by = std::to_string(random_.between(1, columns));
  std::string decreasing = random_.choose<std::string>({"TRUE", "FALSE"});
  bool index = columns == 1 && random_.chance(0.4);
  return made("order(target=@, by=" + by + ", decreasing=" + decreasing +
                  ", index.return=" + (index ? "TRUE)" : "FALSE)"),
              rows, columns, index ? static_cast<double>(most(rows)) : x.size, {x.node});
}

Attempt Expressions::piece(Dimension rows, Dimension columns, int) {
  std::vector<const Expression *> larger;
  for (const auto &[name, variable] : variables)
    if (!variable.isScalar() && variable.node.rows >= rows && variable.node.columns >= columns)
      larger.push_back(&variable);
  if (larger.empty())
    return std::nullopt;
  const Expression &x = *random_.choose(larger);
  auto range = [&](int64_t length, int64_t whole) {
    if (length == whole && random_.chance(0.5))
      return text("");
    int64_t begin = 1 + random_.upTo(std::min<int64_t>(4, whole - length + 1));
    if (length == 1)
      return size(begin);
    return text("@:@", {size(begin), size(begin + length - 1)});
  };
  return made("@[@, @]", rows, columns, x.size,
              {x.node, range(rows, x.node.rows), range(columns, x.node.columns)});
}

Attempt Expressions::bound(Dimension rows, Dimension columns, int depth) {
  bool wide = random_.chance(0.5);
  int64_t cut = random_.between(0, wide ? columns : rows);
  Expression x = wide ? matrixOf(rows, cut, depth) : matrixOf(cut, columns, depth);
  Expression y = wide ? matrixOf(rows, columns - cut, depth) : matrixOf(rows - cut, columns, depth);
  return made(wide ? "cbind(@, @)" : "rbind(@, @)", rows, columns, std::max(x.size, y.size),
              {x.node, y.node});
}

Attempt Expressions::reshaped(Dimension rows, Dimension columns, int depth) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d < 9; ++d)
    if (rows * columns % d == 0)
      divisors.push_back(d);
  int64_t height = random_.choose(divisors);
  Expression x = matrixOf(height, rows * columns / height, depth);
  std::string order = random_.choose<std::string>({"", "", ", byrow=FALSE"});
  return made("matrix(@, @, @" + order + ")", rows, columns, x.size,
              {x.node, dimension(rows), dimension(columns)});
}

// A contingency table whose keys lie within the given shape.
Attempt Expressions::counted(Dimension rows, Dimension columns, int depth) {
  int64_t n = random_.choose({1, 5, 17});
  auto keys = [&](int64_t limit) {
    Expression x = boundedMatrix(n, 1, depth, 1e5);
    return matrix("replace(target=(1 + (abs(floor(@)) %% @)), pattern=NaN, replacement=1)", n, 1,
                  {x.node, size(limit)});
  };
  Node a = keys(rows), b = keys(columns);
  if (random_.chance(0.3)) {
    Expression weights = matrixOf(n, 1, 0);
    return made("table(@, @, @, @, @)", rows, columns, weights.size * static_cast<double>(n),
                {a, b, weights.node, size(rows), size(columns)});
  }
  return made("table(@, @, @, @)", rows, columns, static_cast<double>(n),
              {a, b, size(rows), size(columns)});
}

Attempt Expressions::outer(Dimension rows, Dimension columns, int depth) {
  Expression u = matrixOf(rows, 1, depth), v = matrixOf(1, columns, depth);
  std::string op = random_.choose<std::string>({"+", "-", "*", "min", "max", "<", "==", ">="});
  double size = op == "*" ? u.size * v.size : u.size + v.size;
  return made("outer(@, @, \"" + op + "\")", rows, columns, size, {u.node, v.node});
}

// The solution of a system whose matrix is far from singular.
Attempt Expressions::solved(Dimension rows, Dimension columns, int depth) {
  Expression a = boundedMatrix(rows, rows, 0, 9), b = matrixOf(rows, columns, depth);
  Node system = matrix("(replace(target=@, pattern=NaN, replacement=1) + diag(matrix(100, @, 1)))",
                       rows, rows, {a.node, size(rows)});
  if (rows == columns && random_.chance(0.3))
    return made("inv(@)", rows, columns, 1, {system});
  return made("solve(@, @)", rows, columns, b.size, {system, b.node});
}

} // namespace tokamak::fuzz
