// Writes branches and loops of the program: a loop's body first, with what it carries, and then how long it runs.
//
//   LoopWriter loop(graph);
//   mlir::Value sum = loop.carry([&] { return x; });
//   loop.setNext(sum, graph.binary(BinaryOperator::Add, sum, y));
//   Values results = loop.finishCounted(graph.size(y, 0));      // tok.for; the only result is the last sum
//
// Values keep their types in a loop, and their ranks with them; sizes may change, since they are no part of types.
#ifndef TOKAMAK_FRONTEND_ONNX_CONTROLFLOWBUILDER_H
#define TOKAMAK_FRONTEND_ONNX_CONTROLFLOWBUILDER_H

#include "frontend/onnx/GraphBuilder.h"

#include "mlir/IR/Region.h"

namespace tokamak::onnx {

using WriteValue = llvm::function_ref<mlir::Value()>;

// tok.if; both branches give a value of the same type.
mlir::Value writeBranches(GraphBuilder &graph, mlir::Value condition, WriteValue then,
                          WriteValue otherwise);

// A matrix whose row at a place from 0 has the cells of an array, as many as it has columns.
mlir::Value withRow(GraphBuilder &graph, mlir::Value matrix, mlir::Value place, mlir::Value array);

class LoopWriter {
public:
  // The builder stands in the body until the loop is finished.
  explicit LoopWriter(GraphBuilder &graph);
  // Whoever gives up a loop finds the builder before it.
  ~LoopWriter();
  LoopWriter(const LoopWriter &) = delete;
  LoopWriter &operator=(const LoopWriter &) = delete;

  // The number of the iteration, from 0.
  mlir::Value counter() { return body_->getArgument(0); }
  // A value that begins as `init`, which is written before the loop; gives what it is in an iteration.
  mlir::Value carry(WriteValue init);
  // What a carried value is in the next iteration: of the same type. It stays as it is unless this is said.
  void setNext(mlir::Value carried, mlir::Value next);
  // The place of a carried value among the results.
  static size_t placeOf(mlir::Value carried);

  // The last of each carried value. `count` is an integer from before the loop, not negative.
  Values finishCounted(mlir::Value count);
  // As long as the carried boolean holds and, unless it is null, for at most `count` iterations. The number of
  // iterations is behind the carried values.
  Values finishWhile(mlir::Value goesOn, mlir::Value count);

private:
  GraphBuilder &graph_;
  mlir::OpBuilder::InsertPoint before_; // unset when the loop is finished
  mlir::Region region_;
  mlir::Block *body_;
  Values inits_, next_;
};

// What the iterations of a loop give, one array each, as one array with a dimension in front.
class IterationCollector {
public:
  // `capacity`: how many there will be, from before the loop; null if nobody knows. `emptySizes` are the sizes of
  // one of them for the case that there is none.
  IterationCollector(GraphBuilder &graph, LoopWriter &loop, mlir::Value capacity,
                     Numbers emptySizes)
      : graph_(graph), loop_(loop), capacity_(capacity), emptySizes_(std::move(emptySizes)) {}

  // In each iteration once, in the loop's body itself: the array for a place from 0, which is the loop's counter
  // unless the capacity is known.
  void add(mlir::Value array, mlir::Value place);
  // After the loop, of its results. Where the capacity is known, places that got nothing have zeros.
  mlir::Value collected(llvm::ArrayRef<mlir::Value> results, mlir::Value count);

private:
  mlir::Value zeros(mlir::Value rows, mlir::Value columns, mlir::Type element);

  GraphBuilder &graph_;
  LoopWriter &loop_;
  mlir::Value capacity_;
  Numbers emptySizes_;
  size_t first_ = 0; // the results: a row for each iteration, and then the sizes of one
  int64_t rank_ = 0;
};

} // namespace tokamak::onnx
#endif
