#include "tokamak-fuzz/Expressions.h"

#include <algorithm>
#include <cmath>

namespace tokamak::fuzz {
namespace {

constexpr double sizeLimit = 1e6;
constexpr int64_t cellLimit = 90'000;

std::string literal(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return value < 0 ? "(" + text + ")" : text;
}

} // namespace

//===- sizes, numbers, leaves -----------------------------------------------------------------===//

int64_t Expressions::most(Dimension dimension) const {
  return dimension >= 0 ? dimension : unknowns_[-dimension - 1];
}

Dimension Expressions::unknown(int64_t most) {
  unknowns_.push_back(most);
  return -static_cast<Dimension>(unknowns_.size());
}

bool Expressions::fits(Dimension rows, Dimension columns) const {
  return most(rows) * most(columns) <= cellLimit;
}

Node Expressions::dimension(Dimension dimension) {
  std::vector<Node> texts;
  if (dimension >= 0) {
    texts.push_back(size(dimension));
    for (const std::string &name : sizeNames[dimension])
      texts.push_back(text(name));
  }
  for (const auto &[name, variable] : variables) {
    if (variable.isScalar())
      continue;
    if (variable.node.rows == dimension)
      texts.push_back(text("nrow(" + name + ")"));
    if (variable.node.columns == dimension)
      texts.push_back(text("ncol(" + name + ")"));
  }
  if (dimension >= 0 && random_.chance(0.6))
    return texts.front();
  return random_.choose(texts);
}

Expression Expressions::number() {
  double value = random_.choose({0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 1.5, 2.5, -3.25, 7.0});
  return {scalar(literal(value)), std::fabs(value)};
}

Expression Expressions::leaf(Dimension rows, Dimension columns) {
  Node r = dimension(rows), c = dimension(columns);
  auto made = [&](const std::string &pattern, double size, bool exact) {
    Expression x{matrix(pattern, rows, columns, {r, c}), size};
    return exact ? x : withSpecials(x);
  };
  std::string seed = std::to_string(random_.between(1, 1000));
  std::string sparsity =
      random_.choose<std::string>({"", "", ", sparsity=0.5", ", sparsity=0.2", ", sparsity=0.04"});
  bool known = rows >= 0 && columns >= 0;
  switch (random_.upTo(8)) {
  case 0: {
    Expression fill = number();
    return {matrix("matrix(@, @, @)", rows, columns, {fill.node, r, c}), fill.size};
  }
  case 1:
    return made("rand(rows=@, cols=@, min=-2, max=3, seed=" + seed + sparsity + ")", 3, true);
  case 2:
    return made("rand(rows=@, cols=@, pdf=\"normal\", seed=" + seed + sparsity + ")", 8, true);
  case 3:
    if (columns == 1 && rows > 0)
      return {matrix(random_.choose<std::string>({"seq(1, @)", "seq(@, 1)", "seq(0, @ - 1, 1)"}),
                     rows, 1, {r}),
              static_cast<double>(rows)};
    break;
  case 4:
    if (known && rows * columns > 0 && rows * columns <= 12) {
      std::string cells;
      for (int64_t i = 0; i < rows * columns; ++i)
        cells += (i ? " " : "") + random_.choose<std::string>(
                                      {"0", "0", "1", "-1", "2", "0.5", "3", "-4", "-0.0", "0.1"});
      return made("matrix(\"" + cells + "\", @, @)", 4, false);
    }
    break;
  case 5:
    return made("(floor(rand(rows=@, cols=@, min=-8, max=9, seed=" + seed + sparsity + ")) / 4)", 3,
                false);
  default:
    break;
  }
  return made("floor(rand(rows=@, cols=@, min=-8, max=9, seed=" + seed + sparsity + "))", 9, false);
}

Expression Expressions::withSpecials(Expression x) {
  if (!random_.chance(0.1))
    return x;
  std::string special = random_.choose<std::string>(
      {"NaN", "Inf", "(-Inf)", "(0 * (-1))", "5.0e-324", "1.0e-310", "1.0e200", "1.0e-200"});
  std::string test = random_.choose<std::string>({"-3", "0", "1", "2"});
  Node copy = x.node;
  return {matrix("ifelse((@ == " + test + "), " + special + ", @)", x.node.rows, x.node.columns,
                 {copy, copy}),
          x.size};
}

//===- expressions of a shape -----------------------------------------------------------------===//

Expressions::Attempt Expressions::pickVariable(Dimension rows, Dimension columns) {
  std::vector<const Expression *> same;
  for (const auto &[name, variable] : variables)
    if (!variable.isScalar() && variable.node.rows == rows && variable.node.columns == columns)
      same.push_back(&variable);
  if (same.empty())
    return std::nullopt;
  return *random_.choose(same);
}

Expression Expressions::matrixOf(Dimension rows, Dimension columns, int depth) {
  for (int tries = 0; tries < 5; ++tries) {
    Attempt made = attempt(rows, columns, depth);
    if (made && made->size <= sizeLimit)
      return *made;
    if (made)
      return squashed(*made, 1);
  }
  return leaf(rows, columns);
}

Expressions::Attempt Expressions::attempt(Dimension rows, Dimension columns, int depth) {
  if (random_.chance(depth > 0 ? 0.3 : 0.85))
    if (Attempt variable = pickVariable(rows, columns))
      return variable;
  if (depth <= 0)
    return leaf(rows, columns);
  using E = Expressions;
  std::vector<Maker> makers = {
      &E::binary,        &E::binary,      &E::binary,         &E::binary,      &E::unary,
      &E::unary,         &E::unary,       &E::broadcast,      &E::broadcast,   &E::broadcast,
      &E::choice,        &E::scaled,      &E::scaled,         &E::contraction, &E::contraction,
      &E::scan,          &E::reorganised, &E::rowPattern,     &E::replaced,    &E::softmax,
      &E::chain,         &E::bits,        &E::sampledProduct, &E::idiom,       &E::idiom,
      &E::sparseQuotient};
  auto add = [&](std::initializer_list<Maker> more) { makers.insert(makers.end(), more); };
  if (columns == 1)
    add({&E::rowAggregate, &E::rowAggregate, &E::rowAggregate, &E::rowIndex, &E::gradient,
         &E::gradient, &E::vectorIdiom});
  if (rows == 1)
    add({&E::columnAggregate, &E::columnAggregate, &E::columnAggregate, &E::vectorIdiom});
  if (rows == columns)
    add({&E::triangle});
  if (rows > 0 && columns > 0)
    add({&E::piece, &E::bound, &E::reshaped, &E::counted, &E::outer, &E::ordered, &E::diagonal});
  if (rows > 0 && rows <= 12 && columns > 0)
    add({&E::solved});
  return (this->*random_.choose(makers))(rows, columns, depth - 1);
}

Expression Expressions::squashed(Expression x, double size) {
  if (x.size <= size)
    return x;
  bool isScalar = x.isScalar();
  auto made = [&](const std::string &pattern, std::vector<Node> children, double bound) {
    Node node = isScalar ? scalar(pattern, std::move(children))
                         : matrix(pattern, x.node.rows, x.node.columns, std::move(children));
    return Expression{std::move(node), bound};
  };
  if (size >= 6 && random_.chance(0.5)) {
    std::string limit = literal(std::floor(size));
    return made("max(min(@, " + limit + "), (-" + limit + "))", {x.node}, std::floor(size));
  }
  Node copy = x.node;
  return made("(@ / (1 + abs(@)))", {copy, copy}, 1);
}

Expression Expressions::boundedMatrix(Dimension rows, Dimension columns, int depth, double size) {
  return squashed(matrixOf(rows, columns, depth), size);
}
Expression Expressions::boundedScalar(int depth, double size) {
  return squashed(scalarOf(depth), size);
}

// A binary operator on compatible operands; the result has this shape, or is a scalar if both
// operands are scalars.
Expression Expressions::combined(Expression a, Expression b, Dimension rows, Dimension columns) {
  bool scalars = a.isScalar() && b.isScalar();
  auto made = [&](const std::string &pattern, double size) {
    std::vector<Node> children = {a.node, b.node};
    return Expression{
        scalars ? scalar(pattern, children) : matrix(pattern, rows, columns, children), size};
  };
  switch (random_.upTo(11)) {
  case 0:
  case 1:
    return made("(@ + @)", a.size + b.size);
  case 2:
    return made("(@ - @)", a.size + b.size);
  case 3:
  case 4:
  case 5:
    return made("(@ * @)", a.size * b.size);
  case 6:
    return made(random_.choose<std::string>({"min(@, @)", "max(@, @)"}), std::max(a.size, b.size));
  case 7:
    return made("(@ / (1 + abs(@)))", a.size);
  case 8:
    return made(random_.choose<std::string>({"(@ / @)", "(@ %% @)", "(@ %/% @)"}),
                1e3 * a.size + 1);
  default:
    return made(
        random_.choose<std::string>({"(@ == @)", "(@ != @)", "(@ < @)", "(@ <= @)", "(@ > @)",
                                     "(@ >= @)", "(@ & @)", "(@ | @)", "xor(@, @)"}),
        1);
  }
}

//===- scalars --------------------------------------------------------------------------------===//

Expression Expressions::scalarOf(int depth) {
  std::vector<const Expression *> known;
  for (const auto &[name, variable] : variables)
    if (variable.isScalar())
      known.push_back(&variable);
  if (!known.empty() && random_.chance(0.4))
    return *random_.choose(known);
  if (depth <= 0)
    return number();
  Attempt made;
  switch (random_.upTo(10)) {
  case 0:
  case 1:
  case 2:
    made = fullAggregate(depth - 1);
    break;
  case 6:
    made = countOfSpecials(depth - 1);
    break;
  case 7:
    made = aggregateIdiom(depth - 1);
    break;
  case 8:
    made = dataSize(depth - 1);
    break;
  case 3: {
    Expression x = matrixOf(1, 1, depth - 1);
    made = Expression{scalar("as.scalar(@)", {x.node}), x.size};
    break;
  }
  case 4:
    made = statistic(depth - 1);
    break;
  case 5: {
    Expression x = boundedScalar(depth - 1, 6);
    made = Expression{scalar(random_.choose<std::string>({"exp(@)", "abs(@)", "sqrt(abs(@))",
                                                          "sin(@)", "round(@)", "floor(@)",
                                                          "log((abs(@) + 0.5))", "(@ ^ 2)"}),
                             {x.node}),
                      410};
    break;
  }
  default:
    made = combined(scalarOf(depth - 1), scalarOf(depth - 1), 1, 1);
    // A scalar comparison is a boolean, which can't be combined with numbers.
    if (made->node.pattern.find_first_of("=<>&|!x%") != std::string::npos &&
        made->node.pattern.find("max") == std::string::npos)
      made = Expression{scalar("ifelse(@, 1, 2)", {made->node}), 2};
    break;
  }
  if (!made)
    return number();
  return made->size <= sizeLimit ? *made : squashed(*made, 1);
}

Expressions::Attempt Expressions::fullAggregate(int depth) {
  Dimension rows = inner(), columns = inner();
  if (!fits(rows, columns))
    rows = columns = 1;
  Expression x = matrixOf(rows, columns, depth);
  double count = static_cast<double>(std::max<int64_t>(1, most(rows) * most(columns)));
  std::string name = random_.choose<std::string>(
      {"sum", "sum", "sum", "min", "max", "mean", "var", "sd", "prod", "trace"});
  if (name == "trace" && rows != columns)
    name = "sum";
  if (name == "prod")
    x = squashed(x, 1);
  double size = name == "sum"                     ? x.size * count
                : name == "var"                   ? 4 * x.size * x.size
                : name == "sd" || name == "trace" ? 2 * x.size * count
                                                  : x.size;
  return Expression{scalar(name + "(@)", {x.node}), size};
}

Expressions::Attempt Expressions::statistic(int depth) {
  Dimension rows = inner();
  if (most(rows) < 2)
    return std::nullopt;
  Expression x = matrixOf(rows, 1, depth), y = matrixOf(rows, 1, 0);
  switch (random_.upTo(5)) {
  case 0:
    return Expression{scalar("moment(@, " + random_.choose<std::string>({"2", "3", "4"}) + ")",
                             {squashed(x, 9).node}),
                      1e5};
  case 1:
    return Expression{scalar("cov(@, @)", {x.node, y.node}), 4 * x.size * y.size};
  case 2:
    return Expression{scalar("median(@)", {x.node}), x.size};
  case 3:
    return Expression{
        scalar("quantile(@, " + random_.choose<std::string>({"0.25", "0.5", "0.9"}) + ")",
               {x.node}),
        x.size};
  default:
    return Expression{scalar("interQuartileMean(@)", {x.node}), x.size};
  }
}

} // namespace tokamak::fuzz
