// Tests that the layouts predicted by tok::inferDensity follow the runtime's rule.
#include "ir/tok/Density.h"
#include "runtime/values/Array.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace tokamak;

namespace {

// The facts of the result of `operation`, the only one of the function.
tok::Facts inferred(const std::string &operation, llvm::ArrayRef<tok::Facts> operands) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<mlir::func::FuncDialect, tok::TokDialect>();
  std::string text = "!m = tensor<?x?xf64>\nfunc.func @f(%A: !m, %B: !m, %i: i64, %x: f64, %s: "
                     "!tok.string) {\n" +
                     operation + "\nreturn }\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  EXPECT_TRUE(module) << text;
  mlir::Operation *op = &(*module->getOps<mlir::func::FuncOp>().begin()).getBody().front().front();
  llvm::SmallVector<tok::Facts> results(op->getNumResults());
  mlir::cast<tok::FactsOpInterface>(op).inferFacts(operands, results);
  tok::inferDensity(op, operands, results);
  results[0].value = {}; // the context ends here
  return results[0];
}

tok::Facts matrix(int64_t rows, int64_t columns, double density = -1, bool sparse = false) {
  tok::Facts facts = tok::Facts::matrix(Size::constant(rows), Size::constant(columns));
  facts.density = density;
  facts.layout = sparse ? tok::Layout::Sparse : tok::Layout::Dense;
  return facts;
}

tok::Facts integer(int64_t value) {
  tok::Facts facts;
  facts.integer = Size::constant(value);
  return facts;
}

} // namespace

TEST(Density, aSliceHasTheLayoutTheRuntimeGivesIt) {
  for (int64_t rows : {1, 16, 100})
    for (int64_t columns : {1, 2, 15, 16, 300})
      for (double density : {0.01, 0.2499, 0.25, 0.5}) {
        tok::Facts facts =
            inferred("%0 = \"tok.slice\"(%A, %i, %i, %i, %i) : (!m, i64, i64, i64, i64) -> !m",
                     {matrix(1000, 1000, density, true), integer(1), integer(rows), integer(1),
                      integer(columns)});
        auto entries = static_cast<int64_t>(density * static_cast<double>(rows * columns));
        bool expected = runtime::Array::isBetterSparse({rows, columns}, entries);
        // Rounding decides unless density * cells is a whole number.
        if (density * static_cast<double>(rows * columns) == static_cast<double>(entries))
          EXPECT_EQ(facts.isSparse(), expected) << rows << "x" << columns << " " << density;
      }
}

TEST(Density, followsCellOperators) {
  tok::Facts a = matrix(100, 100, 0.1), b = matrix(100, 100, 0.2), dense = matrix(100, 100);
  auto binary = [&](const char *op, const tok::Facts &left, const tok::Facts &right) {
    return inferred(std::string("%0 = tok.binary ") + op + " %A, %B : (!m, !m) -> !m",
                    {left, right})
        .density;
  };
  EXPECT_DOUBLE_EQ(binary("mul", a, b), 0.1 * 0.2);
  EXPECT_DOUBLE_EQ(binary("mul", a, dense), 0.1);
  EXPECT_DOUBLE_EQ(binary("add", a, b), 1 - 0.9 * 0.8);
  EXPECT_DOUBLE_EQ(binary("div", a, dense), 0.1);
  EXPECT_LT(binary("eq", a, b), 0) << "zeros are equal: not known";
  EXPECT_LT(binary("add", a, dense), 0);
  EXPECT_DOUBLE_EQ(inferred("%0 = tok.unary abs %A : !m -> !m", {a}).density, 0.1);
  EXPECT_LT(inferred("%0 = tok.unary cos %A : !m -> !m", {a}).density, 0);
}

TEST(Density, followsProductsAndReorganisations) {
  tok::Facts a = matrix(1000, 1000, 0.001, true), b = matrix(1000, 1000, 0.001, true);
  const char *product = "%0 = tok.matmul %A, %B : (!m, !m) -> !m";
  tok::Facts c = inferred(product, {a, b});
  EXPECT_NEAR(c.density, 0.001, 1e-5) << "1000 chances of one in a million";
  EXPECT_TRUE(c.isSparse());
  EXPECT_FALSE(inferred(product, {a, matrix(1000, 1000)}).isSparse());
  tok::Facts both = inferred("%0 = \"tok.cbind\"(%A, %B) : (!m, !m) -> !m",
                             {matrix(100, 30, 0.1, true), matrix(100, 10)});
  EXPECT_DOUBLE_EQ(both.density, (30 * 0.1 + 10) / 40);
  EXPECT_FALSE(both.isSparse());
  EXPECT_TRUE(inferred("%0 = \"tok.diag\"(%A) : (!m) -> !m", {matrix(500, 1)}).isSparse());
  EXPECT_TRUE(inferred("%0 = \"tok.transpose\"(%A) : (!m) -> !m", {a}).isSparse());
}
