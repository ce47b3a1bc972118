#include "frontend/dml/Import.h"

#include "support/SourceLocations.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::frontend;

namespace {

// Imports a script as "test.dml" and keeps the module and the messages as text.
struct Imported {
  explicit Imported(const std::string &text, ImportOptions options = {}) {
    module = importDml(sources, "test.dml", text, options, context, engine);
    llvm::raw_string_ostream messageStream(messages);
    engine.render(messageStream);
    if (!module)
      return;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    llvm::raw_string_ostream stream(ir);
    module->print(stream);
  }

  bool has(llvm::StringRef piece) const { return llvm::StringRef(ir).contains(piece); }

  mlir::MLIRContext context;
  SourceManager sources;
  support::DiagnosticEngine engine;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string ir, messages;
};

// The first line of each diagnostic.
std::vector<std::string> errorsOf(const std::string &text, ImportOptions options = {}) {
  Imported imported(text, std::move(options));
  EXPECT_FALSE(imported.module) << text;
  std::vector<std::string> lines;
  llvm::SmallVector<llvm::StringRef> all;
  llvm::StringRef(imported.messages).split(all, '\n');
  for (llvm::StringRef line : all)
    if (line.consume_front("test.dml:"))
      lines.push_back(line.str());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Import, generatesStraightLineCode) {
  Imported imported("X = rand(rows=10, cols=3, seed=1)\n"
                    "s = sum(X * X + 1)\n"
                    "print(\"s = \" + s)\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("tok.rand"));
  EXPECT_TRUE(imported.has("tok.binary mul"));
  EXPECT_TRUE(imported.has("tok.aggregate sum full"));
  EXPECT_TRUE(imported.has("tok.concat"));
  EXPECT_TRUE(imported.has("tok.print"));
}

TEST(Import, saysThatOneMatrixIsRepeated) {
  Imported imported("X = rand(rows=10, cols=3, seed=1)\n"
                    "Y = min(X - colSums(X), X) * 2\n"
                    "print(sum(ifelse(X > Y, X, 1)) + sum(ifelse(TRUE, Y, 1)))\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  for (const char *text : {"binary sub one_repeated", "binary min one_repeated", "binary mul %",
                           "binary gt one_repeated", "ifelse one_whole", "ifelse %"})
    EXPECT_TRUE(imported.has(text)) << text;
}

TEST(Import, locatesOperationsAtTheirOperator) {
  Imported imported("X = matrix(1, rows=2, cols=2)\ny = sum(X %*% X)\nprint(y)\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  imported.module->walk([](mlir::Operation *op) {
    SourcePlace place = support::placeOf(op->getLoc());
    if (op->getName().getStringRef() == "tok.matmul") {
      EXPECT_EQ(place.line, 2);
      EXPECT_EQ(place.column, 11);
    }
    if (op->getName().getStringRef() == "tok.aggregate") {
      EXPECT_EQ(place.column, 5);
    }
  });
}

TEST(Import, carriesOnlyWhatIsNeededThroughLoops) {
  Imported imported("X = rand(rows=10, cols=3, seed=1)\n"
                    "w = matrix(0, rows=3, cols=1)\n"
                    "i = 0\n"
                    "while (i < 10) {\n"
                    "  temporary = X %*% w\n"
                    "  w = w + t(X) %*% temporary\n"
                    "  i = i + 1\n"
                    "}\n"
                    "print(sum(w))\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  imported.module->walk([](mlir::Operation *op) {
    if (op->getName().getStringRef() == "tok.while") {
      EXPECT_EQ(op->getNumResults(), 2u);
    }
  });
}

TEST(Import, widensScalarsOfLoops) {
  Imported imported("x = 0\nfor (i in 1:3) {\n  x = x + 0.5\n}\nprint(x)\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("!tok.scalar"));
}

TEST(Import, leavesTheLoopVariableDefined) {
  Imported imported("for (i in 1:3) {\n}\nprint(i)\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("tok.undef \"i\" : i64"));
}

TEST(Import, joinsBranches) {
  Imported imported("a = sum(rand(rows=2, cols=2))\n"
                    "if (a > 1) { b = 1 } else { b = 2.5 }\n"
                    "if (a > 2) { c = b }\n"
                    "print(c)\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("-> !tok.scalar"));
  EXPECT_TRUE(imported.has("tok.undef \"c\""));
}

TEST(Import, takesBranchesOnConstants) {
  ImportOptions options;
  options.arguments["mode"] = "matrix";
  Imported imported("if ($mode == \"matrix\") { x = matrix(1, rows=1, cols=1) } else { x = 1 }\n"
                    "print(sum(x))\n",
                    options);
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_FALSE(imported.has("tok.if"));
}

TEST(Import, variablesReadBeforeALaterAssignmentOfTheLoop) {
  Imported imported("for (i in 1:3) {\n"
                    "  if (i > 1) { x = previous + 1 } else { x = 0.0 }\n"
                    "  previous = x\n"
                    "}\nprint(previous)\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_EQ(errorsOf("for (i in 1:3) {\n  x = y\n  y = x\n}\nprint(y)\n"),
            (Lines{"2:7: error: unknown variable 'y'"}));
}

TEST(Import, barrier) {
  EXPECT_TRUE(Imported("print(1)\nwhile(FALSE){}\nprint(2)\n").has("tok.barrier"));
}

TEST(Import, functionsWithDefaultsAndSeveralOutputs) {
  Imported imported("f = function(matrix[double] X, int k = 2, double a = k * 2) return "
                    "(matrix[double] Y, double s) {\n"
                    "  Y = X * a + k\n"
                    "  s = sum(Y)\n"
                    "}\n"
                    "[Z, s] = f(matrix(1, rows=2, cols=2))\n"
                    "print(s + sum(f(X=Z, k=1)))\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("func.func private @f(%arg0: tensor<?x?xf64>, %arg1: i64, %arg2: f64) "
                           "-> (tensor<?x?xf64>, f64)"));
  EXPECT_TRUE(imported.has("tok.call @f"));
}

TEST(Import, recursionAndUnreachableFunctions) {
  Imported imported("fact = function(int n) return (int r) {\n"
                    "  if (n <= 1) { r = 1 } else { r = n * fact(n - 1) }\n"
                    "}\n"
                    "unused = function(int n) return (int r) { r = n }\n"
                    "print(fact(5))\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("@fact(%arg0: i64) -> i64"));
  EXPECT_FALSE(imported.has("@unused"));
}

TEST(Import, libraryFunctionsAndShadowing) {
  ImportOptions options;
  options.library = [](llvm::StringRef name) -> std::optional<LibrarySource> {
    if (name != "twice")
      return std::nullopt;
    return LibrarySource{"lib/twice.dml",
                         "m_twice = function(matrix[double] X) return (matrix[double] Y) {\n"
                         "  Y = helper(X)\n}\n"
                         "helper = function(matrix[double] X) return (matrix[double] Y) {\n"
                         "  Y = 2 * X\n}\n"};
  };
  options.libraryNames = {"twice"};
  Imported imported("sum = function(matrix[double] X) return (double s) { s = 7.0 }\n"
                    "print(sum(twice(matrix(1, rows=1, cols=1))))\n",
                    options);
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("@m_twice"));
  EXPECT_TRUE(imported.has("@helper"));
  EXPECT_TRUE(imported.has("tok.call @sum"));
  EXPECT_FALSE(imported.has("tok.aggregate"));
  EXPECT_EQ(errorsOf("x = twise(1)\n", options), (Lines{"1:5: error: unknown function 'twise'"}));
}

TEST(Import, libraryFilesWithoutTheFunction) {
  ImportOptions options;
  options.library = [](llvm::StringRef name) -> std::optional<LibrarySource> {
    return LibrarySource{"lib/" + name.str() + ".dml",
                         name.str() + " = function(double x) return (double y) { y = x }\n"};
  };
  Imported imported("x = twice(1)\n", options);
  EXPECT_NE(imported.messages.find("'lib/twice.dml' is in the library, but it has no function "
                                   "'m_twice', 's_twice' or 'f_twice', which 'twice' would call"),
            std::string::npos)
      << imported.messages;
}

TEST(Import, arguments) {
  ImportOptions options;
  options.arguments = {{"reg", "1e-3"}, {"n", "3"}, {"empty", ""}};
  Imported imported("print($reg + $n)\nx = ifdef($empty, \"none\")\nprint(x)\n", options);
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("\"none\""));
  std::string uses = "print($rge)\nprint($reg + $n)\n";
  EXPECT_EQ(errorsOf(uses + "x = ifdef($empty, \"none\")\nprint(x)\n", options),
            (Lines{"1:7: error: argument '$rge' is not given"}));
  EXPECT_EQ(errorsOf(uses, options),
            (Lines{" warning: the argument '$empty' is given, but nothing uses it",
                   "1:7: error: argument '$rge' is not given"}));
}

TEST(Import, reportsUnknownNamesWithCandidatesOnce) {
  Imported imported("beta = 1\ny = bta * 2\nz = y + 1\nprint(colsum(z))\n");
  EXPECT_EQ(imported.messages, "test.dml:2:5: error: unknown variable 'bta'\n"
                               "    y = bta * 2\n"
                               "        ^~~\n"
                               "  note: did you mean 'beta'?\n"
                               "test.dml:4:7: error: unknown function 'colsum'\n"
                               "    print(colsum(z))\n"
                               "          ^~~~~~\n"
                               "  note: did you mean 'colSums' or 'cumsum'?\n");
}

TEST(Import, reportsTypeErrors) {
  EXPECT_EQ(errorsOf("x = \"a\" - 1\n"),
            (Lines{"1:9: error: '-' is not defined for a string and an integer"}));
  EXPECT_EQ(errorsOf("x = TRUE + 1\n"),
            (Lines{"1:10: error: '+' is not defined for a boolean and an integer"}));
  EXPECT_EQ(errorsOf("x = sum(3)\n"),
            (Lines{"1:9: error: expected a matrix for 'X' of 'sum', got an integer"}));
  EXPECT_EQ(errorsOf("x = 2 %*% 3\n"),
            (Lines{"1:7: error: '%*%' needs two matrices, got an integer and an integer"}));
  EXPECT_EQ(
      errorsOf("if (\"TRUE\") { x = 1 }\n"),
      (Lines{"1:5: error: the condition of 'if' must be a boolean or a number, it is a string"}));
  EXPECT_EQ(errorsOf("x = 1\ny = x[1, 1]\n"),
            (Lines{"2:5: error: 'x' can't be indexed, it is an integer"}));
}

TEST(Import, reportsVariablesThatChangeTheirDataType) {
  EXPECT_EQ(
      errorsOf("a = sum(rand(rows=1))\nif (a > 1) {\n  x = 1\n} else {\n  x = matrix(1, rows=1, "
               "cols=1)\n}\n"),
      (Lines{"5:3: error: 'x' is a matrix here and an integer on another path to the same point"}));
  EXPECT_EQ(
      errorsOf("x = 1\nfor (i in 1:3) {\n  x = matrix(i, rows=1, cols=1)\n}\n"),
      (Lines{"3:3: error: 'x' is a matrix here and an integer on another path to the same point"}));
}

TEST(Import, reportsWrongArguments) {
  EXPECT_EQ(errorsOf("X = rand(rows=1, cls=2)\n"),
            (Lines{"1:18: error: 'rand' has no parameter 'cls'"}));
  EXPECT_EQ(errorsOf("X = seq(1)\n"), (Lines{"1:5: error: 'seq' needs a value for 'to'"}));
  EXPECT_EQ(errorsOf("X = seq(1, 2, 3, 4)\n"),
            (Lines{"1:5: error: 'seq' takes at most 3 arguments, 4 are given"}));
  EXPECT_EQ(errorsOf("f = function(int a) return (int b) { b = a }\nx = f(c=1)\n"),
            (Lines{"2:7: error: 'f' has no parameter 'c'"}));
  EXPECT_EQ(errorsOf("f = function(int a) return (int b) { b = a }\nx = f()\n"),
            (Lines{"2:5: error: 'f' needs a value for 'a'"}));
}

TEST(Import, builtinsWithSeveralResults) {
  Imported imported("L = list(1, 2)\n[R, e] = remove(L, 1)\nprint(length(R) + length(e))\n");
  ASSERT_TRUE(imported.module) << imported.messages;
  EXPECT_TRUE(imported.has("tok.native \"list_remove\""));
}

TEST(Import, refusesWhatCannotRunYetByName) {
  EXPECT_EQ(errorsOf("X = federated(list(\"a\"), list(1))\nY = range(1, 2)\n"),
            (Lines{"1:5: error: 'federated' is not supported yet",
                   "2:5: error: 'range' is a name without a meaning: use seq(from, to, incr)"}));
}

TEST(Import, valuesHaveTracesWhereLineageIsCalled) {
  Imported without("X = rand(rows=2)\nprint(sum(X))\n");
  ASSERT_TRUE(without.module) << without.messages;
  EXPECT_FALSE(without.has("tok.list"));
  Imported traced("f = function(matrix[double] A) return (matrix[double] B) { B = A }\n"
                  "X = rand(rows=2)\nwhile (sum(X) > 1) X = f(X)\nprint(lineage(X))\n");
  ASSERT_TRUE(traced.module) << traced.messages;
  EXPECT_TRUE(traced.has("tok.native \"lineage\"(%"));
  EXPECT_TRUE(traced.has("(tensor<?x?xf64>, !tok.list) -> (tensor<?x?xf64>, !tok.list)"));
}

TEST(Import, unknownNamesAreNoCandidates) {
  EXPECT_EQ(errorsOf("a = unknown1\nb = unknown2\n"),
            (Lines{"1:5: error: unknown variable 'unknown1'",
                   "2:5: error: unknown variable 'unknown2'"}));
}

} // namespace
