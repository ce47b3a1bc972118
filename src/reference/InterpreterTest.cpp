// Control flow, variables, errors and natives, on modules in the dialect's own text.
#include "reference/Interpreter.h"

#include "reference/TextProgram.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::Value;

TEST(Interpreter, IfTakesOneBranch) {
  TextProgram program(R"(
    func.func @f(%c: i1) -> i64 {
      %r = tok.if %c -> i64 {
        %a = tok.constant 1 : i64
        tok.yield %a : i64
      } else {
        %b = tok.constant 2 : i64
        tok.yield %b : i64
      }
      return %r : i64
    })");
  EXPECT_EQ(program.call("f", {true}).asInteger(), 1);
  EXPECT_EQ(program.call("f", {false}).asInteger(), 2);
}

TEST(Interpreter, WhileCarriesValues) {
  TextProgram program(R"(
    func.func @f(%n: i64) -> (i64, i64) {
      %zero = tok.constant 0 : i64
      %one = tok.constant 1 : i64
      %r:2 = tok.while carrying (%i = %zero, %s = %zero) : i64, i64 {
        %c = tok.binary lt %i, %n : (i64, i64) -> i1
        tok.condition %c, %i, %s : i64, i64
      } do {
        %j = tok.binary add %i, %one : (i64, i64) -> i64
        %t = tok.binary add %s, %j : (i64, i64) -> i64
        tok.yield %j, %t : i64, i64
      }
      return %r#0, %r#1 : i64, i64
    })");
  std::vector<Value> results = program.callAll("f", {int64_t{4}});
  EXPECT_EQ(results[0].asInteger(), 4);
  EXPECT_EQ(results[1].asInteger(), 10);
  EXPECT_EQ(program.callAll("f", {int64_t{-1}})[1].asInteger(), 0);
}

static const char *countingLoop = R"(
    func.func @f(%from: i64, %to: i64, %step: i64) -> !tok.string {
      %none = tok.constant "" : !tok.string
      %r = tok.for %i = %from to %to step %step carrying (%s = %none) : !tok.string {
        %t = tok.concat %s, %i : !tok.string, i64
        tok.yield %t : !tok.string
      }
      return %r : !tok.string
    })";

TEST(Interpreter, ForCountsInclusively) {
  TextProgram program(countingLoop);
  auto count = [&](int64_t from, int64_t to, int64_t step) {
    return program.call("f", {from, to, step}).text();
  };
  EXPECT_EQ(count(1, 4, 1), "1234");
  EXPECT_EQ(count(1, 6, 2), "135");
  EXPECT_EQ(count(1, 0, -1), "10");
  EXPECT_EQ(count(1, 0, 1), "");
  EXPECT_EQ(count(0, 3, -1), "");
}

TEST(Interpreter, ForEndsAtTheLargestInteger) {
  TextProgram program(countingLoop);
  int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(program.call("f", {largest, largest, int64_t{1}}).text(), "9223372036854775807");
}

TEST(Interpreter, ForWithoutIncrementIsAnError) {
  TextProgram program(countingLoop);
  EXPECT_EQ(program.failure("f", {int64_t{1}, int64_t{2}, int64_t{0}}).message(),
            "for: the increment, truncated to an integer, is zero");
}

TEST(Interpreter, ParForInsertsResults) {
  TextProgram program(R"(
    func.func @f() -> tensor<?x?xf64> {
      %zero = tok.constant 0.0 : f64
      %one = tok.constant 1 : i64
      %three = tok.constant 3 : i64
      %x = tok.fill %zero, %three, %one : (f64, i64, i64) -> tensor<?x?xf64>
      %r = tok.parfor %i = %one to %three step %one carrying (%y = %x) : tensor<?x?xf64> {
        %v = tok.binary mul %i, %i : (i64, i64) -> i64
        %z = tok.insert %y, %v, %i, %i, %one, %one : (tensor<?x?xf64>, i64, i64, i64, i64, i64) -> tensor<?x?xf64>
        tok.yield %z : tensor<?x?xf64>
      }
      return %r : tensor<?x?xf64>
    })");
  EXPECT_EQ(shown(program.call("f", {})), "1; 4; 9");
}

TEST(Interpreter, CallsRecurse) {
  TextProgram program(R"(
    func.func @factorial(%n: i64) -> i64 {
      %one = tok.constant 1 : i64
      %c = tok.binary le %n, %one : (i64, i64) -> i1
      %r = tok.if %c -> i64 {
        tok.yield %one : i64
      } else {
        %m = tok.binary sub %n, %one : (i64, i64) -> i64
        %p = tok.call @factorial(%m) : (i64) -> i64
        %q = tok.binary mul %n, %p : (i64, i64) -> i64
        tok.yield %q : i64
      }
      return %r : i64
    })");
  EXPECT_EQ(program.call("factorial", {int64_t{20}}).asInteger(), 2432902008176640000);
  Error error = program.failure("factorial", {int64_t{21}});
  EXPECT_EQ(error.message(), "integer overflow in 21 * 2432902008176640000");
}

TEST(Interpreter, EndlessRecursionIsAnError) {
  TextProgram program(R"(
    func.func @f(%c: i1) {
      tok.if %c {
        tok.if %c {
          tok.call @f(%c) : (i1) -> ()
          tok.yield
        } else { tok.yield }
        tok.yield
      } else { tok.yield }
      return
    })");
  std::string message = program.failure("f", {true}).message();
  EXPECT_NE(message.find("recursion too deep: function 'f'"), std::string::npos) << message;
}

TEST(Interpreter, ReadingAnUnassignedVariableIsAnError) {
  TextProgram program(R"(
    func.func @f(%c: i1) -> f64 {
      %x = tok.if %c -> f64 {
        %a = tok.constant 1.0 : f64
        tok.yield %a : f64
      } else {
        %u = tok.undef "x" : f64
        tok.yield %u : f64
      }
      %y = tok.unary exp %x : f64 -> f64
      return %y : f64
    }
    func.func @pass(%x: f64) -> f64 { return %x : f64 }
    func.func @unread() -> f64 {
      %u = tok.undef "x" : f64
      %v = tok.call @pass(%u) : (f64) -> f64
      %w = tok.constant 2.0 : f64
      return %w : f64
    }
    func.func @branch() {
      %u = tok.undef "done" : i1
      tok.if %u { tok.yield } else { tok.yield }
      return
    })");
  EXPECT_DOUBLE_EQ(program.call("f", {true}).asDouble(), std::exp(1.0));
  EXPECT_NE(program.failure("f", {false}).message().find("variable 'x'"), std::string::npos);
  EXPECT_EQ(program.call("unread", {}).asDouble(), 2);
  EXPECT_NE(program.failure("branch", {}).message().find("variable 'done'"), std::string::npos);
}

TEST(Interpreter, ErrorsSayWhereTheyHappened) {
  TextProgram program(R"(
    func.func @inner(%n: i64) -> i64 {
      %zero = tok.constant 0 : i64
      %r = tok.binary intdiv %n, %zero : (i64, i64) -> i64 loc("script.dml":3:7)
      return %r : i64
    }
    func.func @outer(%n: i64) -> i64 {
      %r = tok.call @inner(%n) : (i64) -> i64 loc(fused[unknown, "script.dml":9:1])
      return %r : i64
    }
    func.func @inlined(%n: i64) -> i64 {
      %zero = tok.constant 0 : i64
      %r = tok.binary intdiv %n, %zero : (i64, i64) -> i64
        loc(callsite("n"("script.dml":3:7) at "script.dml":9:1))
      return %r : i64
    })");
  for (const char *function : {"outer", "inlined"}) {
    Error error = program.failure(function, {int64_t{5}});
    EXPECT_EQ(error.message(), "integer division by zero in 5 %/% 0");
    EXPECT_EQ(error.place().file, "script.dml");
    EXPECT_EQ(error.place().line, 3);
    EXPECT_EQ(error.place().column, 7);
    ASSERT_EQ(error.callStack().size(), 1u);
    EXPECT_EQ(error.callStack()[0].line, 9);
  }
}

TEST(Interpreter, AssumptionsAreChecked) {
  TextProgram program(R"(
    func.func @f(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
      %y = tok.assume %x [-1, 2] : tensor<?x?xf64> -> tensor<?x?xf64>
      return %y : tensor<?x?xf64>
    })");
  EXPECT_EQ(shown(program.call("f", {matrix(1, 2, {3, 4})})), "3 4");
  EXPECT_EQ(program.failure("f", {matrix(2, 1, {3, 4})}).message(),
            "the array is 2x1, which is not what was assumed");
}

TEST(Interpreter, OperationsByNameAreFound) {
  TextProgram program(R"(
    func.func @f(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
      %y = tok.native "rev"(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
      %t = tok.transpose %y : (tensor<?x?xf64>) -> tensor<?x?xf64>
      %z = tok.matmul %t, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
      return %z : tensor<?x?xf64>
    })");
  EXPECT_EQ(shown(program.call("f", {matrix(2, 1, {3, 4})})), "24");
}
