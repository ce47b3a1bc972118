#include "frontend/onnx/ConstantCells.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;

namespace {

class ConstantCellsTest : public ::testing::Test {
protected:
  ConstantCellsTest() : context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<tok::TokDialect, mlir::func::FuncDialect>();
    mlir::OpBuilder builder(&context_);
    module_ = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module_->getBody());
    auto function = builder.create<mlir::func::FuncOp>(builder.getUnknownLoc(), "main",
                                                       builder.getFunctionType({}, {}));
    body_ = function.addEntryBlock();
    builder.setInsertionPointToEnd(body_);
    graph_.emplace(builder);
  }

  mlir::Value literal(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> cells) {
    auto type = mlir::RankedTensorType::get(sizes, graph_->builder().getI64Type());
    return graph_->literal(mlir::DenseElementsAttr::get(type, cells));
  }
  mlir::Value integer(int64_t number) { return graph_->integer(number); }
  mlir::Value parameter(int64_t rank) {
    mlir::Type whole = graph_->builder().getI64Type();
    return body_->addArgument(graph_->arrayType(rank, whole), graph_->location());
  }
  std::optional<Numbers> cellsOf(mlir::Value array) {
    int64_t visits = 1000;
    return constantCells(*graph_, array, visits,
                         [&](mlir::Value other) { unknown_.push_back(other); });
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::Block *body_;
  std::optional<GraphBuilder> graph_;
  Values unknown_;
};

TEST_F(ConstantCellsTest, cellsAreMovedInAnyNumberOfDimensions) {
  mlir::Value pairs =
      graph_->view(graph_->join({literal({4}, {1, 2, 3, 4}), literal({2}, {0, 0})}, 0),
                   {integer(3), integer(2)});
  mlir::Value turned = graph_->slice(pairs, 0, integer(2), integer(3), -1);
  EXPECT_EQ(cellsOf(turned), (Numbers{0, 0, 3, 4, 1, 2}));
  EXPECT_EQ(cellsOf(graph_->permute(turned, {1, 0})), (Numbers{0, 3, 1, 0, 4, 2}));
  mlir::Value cube = graph_->view(turned, {integer(3), integer(1), integer(2)});
  EXPECT_EQ(cellsOf(graph_->permute(cube, {2, 0, 1})), (Numbers{0, 3, 1, 0, 4, 2}));
  EXPECT_EQ(cellsOf(graph_->broadcast(literal({1, 2}, {7, 8}), {integer(2), integer(2)})),
            (Numbers{7, 8, 7, 8}));
}

TEST_F(ConstantCellsTest, arithmeticIsOfCellsThatBelongTogether) {
  mlir::Value x = literal({2}, {5, -6}), y = literal({2}, {1, 2});
  EXPECT_EQ(cellsOf(graph_->binary(Binary::Add, x, y)), (Numbers{6, -4}));
  EXPECT_EQ(cellsOf(graph_->binary(Binary::Mul, x, integer(3))), (Numbers{15, -18}));
  EXPECT_EQ(cellsOf(graph_->cast(graph_->binary(Binary::Lt, x, y), ElementType::I64)),
            (Numbers{0, 1}));
  EXPECT_EQ(cellsOf(graph_->binary(Binary::Add, x, graph_->unsqueeze(y, {1}))), std::nullopt);
}

TEST_F(ConstantCellsTest, cellsAreChosenByOthers) {
  mlir::Value x = literal({2}, {5, -6}), y = literal({2}, {1, 2});
  mlir::Value isLess = graph_->binary(Binary::Lt, x, y);
  EXPECT_EQ(cellsOf(graph_->select(isLess, x, y)), (Numbers{1, -6}));
  EXPECT_EQ(cellsOf(graph_->select(isLess, literal({1}, {7}), y)), (Numbers{1, 7}));
  mlir::Value column = graph_->unsqueeze(y, {1});
  EXPECT_EQ(cellsOf(graph_->select(isLess, x, column)), std::nullopt);
  EXPECT_EQ(cellsOf(graph_->select(isLess, x, parameter(1))), std::nullopt);
}

TEST_F(ConstantCellsTest, whatDependsOnAParameterIsUnknownButItsSizesMayBeKnown) {
  mlir::Value input = parameter(1);
  EXPECT_EQ(cellsOf(graph_->slice(input, 0, integer(0), integer(1))), std::nullopt);
  ASSERT_EQ(unknown_.size(), 1);
  EXPECT_EQ(unknown_.front(), input);
  graph_->knowSizes(input, {5});
  EXPECT_EQ(cellsOf(graph_->matrixOf(graph_->size(input, 0))), Numbers{5});
}

TEST_F(ConstantCellsTest, manyCellsAndLongChainsAreLeftToTheProgram) {
  EXPECT_EQ(cellsOf(graph_->broadcast(literal({1}, {1}), {integer(int64_t{1} << 40)})),
            std::nullopt);
  mlir::Value x = literal({1}, {1});
  for (int i = 0; i < 1000; ++i)
    x = graph_->binary(Binary::Add, x, x);
  EXPECT_EQ(cellsOf(x), std::nullopt);
}

TEST_F(ConstantCellsTest, workIsTakenOffABudget) {
  mlir::Value x = graph_->binary(Binary::Add, literal({1}, {1}), literal({1}, {2}));
  int64_t visits = 3;
  EXPECT_EQ(constantCells(*graph_, x, visits, [](mlir::Value) {}), Numbers{3});
  EXPECT_EQ(visits, 0);
  EXPECT_EQ(constantCells(*graph_, x, visits, [](mlir::Value) {}), std::nullopt);
}

} // namespace
