// Branches, loops and functions of random DML programs.
#include "tokamak-fuzz/DmlGenerator.h"

#include <algorithm>

namespace tokamak::fuzz {

//===- control flow ---------------------------------------------------------------------------===//

Expression DmlGenerator::condition() {
  bool asksForData = random_.chance(0.3);
  Expression a = asksForData ? expressions_.dataSize(1) : expressions_.scalarOf(2);
  Expression b = asksForData ? expressions_.number() : expressions_.scalarOf(1);
  std::string op = random_.choose<std::string>({"<", ">", "<=", ">="});
  return {scalar("(@ " + op + " @)", {a.node, b.node}), 1};
}

// The statements that `body` emits; the variables that it defines go out of scope afterwards.
Node DmlGenerator::scoped(const std::function<void()> &body) {
  std::map<std::string, Expression> before = variables();
  std::vector<Dimension> sizes = expressions_.sizes;
  Statements inside, *outer = std::exchange(current_, &inside);
  ++nesting_;
  body();
  --nesting_;
  current_ = outer;
  expressions_.sizes = sizes;
  std::map<std::string, Expression> after = std::exchange(variables(), before);
  for (auto &[name, variable] : variables())
    variable.size = std::max(variable.size, after[name].size);
  return sequence(std::move(inside));
}

void DmlGenerator::branch() {
  auto [rows, columns] = shape();
  std::string name = fresh("x");
  double size = 0;
  auto side = [&, rows = rows, columns = columns] {
    statements(random_.between(0, 2));
    Expression value = expressions_.matrixOf(rows, columns, 3);
    emit(statement(name + " = @", {value.node}));
    size = std::max(size, value.size);
  };
  Node test = condition().node;
  Node yes = scoped(side), no = scoped(side);
  emit(statement("if (@) {\n@} else {\n@}", {test, yes, no}));
  define(name, {matrix(name, rows, columns), size});
}

// A loop with carried variables, whose magnitudes are bounded in every iteration.
void DmlGenerator::loop(const std::string &head, std::vector<Node> headParts,
                        const std::string &counter, bool counts) {
  std::vector<std::string> carried;
  for (int64_t i = random_.between(1, 2); i > 0; --i) {
    auto [rows, columns] = shape();
    Expression start = random_.chance(0.7) ? expressions_.boundedMatrix(rows, columns, 1, 16)
                                           : expressions_.number();
    carried.push_back(assign(start.isScalar() ? "s" : "x", start));
    variables()[carried.back()].size = 20;
  }
  Node body = scoped([&] {
    if (!counter.empty())
      define(counter, {scalar(counter), 10});
    std::set<std::string> locked = locked_;
    for (const auto &[name, variable] : variables())
      locked_.insert(name);
    statements(random_.between(0, 3));
    for (const std::string &name : carried) {
      Expression last = variables()[name];
      Expression value = last.isScalar()
                             ? expressions_.boundedScalar(2, 9)
                             : expressions_.boundedMatrix(last.node.rows, last.node.columns, 3, 9);
      emit(random_.chance(0.5) ? statement(name + " = ((" + name + " * 0.5) + @)", {value.node})
                               : statement(name + " = @", {value.node}));
    }
    locked_ = locked;
    if (counts)
      emit(statement(counter + " = " + counter + " + 1"));
  });
  headParts.push_back(body);
  emit(statement(head + " {\n@}", headParts));
}

void DmlGenerator::forLoop() {
  std::string counter = fresh("i");
  std::string trips = random_.choose<std::string>(
      {"1:3", "1:2", "1:5", "3:1", "seq(1, 7, 3)", "1:as.integer(sum(matrix(1, 4, 1)))"});
  if (random_.chance(0.2))
    return loop("for (" + counter + " in 1:max(1, min(4, @)))", {expressions_.dataSize(1).node},
                counter, false);
  loop("for (" + counter + " in " + trips + ")", {}, counter, false);
}

void DmlGenerator::whileLoop() {
  std::string counter = fresh("k");
  emit(statement(counter + " = 0"));
  std::string head = "while ((" + counter + " < " + std::to_string(random_.between(1, 4)) + ")";
  if (random_.chance(0.2))
    loop(head + " & (" + counter + " < @))", {expressions_.dataSize(1).node}, counter, true);
  else if (random_.chance(0.3))
    loop(head + " & @)", {condition().node}, counter, true);
  else
    loop(head + ")", {}, counter, true);
}

// A loop in which a matrix gains a column or row per iteration and is used at each size.
void DmlGenerator::growth() {
  Dimension rows = expressions_.inner();
  int64_t start = random_.choose({0, 1, 3}), trips = random_.between(2, 6);
  if (expressions_.most(rows) * 9 > 20'000)
    return;
  bool wide = random_.chance(0.6);
  auto sized = [&](Dimension length) {
    return wide ? std::pair(rows, length) : std::pair(length, rows);
  };
  auto [firstRows, firstColumns] = sized(start);
  std::string name = assign("x", expressions_.boundedMatrix(firstRows, firstColumns, 1, 16));
  Dimension length = expressions_.unknown(start + trips);
  auto [growingRows, growingColumns] = sized(length);
  auto [partRows, partColumns] = sized(1);
  Node body = scoped(
      [&, partRows = partRows, partColumns = partColumns, r = growingRows, c = growingColumns] {
        define(name, {matrix(name, r, c), 20});
        locked_.insert(name);
        for (int i = 0; i < 3; ++i)
          expressions_.sizes.push_back(length);
        for (int64_t i = random_.between(0, 2); i > 0; --i)
          random_.chance(0.6) ? matrixAssignment() : scalarAssignment();
        Expression part = expressions_.boundedMatrix(partRows, partColumns, 3, 9);
        locked_.erase(name);
        emit(statement(name + (wide ? " = cbind(" : " = rbind(") + name + ", @)", {part.node}));
      });
  emit(statement("for (" + fresh("i") + " in 1:" + std::to_string(trips) + ") {\n@}", {body}));
  auto [lastRows, lastColumns] = sized(start + trips);
  define(name, {matrix(name, lastRows, lastColumns), 20});
}

// A parfor whose iterations each write a row or a cell, or add to a sum.
void DmlGenerator::parallelLoop() {
  auto [rows, columns] = shape();
  if (rows <= 0 || rows > 40 || columns <= 0)
    return;
  std::string name = assign(
      "x",
      {matrix("matrix(0, @, @)", rows, columns, {expressions_.dimension(rows), size(columns)}), 1});
  std::string counter = fresh("i");
  double bound = 0;
  Node body = scoped([&, columns = columns] {
    locked_.insert(name);
    variables().erase(name);
    define(counter, {scalar(counter), 40});
    if (random_.chance(0.5))
      matrixAssignment();
    Expression row = expressions_.boundedMatrix(1, columns, 3, 100);
    bound = row.size;
    locked_.erase(name);
    emit(statement(name + "[" + counter + ", ] = (@ + " + counter + ")", {row.node}));
    define(name, {matrix(name, 1, 1), 1});
  });
  emit(statement("parfor (" + counter + " in 1:@) {\n@}", {size(rows), body}));
  define(name, {matrix(name, rows, columns), bound + 40});
}

//===- functions ------------------------------------------------------------------------------===//

// A function whose body uses only its parameters.
Node DmlGenerator::function(const std::string &name, const std::string &head,
                            std::map<std::string, Expression> parameters,
                            const std::function<void()> &body) {
  std::map<std::string, Expression> outer = std::exchange(variables(), std::move(parameters));
  std::map<int64_t, std::vector<std::string>> sizeNames = std::exchange(expressions_.sizeNames, {});
  std::vector<Dimension> sizes = expressions_.sizes;
  std::erase_if(expressions_.sizes, [&](Dimension d) {
    auto isKnown = [d](const auto &parameter) {
      const Node &node = parameter.second.node;
      return !parameter.second.isScalar() && (node.rows == d || node.columns == d);
    };
    return d < 0 && std::none_of(variables().begin(), variables().end(), isKnown);
  });
  Node inside = scoped(body);
  variables() = outer;
  expressions_.sizeNames = sizeNames;
  expressions_.sizes = sizes;
  return statement(name + " = function" + head + " {\n@}", {inside});
}

void DmlGenerator::functionCall() {
  auto [rows, columns] = shape();
  Expression argument = expressions_.matrixOf(rows, columns, 2);
  Expression factor = expressions_.boundedScalar(1, 100);
  std::string name = fresh("f");
  Expression result, number;
  Node defined = function(
      name, "(matrix[double] A, double b) return (matrix[double] R, double r)",
      {{"A", {matrix("A", rows, columns), argument.size}}, {"b", {scalar("b"), factor.size}}},
      [&, rows = rows, columns = columns] {
        statements(random_.between(0, 2));
        result = expressions_.matrixOf(rows, columns, 3);
        number = expressions_.scalarOf(2);
        emit(statement("R = @", {result.node}));
        emit(statement("r = @", {number.node}));
      });
  functions_.push_back(defined);
  std::string r = fresh("x"), s = fresh("s");
  emit(statement("[" + r + ", " + s + "] = " + name + "(@, @)", {argument.node, factor.node}));
  define(r, {matrix(r, rows, columns), result.size});
  define(s, {scalar(s), number.size});
}

// A function that calls itself a few times, with a smaller matrix or a smaller number.
void DmlGenerator::recursion() {
  auto [rows, columns] = shape();
  if (rows < 0 || columns < 0)
    return;
  std::string name = fresh("f"), times = std::to_string(random_.between(0, 4));
  Expression argument = expressions_.boundedMatrix(rows, columns, 2, 16);
  std::map<std::string, Expression> outer = std::exchange(variables(), {});
  std::map<int64_t, std::vector<std::string>> sizeNames = std::exchange(expressions_.sizeNames, {});
  std::vector<Dimension> sizes = expressions_.sizes;
  std::erase_if(expressions_.sizes, [](Dimension d) { return d < 0; });
  define("A", {matrix("A", rows, columns), 16});
  Node step, last;
  Node body = scoped([&, rows = rows, columns = columns] {
    step = expressions_.boundedMatrix(rows, columns, 2, 9).node;
    last = expressions_.boundedMatrix(rows, columns, 2, 9).node;
  });
  variables() = outer;
  expressions_.sizeNames = sizeNames;
  expressions_.sizes = sizes;
  functions_.push_back(
      statement(name + " = function(matrix[double] A, integer k) return (matrix[double] R) {\n" +
                    "  if (k > 0) {\n    R = " + name + "(@, (k - 1))\n    R = (R * 0.5) + A\n" +
                    "  } else {\n    R = @\n  }\n}",
                {step, last}));
  assign("x", {matrix(name + "(@, " + times + ")", rows, columns, {argument.node}), 64});
}

// A function of numbers that calls itself once or twice, which may be compiled.
void DmlGenerator::recursionOfNumbers() {
  std::string name = fresh("f"), result = fresh("s");
  Expression argument = expressions_.boundedScalar(1, 16);
  bool isTree = random_.chance(0.5);
  Node defined =
      function(name, "(integer k, double b) return (double r)",
               {{"k", {scalar("k"), 6}}, {"b", {scalar("b"), 16}}}, [&] {
                 std::vector<Node> parts = {expressions_.boundedScalar(2, 16).node};
                 if (isTree)
                   parts.push_back(expressions_.boundedScalar(1, 16).node);
                 parts.push_back(expressions_.boundedScalar(2, 16).node);
                 parts.push_back(expressions_.boundedScalar(1, 16).node);
                 std::string second = isTree ? " - " + name + "((k - 2), @)" : "";
                 emit(statement("if ((k > 0)) {\n  r = " + name + "((k - 1), @)" + second +
                                    "\n  r = (r * 0.5) + @\n} else {\n  r = @\n}",
                                parts));
               });
  functions_.push_back(defined);
  emit(statement(result + " = " + name + "(" + std::to_string(random_.between(0, 6)) + ", @)",
                 {argument.node}));
  define(result, {scalar(result), 128});
}

// A statement that ends the program with an error, always or if some cell is small.
void DmlGenerator::failure() {
  if (random_.chance(0.8))
    return failingStatement();
  emit(statement("if ((@ < 3)) {\n  stop(\"enough\")\n}", {expressions_.scalarOf(1).node}));
}

void DmlGenerator::failingStatement() {
  auto [rows, columns] = shape();
  auto [otherRows, otherColumns] = shape();
  Node x = expressions_.matrixOf(rows, columns, 2).node;
  Node y = expressions_.matrixOf(otherRows, otherColumns, 1).node;
  std::string name = fresh("x");
  auto outside = [](Dimension d) { return d >= 0 ? size(d + 1) : size(100'000); };
  switch (random_.upTo(7)) {
  case 0:
    emit(statement(name + " = (@ + cbind(@, matrix(1, @, 2)))",
                   {x, x, expressions_.dimension(rows)}));
    break;
  case 1:
    emit(statement(name + " = (@ %*% @)", {x, y}));
    break;
  case 2:
    emit(statement(name + " = matrix(as.scalar(rbind(@, @)), 1, 1)", {x, x}));
    break;
  case 3:
    emit(statement(name + " = @", {x}));
    emit(statement(name + " = " + name + "[nrow(" + name + ") + 1, 1]"));
    break;
  case 4:
    emit(statement(name + " = @", {x}));
    emit(statement(name + " = " + name + "[, @]", {outside(columns)}));
    break;
  case 5:
    emit(statement(name + " = @", {x}));
    emit(statement(name + "[@, 1] = 1", {outside(rows)}));
    break;
  default:
    emit(statement(name + " = table((@ * 0), 1)", {x}));
    break;
  }
  emit(statement("print(sum(" + name + "))"));
}

} // namespace tokamak::fuzz
