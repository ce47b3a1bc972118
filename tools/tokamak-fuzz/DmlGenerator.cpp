#include "tokamak-fuzz/DmlGenerator.h"

#include <algorithm>
#include <cmath>

namespace tokamak::fuzz {

//===- names and shapes -----------------------------------------------------------------------===//

void DmlGenerator::define(const std::string &name, const Expression &value) {
  Node node = value.isScalar() ? scalar(name) : matrix(name, value.node.rows, value.node.columns);
  variables()[name] = {std::move(node), value.size};
}

std::string DmlGenerator::assign(const char *prefix, const Expression &value) {
  std::string name = fresh(prefix);
  emit(statement(name + " = @", {value.node}));
  define(name, value);
  return name;
}

std::string DmlGenerator::pick(const std::function<bool(const Expression &)> &accept) {
  std::vector<std::string> names;
  for (const auto &[name, variable] : variables())
    if (!locked_.contains(name) && accept(variable))
      names.push_back(name);
  return names.empty() ? "" : random_.choose(names);
}

std::pair<Dimension, Dimension> DmlGenerator::shape() {
  for (;;) {
    Dimension rows = expressions_.inner(), columns = expressions_.inner();
    if (expressions_.most(rows) * expressions_.most(columns) <= 90'000)
      return {rows, columns};
  }
}

void DmlGenerator::chooseSizes() {
  // Small sizes get kernels of their own while all larger sizes share kernels, so larger ones cost
  // less compilation time.
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

Node DmlGenerator::program() {
  chooseSizes();
  for (int64_t i = random_.between(1, large_ ? 5 : 3); i > 0; --i) {
    auto [rows, columns] = shape();
    assign("x", expressions_.leaf(rows, columns));
  }
  statements(large_ ? random_.between(3, 8) : random_.between(1, 3));
  ruleExpression();
  if (random_.chance(0.06))
    failure();
  for (const auto &[name, variable] : variables())
    emit(statement("print(" + name + ")"));
  Statements all = functions_;
  all.insert(all.end(), main_.begin(), main_.end());
  return sequence(std::move(all));
}

void DmlGenerator::statements(int64_t count) {
  using G = DmlGenerator;
  for (; count > 0; --count) {
    std::vector<Step> steps = {&G::matrixAssignment, &G::matrixAssignment, &G::matrixAssignment,
                               &G::matrixAssignment, &G::matrixAssignment, &G::matrixAssignment,
                               &G::scalarAssignment, &G::scalarAssignment, &G::scalarAssignment,
                               &G::leftIndex,        &G::leftIndex,        &G::dynamicSize,
                               &G::sharedAggregates, &G::listOfValues,     &G::note,
                               &G::sparseQuotients,  &G::wholeInsert,      &G::sliceOfProduct,
                               &G::computedSizes,    &G::cellByCell,       &G::cellByCell,
                               &G::cellByCell};
    auto add = [&](std::initializer_list<Step> more) { steps.insert(steps.end(), more); };
    if (nesting_ < 2)
      add({&G::branch, &G::forLoop, &G::forLoop, &G::whileLoop, &G::neverTaken});
    if (nesting_ == 0)
      add({&G::growth, &G::functionCall, &G::recursion, &G::recursionOfNumbers, &G::parallelLoop,
           &G::changingDensity, &G::sharedArguments, &G::frame});
    (this->*random_.choose(steps))();
  }
}

void DmlGenerator::matrixAssignment() {
  auto [rows, columns] = shape();
  assign("x", expressions_.matrixOf(rows, columns, depth()));
}

void DmlGenerator::scalarAssignment() { assign("s", expressions_.scalarOf(depth())); }

void DmlGenerator::leftIndex() {
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
void DmlGenerator::dynamicSize() {
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

// Several aggregates of the same matrix.
void DmlGenerator::sharedAggregates() {
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

void DmlGenerator::listOfValues() {
  auto [rows, columns] = shape();
  Expression x = expressions_.matrixOf(rows, columns, 2), s = expressions_.scalarOf(1);
  std::string name = fresh("l");
  emit(statement(name + " = list(a=@, b=@)", {x.node, s.node}));
  std::string element = random_.choose<std::string>({"[1]", "[\"a\"]"});
  assign("x", {matrix("as.matrix(" + name + element + ")", rows, columns), x.size});
}

// Prints a note: the order of side effects must be preserved.
void DmlGenerator::note() { emit(statement("print(\"" + fresh("note ") + "\")")); }

} // namespace tokamak::fuzz
