// Expressions that match rewrite rules, and expressions that combine a sparse matrix with zeros,
// NaN or infinities.
#include "tokamak-fuzz/Expressions.h"

#include <algorithm>

namespace tokamak::fuzz {

using Attempt = std::optional<Expression>;

static Expression made(const std::string &pattern, Dimension rows, Dimension columns, double size,
                       std::vector<Node> children) {
  return {matrix(pattern, rows, columns, std::move(children)), size};
}

//===- what rules wait for --------------------------------------------------------------------===//

Attempt Expressions::idiom(Dimension rows, Dimension columns, int depth) {
  bool wide = random_.chance(0.5);
  int64_t length = wide ? columns : rows;
  auto part = [&](int64_t from, int64_t to) {
    return wide ? matrixOf(rows, to - from, depth) : matrixOf(to - from, columns, depth);
  };
  switch (random_.upTo(16)) {
  case 0: {
    Expression x = matrixOf(rows, columns, depth);
    return made(
        random_.choose<std::string>({"(@ * 1)", "(1 * @)", "(@ / 1)", "(@ ^ 1)", "(@ - 0)"}), rows,
        columns, x.size, {x.node});
  }
  case 1: {
    Expression x = matrixOf(rows, columns, depth);
    return made("(-(-@))", rows, columns, x.size, {x.node});
  }
  case 2: {
    Expression x = matrixOf(rows, columns, depth), y = matrixOf(rows, columns, 0);
    return made(random_.choose<std::string>({"(!(@ == @))", "(!(@ != @))"}), rows, columns, 1,
                {x.node, y.node});
  }
  case 3: {
    Expression x = matrixOf(rows, columns, depth), y = matrixOf(rows, columns, 0);
    std::string name = random_.choose<std::string>({"round", "floor", "ceil", "abs", "sign"});
    std::string test = random_.choose<std::string>({"(@ > @)", "(@ & @)", "(@ != @)", "(@ <= @)"});
    return made(name + "(" + test + ")", rows, columns, 1, {x.node, y.node});
  }
  case 4: {
    // A constant matrix, or a constant vector.
    Expression x = matrixOf(rows, columns, depth);
    Expression value = random_.chance(0.5) ? number() : boundedScalar(1, 9);
    auto fill = [&](Dimension r, Dimension c) {
      return matrix("matrix(@, @, @)", r, c, {value.node, dimension(r), dimension(c)});
    };
    switch (random_.upTo(4)) {
    case 0:
      return combined(x, {fill(rows, 1), value.size}, rows, columns);
    case 1:
      return combined({fill(1, columns), value.size}, x, rows, columns);
    case 2:
      return combined({fill(rows, columns), value.size}, x, rows, columns);
    default:
      return combined(x, {fill(rows, columns), value.size}, rows, columns);
    }
  }
  case 5: {
    Attempt x = pickVariable(rows, columns);
    if (!x || most(rows) == 0 || most(columns) == 0)
      return std::nullopt;
    return made("@[1:@, 1:@]", rows, columns, x->size,
                {x->node, dimension(rows), dimension(columns)});
  }
  case 6: {
    if (rows < 0 || columns < 0)
      return std::nullopt;
    int64_t first = random_.between(0, length), second = random_.between(first, length);
    Expression x = part(0, first), y = part(first, second), z = part(second, length);
    std::string name = wide ? "cbind" : "rbind";
    return made(random_.chance(0.5) ? name + "(@, " + name + "(@, @))"
                                    : name + "(" + name + "(@, @), @)",
                rows, columns, std::max({x.size, y.size, z.size}), {x.node, y.node, z.node});
  }
  case 7: {
    if (rows < 0 || columns < 0)
      return std::nullopt;
    int64_t cut = random_.between(0, length);
    Expression x = part(0, cut), y = part(cut, length);
    return made(wide ? "t(rbind(t(@), t(@)))" : "t(cbind(t(@), t(@)))", rows, columns,
                std::max(x.size, y.size), {x.node, y.node});
  }
  case 8:
  case 9: {
    Expression x = matrixOf(rows, columns, depth);
    return made("rev(rev(@))", rows, columns, x.size, {x.node});
  }
  case 10: {
    // No rule's: a product that has to be rounded before something is added.
    Expression x = matrixOf(rows, columns, depth), y = matrixOf(rows, columns, 0);
    return made("((@ * rand(rows=@, cols=@, min=-2, max=3, seed=7)) + @)", rows, columns,
                3 * x.size + y.size, {x.node, dimension(rows), dimension(columns), y.node});
  }
  case 11: {
    // No rule's: a sum over the rows of a sparse matrix that may be computed at its entries.
    int64_t k = random_.choose({5, 17});
    if (most(rows) < 2 || most(columns) < 2 || !fits(k, rows) || !fits(k, columns))
      return std::nullopt;
    Expression x = matrixOf(k, rows, depth), s = sparse(k, columns);
    return made("(t(@) %*% (@ * 3))", rows, columns, x.size * s.size * 3 * static_cast<double>(k),
                {x.node, s.node});
  }
  case 12: {
    Expression u = matrixOf(rows, 1, depth), v = matrixOf(1, columns, 0);
    std::string name = random_.choose<std::string>({"<", "<=", "==", "+", "*", "min"});
    return made("(outer(@, @, \"" + name + "\") + 1)", rows, columns, u.size * v.size + u.size + 1,
                {u.node, v.node});
  }
  case 13: {
    Expression x = matrixOf(rows, columns, depth);
    std::string pattern = random_.choose<std::string>({"NaN", "0", "1", "(-2)"});
    return made("(replace(target=@, pattern=" + pattern + ", replacement=3) * 2)", rows, columns,
                2 * x.size + 6, {x.node});
  }
  default: {
    // Only for matrices: vectors are combined by other kinds of products.
    int64_t k = random_.choose({2, 3, 5});
    if (most(rows) < 2 || most(columns) < 2 || !fits(rows, k) || !fits(k, columns))
      return std::nullopt;
    Expression x = matrixOf(k, rows, depth), y = matrixOf(columns, k, depth);
    return made("(t(@) %*% t(@))", rows, columns, x.size * y.size * static_cast<double>(k),
                {x.node, y.node});
  }
  }
}

Attempt Expressions::vectorIdiom(Dimension rows, Dimension columns, int depth) {
  Dimension other = inner();
  bool tall = columns == 1;
  if (!fits(rows, columns) || !fits(tall ? rows : columns, other) || most(other) == 0)
    return std::nullopt;
  double count = static_cast<double>(std::max<int64_t>(1, most(other)));
  switch (random_.upTo(tall ? 4 : 3)) {
  case 0: {
    // An aggregate of a transposed matrix.
    Expression x = tall ? matrixOf(other, rows, depth) : matrixOf(columns, other, depth);
    std::string name = random_.choose<std::string>({"Sums", "Mins", "Maxs"});
    return made((tall ? "row" : "col") + name + "(t(@))", rows, columns, x.size * count, {x.node});
  }
  case 1: {
    // A column aggregate of a matrix with one column.
    if (rows != 1 || columns != 1)
      return std::nullopt;
    Expression x = matrixOf(other, 1, depth);
    return made(random_.choose<std::string>({"colSums(@)", "colMaxs(@)", "colProds((@ != 0))"}), 1,
                1, x.size * count, {x.node});
  }
  case 2: {
    // A sum of one number each.
    Expression x = matrixOf(rows, columns, depth);
    return made(tall ? "rowSums(@)" : "colSums(@)", rows, columns, x.size, {x.node});
  }
  default: {
    if (most(rows) < 2 || most(rows) > 70)
      return std::nullopt;
    Expression x = matrixOf(rows, other, depth), y = matrixOf(other, rows, 0);
    return made("diag((@ %*% @))", rows, 1, x.size * y.size * count, {x.node, y.node});
  }
  }
}

Attempt Expressions::aggregateIdiom(int depth) {
  Dimension rows = inner(), columns = inner();
  if (!fits(rows, columns))
    return std::nullopt;
  Expression x = matrixOf(rows, columns, depth);
  double count = static_cast<double>(std::max<int64_t>(1, most(rows) * most(columns)));
  std::string pattern =
      random_.choose<std::string>({"sum(rowSums(@))", "sum(colSums(@))", "min(colMins(@))",
                                   "max(rowMaxs(@))", "sum(t(@))", "sum(rev(@))", "min(t(@))"});
  return Expression{scalar(pattern, {x.node}), x.size * count};
}

//===- sparse matrices and what is not finite -------------------------------------------------===//

Expression Expressions::sparse(Dimension rows, Dimension columns) {
  std::string seed = std::to_string(random_.between(1, 1000));
  std::string sparsity = random_.choose<std::string>({"0.02", "0.05", "0.1"});
  return made("rand(rows=@, cols=@, min=-2, max=3, seed=" + seed + ", sparsity=" + sparsity + ")",
              rows, columns, 3, {dimension(rows), dimension(columns)});
}

Attempt Expressions::sparseQuotient(Dimension rows, Dimension columns, int depth) {
  Attempt known = random_.chance(0.5) ? pickVariable(rows, columns) : std::nullopt;
  return quotient(known ? *known : sparse(rows, columns), depth);
}

Expression Expressions::quotient(const Expression &s, int depth) {
  Dimension rows = s.node.rows, columns = s.node.columns;
  auto of = [&](const std::string &pattern, std::vector<Node> children) {
    return made(pattern, rows, columns, 1e3 * s.size + 1, std::move(children));
  };
  Node zero = random_.choose<Node>(
      {scalar("0"), scalar("(0 * (-1))"), scalar("sum(matrix(0, @, 1))", {size(3)})});
  std::string by = random_.choose<std::string>({"/", "/", "/", "/", "%%", "%/%"});
  switch (random_.upTo(8)) {
  case 0:
    return of("(@ " + by + " rowSums(@))", {s.node, s.node});
  case 1:
    return of("(@ " + by + " colSums(@))", {s.node, s.node});
  case 2:
    return of("(@ " + by + " @)", {s.node, s.node});
  case 3:
    return of("(@ " + by + " @)", {s.node, sparse(rows, columns).node});
  case 4:
    return of("(@ " + by + " @)", {s.node, zero});
  case 5:
    return of("((@ * 0) / @)", {s.node, zero});
  case 6:
    return of("(@ / " + random_.choose<std::string>({"rowSums", "colSums"}) + "((@ * 0)))",
              {s.node, s.node});
  default:
    return of("(@ " + by + " @)", {s.node, matrixOf(rows, columns, depth).node});
  }
}

// A scalar that shows NaN and infinite cells: their number, or a sum that depends on them.
Attempt Expressions::countOfSpecials(int depth) {
  Dimension rows = inner(), columns = inner();
  if (!fits(rows, columns))
    return std::nullopt;
  Attempt x = random_.chance(0.5) ? sparseQuotient(rows, columns, depth)
                                  : Attempt(matrixOf(rows, columns, depth));
  std::string pattern = random_.choose<std::string>(
      {"sum(is.nan(@))", "sum(is.nan(@))", "sum(is.infinite(@))", "max(colSums(is.nan(@)))",
       "sum(replace(target=@, pattern=NaN, replacement=(-7)))"});
  return Expression{scalar(pattern, {x->node}), 1e5};
}

//===- sizes of data, and what reads a certain matrix -----------------------------------------===//

Expression Expressions::dataSize(int depth) {
  int64_t rows = random_.choose({1, 3, 5, 17}), columns = random_.choose({1, 2, 4});
  double size = static_cast<double>(std::max(rows, columns));
  if (random_.chance(0.3)) {
    auto keys = [&](int64_t most) {
      Expression x = boundedMatrix(rows, 1, depth, 1e5);
      return matrix("replace(target=(1 + (abs(floor(@)) %% @)), pattern=NaN, replacement=1)", rows,
                    1, {x.node, scalar(std::to_string(most))});
    };
    return {scalar(random_.choose<std::string>({"nrow(table(@, @))", "ncol(table(@, @))"}),
                   {keys(4), keys(6)}),
            6};
  }
  Expression x = random_.chance(0.5) ? sparse(rows, columns) : matrixOf(rows, columns, depth);
  return {scalar(random_.choose<std::string>(
                     {"nrow(removeEmpty(target=@, margin=\"rows\"))",
                      "ncol(removeEmpty(target=@, margin=\"cols\"))",
                      "nrow(removeEmpty(target=@, margin=\"rows\", empty.return=FALSE))",
                      "length(removeEmpty(target=@, margin=\"rows\"))"}),
                 {x.node}),
          size * 4};
}

Expression Expressions::over(const Expression &x, int depth, double size) {
  Dimension rows = x.node.rows, columns = x.node.columns;
  auto result = [&]() -> Expression {
    switch (random_.upTo(7)) {
    case 0:
      return combined(matrixOf(rows, columns, depth), x, rows, columns);
    case 1:
      if (Attempt line =
              most(columns) > 0 ? aggregate(x, most(columns), "row", rows, 1) : std::nullopt)
        return combined(x, *line, rows, columns);
      break;
    case 2: {
      Expression u = boundedMatrix(rows, 3, 0, 9), v = boundedMatrix(columns, 3, 0, 9);
      return made("(@ * (@ %*% t(@)))", rows, columns, x.size * 243, {x.node, u.node, v.node});
    }
    case 3:
      if (most(rows) * most(columns) * most(columns) < 400'000) {
        double inner = static_cast<double>(std::max<int64_t>(1, most(rows) * most(columns)));
        return made("(@ %*% (t(@) %*% @))", rows, columns, x.size * x.size * x.size * inner,
                    {x.node, x.node, x.node});
      }
      break;
    case 4:
      return made("(exp((@ / (1 + abs(@)))) - 1)", rows, columns, 2, {x.node, x.node});
    default:
      break;
    }
    return combined(x, matrixOf(rows, columns, depth), rows, columns);
  };
  return squashed(result(), size);
}

} // namespace tokamak::fuzz
