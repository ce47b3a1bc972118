#include "tokamak-fuzz/ProgramGenerator.h"

#include "tokamak-fuzz/Expressions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace tokamak::fuzz {
namespace {

class ProgramGenerator {
public:
  explicit ProgramGenerator(uint64_t seed) : random_(seed), expressions_(random_) {}
  Node program();

private:
  using Statements = std::vector<Node>;
  using Step = void (ProgramGenerator::*)();

  void emit(Node node) { current_->push_back(std::move(node)); }
  std::string fresh(const char *prefix) { return prefix + std::to_string(++names_); }
  std::map<std::string, Expression> &variables() { return expressions_.variables; }
  void define(const std::string &name, const Expression &value);
  std::string assign(const char *prefix, const Expression &value);
  std::string pick(const std::function<bool(const Expression &)> &accept);
  std::pair<Dimension, Dimension> shape();
  Expression condition();
  int depth() { return random_.choose({1, 1, 2, 2, 2, 3, large_ ? 4 : 2}); }
  Node scoped(const std::function<void()> &body);

  void chooseSizes();
  void statements(int64_t count);
  void matrixAssignment();
  void scalarAssignment();
  void leftIndex();
  void dynamicSize();
  void sharedAggregates();
  void listOfValues();
  void note();
  void branch();
  void forLoop();
  void whileLoop();
  void loop(const std::string &head, std::vector<Node> headParts, const std::string &counter,
            bool counts);
  void growth();
  void parallelLoop();
  void functionCall();
  void recursion();
  void failure();

  Random random_;
  Expressions expressions_;
  Statements functions_, main_;
  Statements *current_ = &main_;
  int names_ = 0, nesting_ = 0;
  // Most programs are small, which says as much in less time; some are not.
  bool large_ = random_.chance(0.1);
  std::set<std::string> locked_; // carried by a loop around: only its end assigns them
};

//===- names and shapes -----------------------------------------------------------------------===//

void ProgramGenerator::define(const std::string &name, const Expression &value) {
  Node node = value.isScalar() ? scalar(name) : matrix(name, value.node.rows, value.node.columns);
  variables()[name] = {std::move(node), value.size};
}

std::string ProgramGenerator::assign(const char *prefix, const Expression &value) {
  std::string name = fresh(prefix);
  emit(statement(name + " = @", {value.node}));
  define(name, value);
  return name;
}

std::string ProgramGenerator::pick(const std::function<bool(const Expression &)> &accept) {
  std::vector<std::string> names;
  for (const auto &[name, variable] : variables())
    if (!locked_.contains(name) && accept(variable))
      names.push_back(name);
  return names.empty() ? "" : random_.choose(names);
}

std::pair<Dimension, Dimension> ProgramGenerator::shape() {
  for (;;) {
    Dimension rows = expressions_.inner(), columns = expressions_.inner();
    if (expressions_.most(rows) * expressions_.most(columns) <= 90'000)
      return {rows, columns};
  }
}

void ProgramGenerator::chooseSizes() {
  // Kernels are made for small sizes but serve all larger ones, so that these cost less to try.
  std::vector<Dimension> sizes = {1};
  for (int64_t i = random_.between(1, 3); i > 0; --i)
    sizes.push_back(random_.chance(0.4)
                        ? random_.choose({1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31})
                        : random_.choose({33, 34, 40, 47, 63, 64, 65, 67, 70, 100, 128, 200}));
  if (random_.chance(0.02))
    sizes.push_back(random_.choose({1000, 5000, 70'001, 90'000}));
  if (random_.chance(0.12))
    sizes.push_back(0);
  expressions_.sizes = sizes;
  for (Dimension n : std::set<Dimension>(sizes.begin(), sizes.end())) {
    if (!random_.chance(0.4))
      continue;
    std::string name = fresh("n");
    emit(random_.chance(0.5) ? statement(name + " = @", {size(n)})
                             : statement(name + " = as.integer(sum(matrix(1, @, 1)))", {size(n)}));
    expressions_.sizeNames[n].push_back(name);
  }
}

//===- the program ----------------------------------------------------------------------------===//

Node ProgramGenerator::program() {
  chooseSizes();
  for (int64_t i = random_.between(1, large_ ? 5 : 3); i > 0; --i) {
    auto [rows, columns] = shape();
    assign("x", expressions_.leaf(rows, columns));
  }
  statements(large_ ? random_.between(3, 8) : random_.between(1, 3));
  if (random_.chance(0.06))
    failure();
  for (const auto &[name, variable] : variables())
    emit(statement("print(" + name + ")"));
  Statements all = functions_;
  all.insert(all.end(), main_.begin(), main_.end());
  return sequence(std::move(all));
}

void ProgramGenerator::statements(int64_t count) {
  using G = ProgramGenerator;
  for (; count > 0; --count) {
    std::vector<Step> steps = {&G::matrixAssignment, &G::matrixAssignment, &G::matrixAssignment,
                               &G::matrixAssignment, &G::matrixAssignment, &G::matrixAssignment,
                               &G::scalarAssignment, &G::scalarAssignment, &G::scalarAssignment,
                               &G::leftIndex,        &G::leftIndex,        &G::dynamicSize,
                               &G::sharedAggregates, &G::listOfValues,     &G::note};
    auto add = [&](std::initializer_list<Step> more) { steps.insert(steps.end(), more); };
    if (nesting_ < 2)
      add({&G::branch, &G::forLoop, &G::forLoop, &G::whileLoop});
    if (nesting_ == 0)
      add({&G::growth, &G::functionCall, &G::recursion, &G::parallelLoop});
    (this->*random_.choose(steps))();
  }
}

void ProgramGenerator::matrixAssignment() {
  auto [rows, columns] = shape();
  assign("x", expressions_.matrixOf(rows, columns, depth()));
}

void ProgramGenerator::scalarAssignment() { assign("s", expressions_.scalarOf(depth())); }

void ProgramGenerator::leftIndex() {
  std::string name = pick(
      [](const Expression &x) { return !x.isScalar() && x.node.rows > 0 && x.node.columns > 0; });
  if (name.empty())
    return;
  Expression target = variables()[name];
  int64_t rows = target.node.rows, columns = target.node.columns;
  int64_t top = random_.between(1, rows), left = random_.between(1, columns);
  int64_t bottom = random_.between(top, rows), right = random_.between(left, columns);
  Expression value;
  Node place;
  if (random_.chance(0.3)) {
    value = expressions_.scalarOf(2);
    place = text("@, @", {size(top), size(left)});
  } else {
    if (random_.chance(0.3)) {
      top = 1;
      bottom = rows;
    }
    value = expressions_.matrixOf(bottom - top + 1, right - left + 1, 2);
    place = top == 1 && bottom == rows && random_.chance(0.7)
                ? text(", @:@", {size(left), size(right)})
                : text("@:@, @:@", {size(top), size(bottom), size(left), size(right)});
  }
  emit(statement(name + "[@] = @", {place, value.node}));
  variables()[name].size = std::max(target.size, value.size);
}

// A matrix whose number of rows depends on the data.
void ProgramGenerator::dynamicSize() {
  auto [rows, columns] = shape();
  if (rows <= 0 || columns == 0)
    return;
  Expression source = expressions_.matrixOf(rows, columns, 2);
  Dimension size = expressions_.unknown(std::max<int64_t>(rows, 1));
  Node node = random_.chance(0.5)
                  ? matrix("removeEmpty(target=@, margin=\"rows\")", size, columns, {source.node})
                  : matrix("removeEmpty(target=@, margin=\"rows\", select=(rowSums(@) > 0))", size,
                           columns, {source.node, source.node});
  assign("x", {node, source.size});
  if (rows <= 300 && nesting_ == 0)
    expressions_.sizes.push_back(size);
}

// Several aggregates over the same matrix.
void ProgramGenerator::sharedAggregates() {
  auto [rows, columns] = shape();
  Expression x = expressions_.matrixOf(rows, columns, 1),
             y = expressions_.matrixOf(rows, columns, 0);
  double count = static_cast<double>(
      std::max<int64_t>(1, expressions_.most(rows) * expressions_.most(columns)));
  std::string name = assign("x", x);
  Node shared = matrix(name, rows, columns);
  double size = x.size * std::max(x.size, y.size) * count + 1;
  if (size > 1e9)
    return;
  for (int64_t i = random_.between(2, 3); i > 0; --i) {
    std::string pattern =
        random_.choose<std::string>({"sum((@ * @))", "sum((@ ^ 2))", "sum(@)", "min((@ + @))",
                                     "max(@)", "sum(abs((@ - @)))", "sum((@ != 0))"});
    std::vector<Node> children(std::count(pattern.begin(), pattern.end(), '@'), shared);
    if (children.size() == 2)
      children[1] = y.node;
    assign("s", {scalar(pattern, children), size});
  }
  if (random_.chance(0.4))
    assign("x", {matrix("colSums(@)", 1, columns, {shared}), x.size * count});
}

void ProgramGenerator::listOfValues() {
  auto [rows, columns] = shape();
  Expression x = expressions_.matrixOf(rows, columns, 2), s = expressions_.scalarOf(1);
  std::string name = fresh("l");
  emit(statement(name + " = list(a=@, b=@)", {x.node, s.node}));
  std::string element = random_.choose<std::string>({"[1]", "[\"a\"]"});
  assign("x", {matrix("as.matrix(" + name + element + ")", rows, columns), x.size});
}

// Something printed on the way: effects keep their order.
void ProgramGenerator::note() { emit(statement("print(\"" + fresh("note ") + "\")")); }

//===- control flow ---------------------------------------------------------------------------===//

Expression ProgramGenerator::condition() {
  Expression a = expressions_.scalarOf(2), b = expressions_.scalarOf(1);
  std::string op = random_.choose<std::string>({"<", ">", "<=", ">="});
  return {scalar("(@ " + op + " @)", {a.node, b.node}), 1};
}

// What body emits; the variables that it defines are unknown behind it.
Node ProgramGenerator::scoped(const std::function<void()> &body) {
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

void ProgramGenerator::branch() {
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

// A loop with variables that it carries, each kept within bounds that hold in any iteration.
void ProgramGenerator::loop(const std::string &head, std::vector<Node> headParts,
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

void ProgramGenerator::forLoop() {
  std::string counter = fresh("i");
  std::string trips = random_.choose<std::string>(
      {"1:3", "1:2", "1:5", "3:1", "seq(1, 7, 3)", "1:as.integer(sum(matrix(1, 4, 1)))"});
  loop("for (" + counter + " in " + trips + ")", {}, counter, false);
}

void ProgramGenerator::whileLoop() {
  std::string counter = fresh("k");
  emit(statement(counter + " = 0"));
  std::string head = "while ((" + counter + " < " + std::to_string(random_.between(1, 4)) + ")";
  if (random_.chance(0.3))
    loop(head + " & @)", {condition().node}, counter, true);
  else
    loop(head + ")", {}, counter, true);
}

// A matrix that gains a column or a row with each iteration, and is used at each of its sizes.
void ProgramGenerator::growth() {
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

// Iterations that write a row or a cell each, or add to a sum.
void ProgramGenerator::parallelLoop() {
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

void ProgramGenerator::functionCall() {
  auto [rows, columns] = shape();
  Expression argument = expressions_.matrixOf(rows, columns, 2);
  Expression factor = expressions_.boundedScalar(1, 100);
  std::string name = fresh("f");
  std::map<std::string, Expression> outer = std::exchange(variables(), {});
  std::map<int64_t, std::vector<std::string>> sizeNames = std::exchange(expressions_.sizeNames, {});
  std::vector<Dimension> sizes = expressions_.sizes;
  std::erase_if(expressions_.sizes,
                [&, r = rows, c = columns](Dimension d) { return d < 0 && d != r && d != c; });
  Expression result, number;
  define("A", {matrix("A", rows, columns), argument.size});
  define("b", {scalar("b"), factor.size});
  Node body = scoped([&, rows = rows, columns = columns] {
    statements(random_.between(0, 2));
    result = expressions_.matrixOf(rows, columns, 3);
    number = expressions_.scalarOf(2);
    emit(statement("R = @", {result.node}));
    emit(statement("r = @", {number.node}));
  });
  variables() = outer;
  expressions_.sizeNames = sizeNames;
  expressions_.sizes = sizes;
  functions_.push_back(statement(
      name + " = function(matrix[double] A, double b) return (matrix[double] R, double r) {\n@}",
      {body}));
  std::string r = fresh("x"), s = fresh("s");
  emit(statement("[" + r + ", " + s + "] = " + name + "(@, @)", {argument.node, factor.node}));
  define(r, {matrix(r, rows, columns), result.size});
  define(s, {scalar(s), number.size});
}

// A function that calls itself a few times, on a smaller matrix or a smaller number.
void ProgramGenerator::recursion() {
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

// A statement that ends the program with an error.
void ProgramGenerator::failure() {
  auto [rows, columns] = shape();
  auto [otherRows, otherColumns] = shape();
  Node x = expressions_.matrixOf(rows, columns, 2).node;
  Node y = expressions_.matrixOf(otherRows, otherColumns, 1).node;
  Node s = expressions_.scalarOf(1).node;
  std::string name = fresh("x");
  switch (random_.upTo(6)) {
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
    emit(statement(name + " = table((@ * 0), 1)", {x}));
    break;
  default:
    emit(statement("if ((@ < 3)) {\n  stop(\"enough\")\n}", {s}));
    return;
  }
  emit(statement("print(sum(" + name + "))"));
}

} // namespace

Node generateProgram(uint64_t seed) { return ProgramGenerator(seed).program(); }

} // namespace tokamak::fuzz
