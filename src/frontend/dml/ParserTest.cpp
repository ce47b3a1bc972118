#include "frontend/dml/Parser.h"

#include "frontend/dml/AstPrinter.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::frontend;

namespace {

/// The tree of `text`, or the messages, one "line:column: message" per line.
std::string parsed(const std::string &text) {
  SourceManager sources;
  support::DiagnosticEngine engine;
  if (auto program = parseProgram(sources.add("test.dml", text), sources, engine))
    return toString(*program);
  std::string messages;
  for (const support::Diagnostic *d : engine.sorted())
    messages +=
        std::to_string(d->line) + ":" + std::to_string(d->column) + ": " + d->message + "\n";
  return messages;
}

/// The tree of `x = text` without the assignment.
std::string expression(const std::string &text) {
  std::string result = parsed("x = " + text);
  const std::string prefix = "(assign x ";
  return result.starts_with(prefix)
             ? result.substr(prefix.size(), result.size() - prefix.size() - 2)
             : result;
}

std::string repeated(const std::string &text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i)
    result += text;
  return result;
}

} // namespace

TEST(ParserExpressions, precedence) {
  EXPECT_EQ(expression("2 ^ 3 ^ 4"), "(^ 2 (^ 3 4))");
  EXPECT_EQ(expression("2 ^ -1 + 3"), "(+ (^ 2 -1) 3)");
  EXPECT_EQ(expression("-2 ^ 2"), "(- (^ 2 2))");
  EXPECT_EQ(expression("-a %*% b"), "(%*% (- a) b)");
  EXPECT_EQ(expression("a %% b %*% c"), "(%% a (%*% b c))");
  EXPECT_EQ(expression("a * b %% c"), "(* a (%% b c))");
  EXPECT_EQ(expression("a %/% b * c"), "(* (%/% a b) c)");
  EXPECT_EQ(expression("a - b - c * d / e"), "(- (- a b) (/ (* c d) e))");
  EXPECT_EQ(expression("a + b < c * 2"), "(< (+ a b) (* c 2))");
  EXPECT_EQ(expression("a == b == c"), "(== (== a b) c)");
  EXPECT_EQ(expression("!a == b"), "(! (== a b))");
  EXPECT_EQ(expression("!a & b"), "(& (! a) b)");
  EXPECT_EQ(expression("a + !b == c"), "(+ a (! (== b c)))");
  EXPECT_EQ(expression("a | b & c | d"), "(| (| a (& b c)) d)");
  EXPECT_EQ(expression("(a + b) * c"), "(* (+ a b) c)");
  EXPECT_EQ(expression("-(-a)"), "(- (- a))");
  EXPECT_EQ(expression("a >= 1 & b <= 2 | c != 3 & d > 4"),
            "(| (& (>= a 1) (<= b 2)) (& (!= c 3) (> d 4)))");
}

TEST(ParserExpressions, literals) {
  EXPECT_EQ(expression("-5"), "-5");
  EXPECT_EQ(expression("+1.5"), "1.5");
  EXPECT_EQ(expression("-TRUE"), "(- TRUE)");
  EXPECT_EQ(expression("1."), "1.0");
  EXPECT_EQ(expression("pi"), "3.141592653589793");
  EXPECT_EQ(expression("-Inf"), "-Inf");
  EXPECT_EQ(expression("NaN"), "NaN");
  EXPECT_EQ(expression("'a\\tb'"), "\"a\\09b\"");
  EXPECT_EQ(expression("$a + $1"), "(+ $a $1)");
}

TEST(ParserExpressions, doubledOperatorsAreAcceptedWithANote) {
  SourceManager sources;
  support::DiagnosticEngine engine;
  auto program = parseProgram(sources.add("t.dml", "x = a && b || c && d"), sources, engine);
  ASSERT_TRUE(program);
  EXPECT_EQ(toString(*program), "(assign x (| (& a b) (& c d)))\n");
  ASSERT_EQ(engine.sorted().size(), 1u);
  EXPECT_EQ(engine.sorted()[0]->severity, support::Severity::Note);
}

TEST(ParserExpressions, indexes) {
  EXPECT_EQ(expression("X[1, ]"), "(index X 1 all)");
  EXPECT_EQ(expression("X[,]"), "(index X all all)");
  EXPECT_EQ(expression("X[1:n+1, 2]"), "(index X (range 1 (+ n 1)) 2)");
  EXPECT_EQ(expression("L['a':'b']"), "(index L (range \"a\" \"b\"))");
  EXPECT_EQ(expression("L[i]"), "(index L i)");
  EXPECT_EQ(expression("X[A[1,1], -1]"), "(index X (index A 1 1) -1)");
}

TEST(ParserExpressions, calls) {
  EXPECT_EQ(expression("f()"), "(call f)");
  EXPECT_EQ(expression("ns::f(a, b=2, lower.tail=FALSE)"), "(call ns::f a b=2 lower.tail=FALSE)");
  EXPECT_EQ(expression("f(a == b)"), "(call f (== a b))");
  EXPECT_EQ(expression("conv(stride=[1, 1])"), "(call conv stride=(list 1 1))");
  EXPECT_EQ(expression("f(g(a);, h(b);)"), "(call f (call g a) (call h b))");
  EXPECT_EQ(expression("as.scalar(X[1,1])"), "(call as.scalar (index X 1 1))");
}

TEST(ParserStatements, newlinesDoNotEndStatements) {
  EXPECT_EQ(parsed("x = a\n- b"), "(assign x (- a b))\n");
  EXPECT_EQ(parsed("x = 1 y = 2;; z = 3"), "(assign x 1)\n(assign y 2)\n(assign z 3)\n");
  EXPECT_EQ(parsed("x = y\n[a, b] = f(z)"), "(assign x y)\n(multi-assign (a b) (call f z))\n");
  EXPECT_EQ(parsed("x = y\n[a, b] <- f(z)"), "(assign x y)\n(multi-assign (a b) (call f z))\n");
  EXPECT_EQ(parsed("x = y\n[1, 2]"), "(assign x (index y 1 2))\n");
  EXPECT_EQ(parsed("x = y\n[a[1], b] = f(z)"),
            "(assign x y)\n(multi-assign ((index a 1) b) (call f z))\n");
  EXPECT_EQ(parsed("x = y[1,1] == 2"), "(assign x (== (index y 1 1) 2))\n");
  EXPECT_EQ(parsed("print(x)\n[a, b] = f(z)"), "(call print x)\n(multi-assign (a b) (call f z))\n");
}

TEST(ParserStatements, assignments) {
  EXPECT_EQ(parsed("x <- 1"), "(assign x 1)\n");
  EXPECT_EQ(parsed("s += 1"), "(accumulate s 1)\n");
  EXPECT_EQ(parsed("X[1, 2:3] = f(y)"), "(assign (index X 1 (range 2 3)) (call f y))\n");
  EXPECT_EQ(parsed("X[i, j] += 1"), "(accumulate (index X i j) 1)\n");
  EXPECT_EQ(parsed("x = ifdef($x, 1 + 2)"), "(ifdef x $x (+ 1 2))\n");
  EXPECT_EQ(parsed("a<-1"), "(assign a 1)\n");
}

TEST(ParserStatements, controlFlow) {
  EXPECT_EQ(parsed("if (a) x = 1; else if (b) x = 2 else { x = 3; y = 4 }"),
            "(if a (then (assign x 1)) (else (if b (then (assign x 2)) (else (assign x 3) "
            "(assign y 4)))))\n");
  EXPECT_EQ(parsed("if (a) { x = 1 };\nelse { x = 2 }"),
            "(if a (then (assign x 1)) (else (assign x 2)))\n");
  EXPECT_EQ(parsed("while (FALSE) {}"), "(while FALSE)\n");
  EXPECT_EQ(parsed("for (i in 1:n+1) x = i"), "(for i (range 1 (+ n 1)) (assign x i))\n");
  EXPECT_EQ(parsed("for (i in seq(1, n, 2)) x = i"), "(for i (range 1 n 2) (assign x i))\n");
  EXPECT_EQ(parsed("for (i in seq(from=n, to=1, incr=-1)) {}"), "(for i (range n 1 -1))\n");
  EXPECT_EQ(parsed("parfor (i in 1:n, check=0, mode=REMOTE_SPARK, par=$p) { X[i,] = i }"),
            "(parfor i (range 1 n) check=0 mode=REMOTE_SPARK par=$p (assign (index X i all) i))\n");
  EXPECT_EQ(parsed("for (i in 1:3, check=0) {}"), "(for i (range 1 3) check=0)\n");
}

TEST(ParserStatements, files) {
  EXPECT_EQ(parsed("setwd('a/b')\nsource(\"nn/x.dml\") as x;"),
            "(setwd \"a/b\")\n(source \"nn/x.dml\" x)\n");
  EXPECT_EQ(parsed("source($p) as x"), "1:8: expected a path as a string literal, found '$p'\n");
  EXPECT_EQ(parsed("source('a')\nx = 1"),
            "2:1: expected 'as' and a namespace after the path, found 'x'\n");
  EXPECT_EQ(parsed("if (a) source('b') as c"),
            "1:8: 'source' is allowed at the top level of a file only\n");
}

TEST(ParserFunctions, definitions) {
  EXPECT_EQ(
      parsed("f = function(matrix[double] X, int k = 3, Frame[String] s) return (list[unknown] r, "
             "Double d) { r = X; d = 1 };"),
      "(function f (matrix[double] X, scalar[int] k=3, frame[string] s) (list[unknown] r, "
      "scalar[double] d) (assign r X) (assign d 1))\n");
  EXPECT_EQ(parsed("f <- function() { print(1) }"), "(function f () () (call print 1))\n");
  EXPECT_EQ(parsed("f = function(scalar[boolean] b) return (boolean r) { r = b } x = f(TRUE)"),
            "(assign x (call f TRUE))\n"
            "(function f (scalar[boolean] b) (scalar[boolean] r) (assign r b))\n");
}

TEST(ParserFunctions, errors) {
  EXPECT_EQ(parsed("f = function(X) { y = X }"), "1:14: 'X' needs a type before it\n");
  EXPECT_EQ(parsed("f = function(matrix X) { y = X }"),
            "1:14: 'matrix' needs the type of its values: matrix[double]\n");
  EXPECT_EQ(parsed("f = function(matrx[double] X) { y = X }"), "1:14: unknown type 'matrx'\n");
  EXPECT_EQ(parsed("f = function(int a) {}"), "1:21: the body of the function 'f' is empty\n");
  EXPECT_EQ(parsed("f = function(int a, int a) { x = a }"), "1:25: 'a' is declared twice\n");
  EXPECT_EQ(parsed("f = function() { x = 1 }\nf = function() { x = 2 }"),
            "2:1: the function 'f' is already defined\n");
  EXPECT_EQ(parsed("if (a) { f = function() { x = 1 } }"),
            "1:10: a function definition is allowed at the top level of a file only\n");
  EXPECT_EQ(parsed("f = function(int a) return (int b = 1) { b = a }"),
            "1:35: an output has no default\n");
  EXPECT_EQ(parsed("f = function(int a) return (int b) { return (a) }"),
            "1:38: expected a statement, found the keyword 'return'\n");
  EXPECT_EQ(parsed("x = lapply(function(a) a)"),
            "1:12: expected an expression, found the keyword 'function'\n");
}

TEST(ParserFunctions, externalFunctionsAreIgnoredWithAWarning) {
  SourceManager sources;
  support::DiagnosticEngine engine;
  auto program =
      parseProgram(sources.add("t.dml", "f = externalFunction(int a) return (int b) implemented in "
                                        "(classname=\"org.A\", exectype=\"mem\");\nx = 1"),
                   sources, engine);
  ASSERT_TRUE(program);
  EXPECT_EQ(toString(*program), "(assign x 1)\n");
  ASSERT_EQ(program->externalFunctions.size(), 1u);
  EXPECT_EQ(program->externalFunctions[0].name, "f");
  ASSERT_EQ(engine.sorted().size(), 1u);
  EXPECT_EQ(engine.sorted()[0]->severity, support::Severity::Warning);
}

TEST(ParserErrors, expressions) {
  EXPECT_EQ(parsed("x = (a <- 1)"), "1:8: expected ')', found '<-'\n");
  EXPECT_EQ(parsed("if (a<-1) x = 1"), "1:6: expected ')', found '<-'\n");
  EXPECT_EQ(parsed("if (a = 1) x = 1"), "1:7: expected ')', found '='\n");
  EXPECT_EQ(parsed("x = X[1:,]"), "1:8: an index range needs both ends\n");
  EXPECT_EQ(parsed("x = X[:2,]"), "1:7: an index range needs both ends\n");
  EXPECT_EQ(parsed("x = X[]"), "1:7: expected an index before ']'\n");
  EXPECT_EQ(parsed("x = X[1,2,3]"), "1:10: an index has one or two dimensions\n");
  EXPECT_EQ(parsed("x = L[[1]]"), "1:7: there is no '[['\n");
  EXPECT_EQ(parsed("x = f(y)[1,1]"), "1:9: the result of a call can't be indexed\n");
  EXPECT_EQ(parsed("x = (y)[1,]"), "1:8: an expression in parentheses can't be indexed\n");
  EXPECT_EQ(parsed("x = 1:10"), "1:6: expected the end of the statement, found ':'\n");
  EXPECT_EQ(parsed("x = sum(1:10)"), "1:10: expected ')', found ':'\n");
  EXPECT_EQ(parsed("x = NULL"), "1:5: there is no 'NULL'\n");
  EXPECT_EQ(parsed("x = is.na(NA)"), "1:11: there is no 'NA'\n");
  EXPECT_EQ(parsed("x = a * / b"), "1:9: expected an expression after '*', found '/'\n");
  EXPECT_EQ(parsed("x = "), "1:4: expected an expression, found the end of the file\n");
  EXPECT_EQ(parsed("x = f(a, )"), "1:10: expected an argument, found ')'\n");
  EXPECT_EQ(parsed("x = f(a <- 1)"), "1:9: an assignment can't be an argument\n");
  EXPECT_EQ(parsed("x = double(y)"), "1:5: expected an expression, found the keyword 'double'\n");
  EXPECT_EQ(parsed("x = 1 + ifdef($x, 2)"),
            "1:9: expected an expression after '+', found the keyword 'ifdef'\n");
  EXPECT_EQ(parsed("x = L$name"), "1:6: expected the end of the statement, found '$name'\n");
  EXPECT_EQ(parsed("x = 10L"), "1:5: a number can't have the suffix 'L'\n");
  EXPECT_EQ(parsed("x = ns::y + 1"), "1:5: 'ns::y' is not called\n");
}

TEST(ParserErrors, statements) {
  EXPECT_EQ(parsed("a = b = c"), "1:7: assignments can't be chained\n");
  EXPECT_EQ(parsed("x -= 1"), "1:3: there is no '-='\n");
  EXPECT_EQ(parsed("pi = 3"), "1:1: the constant 'pi' can't be assigned to\n");
  EXPECT_EQ(parsed("Inf += 3"), "1:1: the constant 'Inf' can't be assigned to\n");
  EXPECT_EQ(parsed("NaN[1,1] = 3"), "1:1: the constant 'NaN' can't be assigned to\n");
  EXPECT_EQ(parsed("for (pi in 1:3) {}"), "1:6: the constant 'pi' can't be assigned to\n");
  EXPECT_EQ(parsed("in = 3"), "1:1: the keyword 'in' can't be used as a name\n");
  EXPECT_EQ(parsed("y"), "1:1: expected an assignment or a call, found the name 'y'\n");
  EXPECT_EQ(parsed("x = 2 y"), "1:7: expected an assignment or a call, found the name 'y'\n");
  EXPECT_EQ(parsed("else { x = 1 }"), "1:1: 'else' without an 'if' before it\n");
  EXPECT_EQ(parsed("x = 1 else y = 2\nz = 3"), "1:7: 'else' without an 'if' before it\n");
  EXPECT_EQ(parsed("if x > 1 { y = ; }"), "1:4: expected '(' after 'if', found 'x'\n");
  EXPECT_EQ(parsed("break"), "1:1: there is no 'break'\n");
  EXPECT_EQ(parsed("if (a) { x = 1 } elseif (b) { x = 2 }"), "1:18: there is no 'elseif'\n");
  EXPECT_EQ(parsed("[a, b] = 3"),
            "1:10: expected a call on the right of a multi-assignment, found the number '3'\n");
  EXPECT_EQ(parsed("[a, b] = f(x) + 1"), "1:15: expected the end of the statement, found '+'\n");
  EXPECT_EQ(parsed("[a, b]"), "1:1: a statement can't begin with '['\n");
  EXPECT_EQ(parsed("colnames(X) = y"), "1:13: the result of a call can't be assigned to\n");
  EXPECT_EQ(parsed("for (i in x) {}"),
            "1:11: a loop needs a range: from:to or seq(from, to, increment)\n");
  EXPECT_EQ(parsed("for (i in 1:2:10) {}"), "1:14: a range has two ends\n");
  EXPECT_EQ(parsed("for (i in seq(1)) {}"), "1:11: seq needs two ends: seq(from, to, increment)\n");
  EXPECT_EQ(parsed("X[1,1]"),
            "1:7: expected '=', '<-' or '+=' after the index, found the end of the file\n");
  EXPECT_EQ(parsed("{ x = 1 }"),
            "1:1: a block needs an 'if', 'while', 'for' or function before it\n");
  EXPECT_EQ(parsed("x = 1 }"), "1:7: this '}' closes nothing\n");
  EXPECT_EQ(parsed("while (a) { x = 1"), "1:18: expected '}', found the end of the file\n");
  EXPECT_EQ(parsed("x = y +\nz = 3"), "2:3: assignments can't be chained\n");
}

TEST(ParserErrors, severalInOneRun) {
  EXPECT_EQ(parsed("x = (1 + 2\n"
                   "y = 3 *\n"
                   "if (a >) {\n"
                   "  z = f(1,, 2)\n"
                   "  w = 1\n"
                   "}\n"
                   "f = function(X) return (int y) {\n"
                   "  y = X[1:,]\n"
                   "}\n"
                   "print('end'\n"),
            "2:1: expected ')', found 'y'\n"
            "3:1: expected an expression after '*', found the keyword 'if'\n"
            "3:8: expected an expression after '>', found ')'\n"
            "4:11: expected an argument, found ','\n"
            "7:14: 'X' needs a type before it\n"
            "8:10: an index range needs both ends\n"
            "10:12: expected ')', found the end of the file\n");
}

TEST(ParserErrors, stopAfterMany) {
  std::string messages = parsed(repeated("x = ;\n", 1000));
  EXPECT_EQ(std::count(messages.begin(), messages.end(), '\n'), 50);
}

TEST(ParserLimits, nesting) {
  EXPECT_NE(expression(repeated("(", 200) + "1" + repeated(")", 200)).find("1"), std::string::npos);
  const std::string tooDeep = "nested deeper than 256 levels\n";
  for (const std::string &part : {"(", "-", "!", "f(", "X[", "2^", "[", "f(a="}) {
    std::string messages = parsed("x = " + repeated(part, 100000));
    EXPECT_TRUE(messages.ends_with(tooDeep)) << part << ": " << messages.substr(0, 200);
    EXPECT_EQ(std::count(messages.begin(), messages.end(), '\n'), 1) << part;
  }
  for (const std::string &part :
       {"if (a) ", "if (a) {", "while (a) {", "for (i in 1:2) ", "if (a) x = 1 else "}) {
    std::string messages = parsed(repeated(part, 100000));
    EXPECT_NE(messages.find(tooDeep), std::string::npos) << part << ": " << messages.substr(0, 200);
  }
}

TEST(ParserLimits, operatorChains) {
  EXPECT_TRUE(expression("1" + repeated(" + a", 1000)).starts_with("(+ "));
  EXPECT_EQ(parsed("x = 1" + repeated("+a", 100000)),
            "1:2053: the expression has more than 1024 operators in a row\n");
}

TEST(Parser, survivesEveryCutAndEveryMissingCharacter) {
  const std::string program =
      "source('a.dml') as a\n"
      "f = function(matrix[double] X, int k = -3) return (double r) {\n"
      "  [u, v] = a::g(X[1:k, ], n=\"s\"); r = as.scalar(u[1, 1]) ^ 2\n"
      "}\n"
      "y = ifdef($y, TRUE) x <- !$1 == 2 %*% -3.5e1 # end\n"
      "parfor (i in seq(1, 3, 2), check=0) { if (i > 1 & y) s += i else s = 0 }\n"
      "while (x | y) print(conv(shape=[1, 2]);)";
  ASSERT_TRUE(parsed(program).starts_with("(source")) << parsed(program);
  for (size_t i = 0; i < program.size(); ++i) {
    EXPECT_NE(parsed(program.substr(0, i) + "("), "") << i;
    std::string withoutOne = program.substr(0, i) + program.substr(i + 1);
    EXPECT_NE(parsed(withoutOne), "") << i;
    for (char inserted : std::string("()[]{}=;:,$\"x"))
      EXPECT_NE(parsed(program.substr(0, i) + inserted + program.substr(i)), "") << i << inserted;
  }
}

TEST(Parser, keepsRanges) {
  SourceManager sources;
  support::DiagnosticEngine engine;
  FileId file = sources.add("t.dml", "y = 1\nx = foo(a + 2, X[1, 2:3])\n");
  auto program = parseProgram(file, sources, engine);
  ASSERT_TRUE(program);
  auto &assign = llvm::cast<AssignStatement>(*program->statements[1]);
  EXPECT_EQ(sources.text(assign.range()), "x = foo(a + 2, X[1, 2:3])");
  auto &call = llvm::cast<CallExpression>(assign.value());
  EXPECT_EQ(sources.text(call.range()), "foo(a + 2, X[1, 2:3])");
  EXPECT_EQ(sources.text(call.calleeRange()), "foo");
  EXPECT_EQ(sources.text(call.arguments()[0].value->range()), "a + 2");
  auto &index = llvm::cast<IndexExpression>(*call.arguments()[1].value);
  EXPECT_EQ(sources.text(index.dimensions()[1].range), "2:3");
  EXPECT_EQ(sources.begin(index.range()), (LineColumn{2, 16}));
}

TEST(Parser, rendersWithHints) {
  SourceManager sources;
  support::DiagnosticEngine engine;
  parseProgram(sources.add("script.dml", "if (a<-1)\n  x = 1\n"), sources, engine);
  std::string text;
  llvm::raw_string_ostream os(text);
  engine.render(os);
  EXPECT_EQ(text,
            "script.dml:1:6: error: expected ')', found '<-'\n"
            "    if (a<-1)\n"
            "         ^~\n"
            "  note: '<-' is always an assignment; to compare with a negative number write '< -'\n"
            "  script.dml:1:4: note: to close the '(' here\n");
}

static std::string renderedErrors(const std::string &script) {
  SourceManager sources;
  support::DiagnosticEngine engine;
  parseProgram(sources.add("s.dml", script), sources, engine);
  std::string text;
  llvm::raw_string_ostream os(text);
  engine.render(os);
  return text;
}

TEST(Parser, suggestsWhatMayStandThere) {
  const std::string head = "f = function(matrix[", tail = "] X) return (double r) { r = 1 }";
  for (auto [script, word] : std::initializer_list<std::pair<std::string, std::string>>{
           {head + "dobule" + tail, "'double'"},
           {"f = function(list[unknwon] L) return (double r) { r = 1 }", "'unknown'"},
           {"f = function(double x) retrun (double r) { r = 1 }", "'return'"},
           {"f = funtion(double x) return (double r) { r = 1 }", "'function'"},
           {"if (1 > 0) { x = 2 } esle { x = 3 }", "'else'"},
           {"if (1 > 0) x = 2 esle x = 3", "'else'"},
           {"whlie (1 > 0) { x = 2 }", "'while'"},
           {"fi (1 > 0) { x = 2 }", "'if'"},
           {"prafor (i in 1:3) print(i)", "'parfor'"},
           {"sorce('a.dml') as a", "'source'"},
       })
    EXPECT_TRUE(renderedErrors(script).find("did you mean " + word) != std::string::npos ||
                renderedErrors(script).find("did you mean the keyword " + word) !=
                    std::string::npos)
        << script << ": " << renderedErrors(script);
  for (const std::string &script :
       {head + "foo" + tail, std::string("esle { x = 3 }"), std::string("x = 1 esle x = 3"),
        std::string("x = 1 fro"), std::string("for foo (i in 1:3) {}"),
        std::string("f = function(double x) return (double r) retrun { r = 1 }")})
    EXPECT_EQ(renderedErrors(script).find("did you mean"), std::string::npos)
        << script << ": " << renderedErrors(script);
}

TEST(Parser, reportsOnceThatAFileIsNoText) {
  constexpr char program[] = "\x7f"
                             "ELF\2\1\1\0\0\3\0>\0 a ( b";
  EXPECT_EQ(renderedErrors(std::string(program, sizeof(program) - 1)),
            "s.dml: error: this is not a text file\n"
            "  note: it looks like a program (ELF)\n");
}
