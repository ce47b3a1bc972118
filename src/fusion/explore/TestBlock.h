// Blocks for the tests of fusion, written as text.
//
//   TestBlock block("X:mxn y:mx1 s", "f64", R"( %0 = tok.unary exp %X : !m -> !m ... )");
#ifndef TOKAMAK_FUSION_EXPLORE_TESTBLOCK_H
#define TOKAMAK_FUSION_EXPLORE_TESTBLOCK_H

#include "ir/plan/PlanDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace tokamak::fusion {

class TestBlock {
public:
  // `arguments` has the form "X:mxn y:mx1 A:20x10 s": arrays with sizes, and double scalars. A
  // letter is a symbol, with an estimate (m: 1000000, n: 10, k: 40, p: 20000, q: 20000, r: 100).
  // "S:pxq/0.01" is a sparse array with its density; the cells of "U:pxr+" are known to be positive.
  // `body` uses %X, %y, %s and !m, the type of matrices of `cells`.
  TestBlock(llvm::StringRef arguments, llvm::StringRef results, llvm::StringRef body,
            llvm::StringRef cells = "f64") {
    context.loadDialect<mlir::func::FuncDialect, tok::TokDialect, plan::PlanDialect>();
    std::string text = "!m = tensor<?x?x" + cells.str() + ">\nfunc.func @block(";
    llvm::SmallVector<llvm::StringRef> words;
    arguments.split(words, ' ');
    for (auto [index, word] : llvm::enumerate(words)) {
      bool isPositive = word.consume_back("+");
      auto [name, sizes] = word.split(':');
      text += (index ? ", %" : "%") + name.str() + (sizes.empty() ? ": f64" : ": !m") +
              (isPositive ? " {tok.cells = array<f64: 1.0e-100, 1.0e100, 0.0, 0.0>}" : "") +
              " loc(\"" + name.str() + "\")";
      auto [shape, density] = sizes.split('/');
      auto [rows, columns] = shape.split('x');
      argumentFacts.push_back(
          sizes.empty() ? tok::Facts() : tok::Facts::matrix(dimension(rows), dimension(columns)));
      if (!density.empty()) {
        argumentFacts.back().layout = tok::Layout::Sparse;
        density.getAsDouble(argumentFacts.back().density);
      }
    }
    text += ") -> (" + results.str() + ") {\n" + body.str() + "\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << text;
  }

  static Size dimension(llvm::StringRef size) {
    int64_t number;
    if (!size.getAsInteger(10, number))
      return Size::constant(number);
    static const std::map<std::string, int64_t> estimates = {
        {"m", 1000000}, {"n", 10}, {"k", 40}, {"p", 20000}, {"q", 20000}, {"r", 100}};
    return Size::symbol(size[0], estimates.count(size.str()) ? estimates.at(size.str()) : -1,
                        {2, largestSize});
  }

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }

  const tok::Facts &factsOf(mlir::Value value) const {
    static const tok::Facts unknown;
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
    return argument ? argumentFacts[argument.getArgNumber()] : unknown;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<tok::Facts> argumentFacts;
};

} // namespace tokamak::fusion
#endif
