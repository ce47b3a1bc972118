// Situations that random statements rarely produce: operands that change from sparse to dense, one
// matrix passed for two parameters, unreachable statements, frames.
#include "tokamak-fuzz/DmlGenerator.h"

#include <algorithm>

namespace tokamak::fuzz {

// A sparse matrix divided by zeros, and the number of NaN cells in the result.
void DmlGenerator::sparseQuotients() {
  auto [rows, columns] = shape();
  std::string s = assign("x", expressions_.sparse(rows, columns));
  Expression quotient = expressions_.quotient(variables()[s], 1);
  if (random_.chance(0.5)) {
    std::string name = assign("x", quotient);
    quotient.node = matrix(name, rows, columns);
  }
  auto counted = [&](const std::string &pattern) {
    assign("s", {scalar(pattern, {quotient.node}), 1e6});
  };
  if (random_.chance(0.7))
    counted(random_.choose<std::string>({"sum(is.nan(@))", "sum((@ == 0))", "sum(is.infinite(@))",
                                         "sum(replace(target=@, pattern=NaN, replacement=1))"}));
  if (random_.chance(0.4))
    assign("x", {matrix("colSums(is.nan(@))", 1, columns, {quotient.node}), 1e5});
  if (random_.chance(0.4))
    assign("x", {matrix("rowSums(is.nan(@))", rows, 1, {quotient.node}), 1e5});
}

// Loops over the cells of a matrix and of its copy, with numbers of all types. What is decided in
// them depends on integers alone, so that rounding changes no decision.
void DmlGenerator::cellByCell() {
  auto [rows, columns] = shape();
  if (expressions_.most(rows) * expressions_.most(columns) > 400)
    return;
  std::string x = assign("x", expressions_.boundedMatrix(rows, columns, 1, 8));
  std::string copy = assign("x", variables()[x]), i = fresh("i"), j = fresh("j"), v = fresh("s"),
              sum = fresh("s"), k = fresh("k"), p = fresh("b");
  variables()[x].size = variables()[copy].size = 16;
  auto cell = [&] {
    return "as.scalar(" + random_.choose<std::string>({x, x, copy}) + "[" + i + ", " + j + "])";
  };
  auto integer = [&] {
    return random_.choose<std::string>({"(" + i + " - " + j + ")", "((" + k + " * " + i + ") %% 7)",
                                        "(" + k + " %/% " + j + ")", "min(" + i + ", " + j + ")",
                                        "max(" + k + ", 3)", "as.integer(" + p + ")"});
  };
  auto truth = [&] {
    return random_.choose<std::string>({"(" + integer() + " > " + integer() + ")",
                                        "((" + i + " <= " + j + ") | " + p + ")",
                                        "(" + integer() + " == 0)", "!(" + p + ")"});
  };
  auto number = [&] {
    return random_.choose<std::string>(
        {"(" + cell() + " - (" + integer() + " / 64))", "(" + cell() + " / 2)",
         "min(" + cell() + ", (" + v + " * 0.5))", "abs(" + cell() + ")", "floor(" + v + ")",
         "ifelse(" + truth() + ", " + cell() + ", 0.25)", "sin(" + cell() + ")"});
  };
  std::string body;
  for (int64_t step = random_.between(2, 5); step > 0; --step)
    body += random_.choose<std::string>(
        {v + " = " + number() + "\n", k + " = ((" + k + " + " + integer() + ") %% 50)\n",
         p + " = " + truth() + "\n", sum + " = ((" + number() + " - " + sum + ") * 0.5)\n",
         x + "[" + i + ", " + j + "] = " + number() + "\n",
         "if ((" + i + " > 2)) {\n" + x + "[" + i + ", " + j + "] = " + number() + "\n}\n",
         "if (" + truth() + ") {\n" + x + "[" + i + ", " + j + "] = " + number() + "\n} else {\n" +
             v + " = (" + v + " * 0.5)\n}\n"});
  // A cell that is outside in a later row. Only one statement fails, and its result is used: what is not
  // used may be left out together with its error.
  if (random_.chance(0.15))
    body += sum + " = (" + sum + " + as.scalar(" + x + "[" + i + ", (" + j + " + (" + i +
            " %/% 3))]))\n";
  auto range = [&](const std::string &size) {
    return random_.choose<std::string>(
        {"1:" + size, size + ":1", "seq(1, " + size + ", 2)", "1:" + size});
  };
  std::string inner = "for (" + j + " in " + range("ncol(" + x + ")") + ") {\n" + body + "}\n";
  if (random_.chance(0.3))
    inner = j + " = 1\nwhile ((" + j + " <= ncol(" + x + "))) {\n" + body + j + " = (" + j +
            " + 1)\n}\n";
  emit(statement(v + " = 1.5\n" + sum + " = 0.25\n" + k + " = " +
                 std::to_string(random_.between(0, 9)) + "\n" + p + " = TRUE\nif ((length(" + x +
                 ") > 0)) {\nfor (" + i + " in " + range("nrow(" + x + ")") + ") {\n" + inner +
                 "}\n}"));
  define(sum, {scalar(sum), 100});
  define(v, {scalar(v), 100});
}

// Statements that would fail, in unreachable places or in places reached only if some cell is
// small.
void DmlGenerator::neverTaken() {
  Node condition;
  std::string x = pick([](const Expression &v) { return !v.isScalar(); });
  if (x.empty())
    return;
  auto body = [&] {
    for (int64_t i = random_.between(0, 1); i > 0; --i)
      matrixAssignment();
    failingStatement();
  };
  std::string y = pick([](const Expression &v) { return !v.isScalar(); });
  switch (random_.upTo(7)) {
  case 0:
    emit(statement("if ((nrow(" + x + ") > 1000000)) {\n@}", {scoped(body)}));
    return;
  case 1: {
    std::string counter = fresh("i");
    Node inside = scoped([&] {
      define(counter, {scalar(counter), 2});
      emit(statement("if ((" + counter + " > 5)) {\n@}", {scoped(body)}));
      scalarAssignment();
    });
    emit(statement("for (" + counter + " in 1:2) {\n@}", {inside}));
    return;
  }
  case 2: {
    std::string counter = fresh("k");
    emit(statement(counter + " = 0"));
    emit(
        statement("while ((" + counter + " > " + std::to_string(random_.between(0, 3)) + ")) {\n@}",
                  {scoped(body)}));
    return;
  }
  case 3:
    emit(statement("if ((sum(abs(" + x + ")) < 0)) {\n@} else {\n@}",
                   {scoped(body), scoped([&] { statements(1); })}));
    return;
  case 4:
    // The branch is not taken if the sizes differ, so the product in it must not be rejected.
    emit(statement("if (((nrow(" + x + ") == nrow(" + y + ")) & (ncol(" + x + ") == ncol(" + y +
                   ")))) {\n  print(sum((" + x + " * " + y + ") == 0))\n}"));
    return;
  case 5: {
    std::string name = fresh("f");
    Expression argument = variables()[x];
    functions_.push_back(function(
        name, "(matrix[double] A) return (double r)",
        {{"A", {matrix("A", argument.node.rows, argument.node.columns), argument.size}}}, [&] {
          body();
          emit(statement("r = 1"));
        }));
    emit(statement("if ((ncol(" + x + ") < 0)) {\n  print(" + name + "(" + x + "))\n}"));
    return;
  }
  default:
    condition = this->condition().node;
    emit(statement("if (@) {\n@}", {condition, scoped(body)}));
  }
}

// A loop in which a matrix is sparse in some iterations and dense in others.
void DmlGenerator::changingDensity() {
  auto [rows, columns] = shape();
  if (expressions_.most(rows) * expressions_.most(columns) > 20'000)
    return;
  std::string sparse = assign("x", expressions_.sparse(rows, columns));
  std::string dense = assign("x", expressions_.boundedMatrix(rows, columns, 1, 9));
  std::string sum = assign("x", expressions_.boundedMatrix(rows, columns, 1, 16));
  variables()[sum].size = 20;
  std::string counter = fresh("i"), changing = fresh("x");
  Node body = scoped([&, rows = rows, columns = columns] {
    std::set<std::string> locked = locked_;
    locked_.insert({sparse, dense, sum});
    define(counter, {scalar(counter), 10});
    switch (random_.upTo(3)) {
    case 0:
      emit(statement(changing + " = " + sparse));
      emit(
          statement("if (((" + counter + " %% 2) == 0)) {\n  " + changing + " = " + dense + "\n}"));
      break;
    case 1:
      emit(statement(changing + " = rand(rows=@, cols=@, min=-2, max=3, seed=" +
                         std::to_string(random_.between(1, 1000)) + ", sparsity=(0.02 * " +
                         counter + " * " + counter + " * " + counter + "))",
                     {expressions_.dimension(rows), expressions_.dimension(columns)}));
      break;
    default:
      // The number of non-zero cells decreases with each iteration.
      emit(statement(changing + " = (" + dense + " * (abs(" + dense + ") > (3 * (" + counter +
                     " - 1))))"));
      break;
    }
    define(changing, {matrix(changing, rows, columns), 9});
    for (int64_t i = random_.between(0, 2); i > 0; --i)
      random_.chance(0.5) ? scalarAssignment() : matrixAssignment();
    Expression value = expressions_.over(variables()[changing], 2, 9);
    emit(statement(sum + " = ((" + sum + " * 0.5) + @)", {value.node}));
    locked_ = locked;
  });
  std::string trips = random_.choose<std::string>({"1:4", "1:3", "4:1"});
  emit(statement("for (" + counter + " in " + trips + ") {\n@}", {body}));
}

// A function of two matrices, called with two different matrices and with the same one twice.
void DmlGenerator::sharedArguments() {
  auto [rows, columns] = shape();
  std::vector<std::string> arguments = {
      assign("x", expressions_.boundedMatrix(rows, columns, 1, 16)),
      assign("x", random_.chance(0.5) ? expressions_.sparse(rows, columns)
                                      : expressions_.boundedMatrix(rows, columns, 1, 16))};
  std::string name = fresh("f");
  functions_.push_back(function(
      name, "(matrix[double] A, matrix[double] B) return (matrix[double] R)",
      {{"A", {matrix("A", rows, columns), 20}}, {"B", {matrix("B", rows, columns), 20}}}, [&] {
        if (random_.chance(0.5))
          leftIndex();
        for (int64_t i = random_.between(0, 1); i > 0; --i)
          matrixAssignment();
        Expression a = expressions_.over(variables()["A"], 1, 9),
                   b = expressions_.over(variables()["B"], 0, 9);
        emit(statement("R = (@ " + random_.choose<std::string>({"+", "-"}) + " @)",
                       {a.node, b.node}));
      }));
  auto call = [&] {
    return name + "(" + random_.choose(arguments) + ", " + random_.choose(arguments) + ")";
  };
  for (const std::string &argument : arguments)
    variables()[argument].size = 20;
  if (random_.chance(0.5)) {
    std::string body;
    for (const std::string &argument : arguments)
      body += "  " + argument + " = " + call() + "\n";
    emit(statement("for (" + fresh("i") + " in 1:3) {\n" + body + "}"));
    return;
  }
  for (int64_t i = random_.between(2, 4); i > 0; --i)
    assign("x", {matrix(call(), rows, columns), 18});
}

// Converts a matrix to a frame with strings beside it, then slices, fills and binds it, and
// converts it back.
void DmlGenerator::frame() {
  int64_t rows = random_.between(1, 5), columns = random_.between(1, 4);
  std::string frame = fresh("F");
  auto place = [&] {
    return text("@, @", {size(random_.between(1, rows)), size(random_.between(1, columns))});
  };
  emit(statement(frame + " = as.frame(@)", {expressions_.leaf(rows, columns).node}));
  bool hasTexts = random_.chance(0.5);
  if (hasTexts)
    emit(statement(frame + " = cbind(" + frame + ", frame(\"t\", rows=@, cols=1))", {size(rows)}));
  for (int64_t i = random_.between(0, 3); i > 0; --i)
    switch (random_.upTo(5)) {
    case 0:
      emit(statement(frame + "[@] = @", {place(), expressions_.number().node}));
      break;
    case 1: {
      int64_t column = random_.between(1, columns);
      emit(statement(frame + "[, @] = as.frame(@)",
                     {text("@:@", {size(column), size(column)}), expressions_.leaf(rows, 1).node}));
      break;
    }
    case 2:
      if (rows > 12)
        break;
      emit(statement(frame + " = rbind(" + frame + ", " + frame + ")"));
      rows *= 2;
      break;
    case 3: {
      int64_t top = random_.between(1, rows);
      emit(statement(frame + " = " + frame + "[@:@, ]", {size(top), size(rows)}));
      rows = rows - top + 1;
      break;
    }
    default: {
      // A loop in which each iteration writes into the frame of the previous one.
      std::string counter = fresh("i"), copy = fresh("F");
      emit(statement(copy + " = " + frame));
      emit(statement("for (" + counter + " in 1:nrow(" + frame + ")) {\n  " + frame + "[" +
                         counter + ", 1] = (" + counter + " * @)\n}",
                     {expressions_.number().node}));
      emit(statement("print(as.scalar(" + copy + "[1, 1]))"));
    }
    }
  if (hasTexts && random_.chance(0.5)) {
    std::string label = fresh("s");
    emit(statement(frame + "[1, @] = \"u\"", {size(columns + 1)}));
    emit(statement(label + " = 1"));
    emit(statement("if ((as.scalar(" + frame + "[@, @]) == \"t\")) {\n  " + label + " = 2\n}",
                   {size(rows), size(columns + 1)}));
    define(label, {scalar(label), 2});
  }
  if (random_.chance(0.3))
    emit(statement("print(" + frame + ")"));
  assign("s", {scalar("(nrow(" + frame + ") + (10 * ncol(" + frame + ")))"), 200});
  assign("x", {matrix("as.matrix(" + frame + "[, 1:@])", rows, columns, {size(columns)}), 20});
}

// Matrices whose sizes are computed from one number in different ways, and combined: a number of
// rows that is known only when the program runs, and too large to be bound as a constant.
void DmlGenerator::computedSizes() {
  std::string n = fresh("n");
  emit(statement(
      n + random_.choose<std::string>(
              {" = as.integer(sum(matrix(1, rows=@, cols=1)))",
               " = nrow(removeEmpty(target=matrix(1, rows=@, cols=1), margin=\"rows\"))"}),
      {size(random_.between(129, 150))}));
  int64_t columns = random_.between(1, 3);
  auto times = [&](int64_t factor, int64_t more) {
    return "((" + n + " * " + std::to_string(factor) + ") + (" + std::to_string(more) + "))";
  };
  auto filled = [&](const std::string &rows) {
    return "rand(rows=" + rows + ", cols=" + std::to_string(columns) +
           ", min=-3, max=3, seed=" + std::to_string(random_.between(1, 1000)) + ")";
  };
  int64_t a = random_.between(1, 2), b = random_.between(1, 2);
  int64_t x = random_.between(-3, 3), y = random_.between(-3, 3);
  std::string first, second;
  switch (random_.upTo(5)) {
  case 0:
    first = "rbind(" + filled(times(a, x)) + ", " + filled(times(b, y)) + ")";
    second = filled(times(a + b, x + y));
    break;
  case 1: // of slices
    first = filled(times(a + b, 5));
    first = first + "[" + n + ":" + times(a + b, -x) + ",]";
    second = filled(times(a + b - 1, 1 - x));
    break;
  case 2:
    first = filled("min(" + times(a, x) + ", " + times(a, y) + ")");
    second = filled(times(a, std::min(x, y)));
    break;
  case 3:
    first = filled("max(" + times(a, x) + ", " + n + ")");
    second = "rbind(" + filled(n) + ", " + filled("(max(" + times(a - 1, x) + ", 0))") + ")";
    break;
  default:
    first = filled("(" + times(2 * a, 1) + " %/% 2)");
    second = filled(times(a, 0));
  }
  std::string op = random_.choose<std::string>({"+", "*", "-"});
  std::string name = fresh("y");
  emit(statement(name + " = (" + first + " " + op + " " + second + ")"));
  assign("s", {scalar(random_.choose<std::string>(
                   {"sum(" + name + ")", "nrow(" + name + ")", "max(" + name + ")"})),
               1e5});
}

// Left indexing that overwrites all cells of a matrix.
void DmlGenerator::wholeInsert() {
  std::string name = pick([this](const Expression &x) {
    return !x.isScalar() && expressions_.most(x.node.rows) > 0 &&
           expressions_.most(x.node.columns) > 0 && x.node.rows >= 0 && x.node.columns >= 0;
  });
  if (name.empty())
    return;
  Expression &target = variables()[name];
  Expression value = expressions_.matrixOf(target.node.rows, target.node.columns, 2);
  Node place = random_.chance(0.5)
                   ? text("1:@, 1:@", {size(target.node.rows), size(target.node.columns)})
                   : text("1:nrow(" + name + "), 1:ncol(" + name + ")");
  emit(statement(name + "[@] = @", {place, value.node}));
  target.size = std::max(target.size, value.size);
}

// Expressions that match rewrite rules whose operands must have certain shapes, which random
// expressions rarely have. Multiplied by 0.5, because rules are applied only to blocks, which need
// some computation.
void DmlGenerator::ruleExpression() {
  int64_t rows = random_.choose({2, 3, 8}), columns = random_.choose({2, 5, 7});
  auto leaf = [&](int64_t r, int64_t c) { return expressions_.leaf(r, c).node; };
  auto made = [&](const std::string &pattern, int64_t r, int64_t c, std::vector<Node> operands) {
    assign("x", {matrix("(" + pattern + " * 0.5)", r, c, std::move(operands)), 1e4});
  };
  switch (random_.upTo(7)) {
  case 0:
    return made("cbind(@, cbind(@, @))", rows, 3 * columns,
                {leaf(rows, columns), leaf(rows, columns), leaf(rows, columns)});
  case 1:
    return made("t(cbind(t(@), t(@)))", 2 * rows, columns,
                {leaf(rows, columns), leaf(rows, columns)});
  case 2:
    return made("diag((@ %*% @))", rows, 1, {leaf(rows, columns), leaf(columns, rows)});
  case 3:
    return made("(t(@) %*% t(@))", rows, columns, {leaf(5, rows), leaf(columns, 5)});
  case 4:
    return made("rev(rev(@))", rows, columns, {leaf(rows, columns)});
  case 5:
    return made("(-(-@))", rows, columns, {leaf(rows, columns)});
  default: {
    std::string product = fresh("p");
    emit(statement(product + " = (@ %*% @)", {leaf(8, columns), leaf(columns, 9)}));
    return made(product + "[1:2, ]", 2, 9, {});
  }
  }
}

// A slice of a product that has no other use.
void DmlGenerator::sliceOfProduct() {
  auto [rows, columns] = shape();
  if (rows < 2 || columns < 2)
    return;
  Dimension inner = expressions_.inner();
  if (rows * columns * expressions_.most(inner) > 400'000)
    return;
  Expression x = expressions_.boundedMatrix(rows, inner, 1, 20),
             y = expressions_.boundedMatrix(inner, columns, 1, 20);
  std::string product = fresh("p");
  double size = 400 * static_cast<double>(std::max<int64_t>(1, expressions_.most(inner)));
  emit(statement(product + " = (@ %*% @)", {x.node, y.node}));
  int64_t cut = random_.between(1, random_.chance(0.5) ? 1 : rows / 2 + 1);
  if (random_.chance(0.5))
    assign("x", {matrix(product + "[1:@, ]", cut, columns, {fuzz::size(cut)}), size});
  else
    assign("x", {matrix(product + "[2, @]", 1, 1, {fuzz::size(columns)}), size});
}

} // namespace tokamak::fuzz
