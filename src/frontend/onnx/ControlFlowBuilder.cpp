#include "frontend/onnx/ControlFlowBuilder.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

Value onnx::writeBranches(GraphBuilder &graph, Value condition, WriteValue then,
                          WriteValue otherwise) {
  OpBuilder &builder = graph.builder();
  Region regions[2];
  WriteValue writers[] = {then, otherwise};
  mlir::Type type;
  for (auto [region, write] : llvm::zip(regions, writers)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&region.emplaceBlock());
    Value value = write();
    type = value.getType();
    builder.create<tok::YieldOp>(graph.location(), value);
  }
  auto operation = builder.create<tok::IfOp>(graph.location(), type, condition);
  operation.getThenRegion().takeBody(regions[0]);
  operation.getElseRegion().takeBody(regions[1]);
  return operation.getResult(0);
}

Value onnx::withRow(GraphBuilder &graph, Value matrix, Value place, Value array) {
  Value one = graph.integer(1), width = graph.product(graph.sizes(array));
  auto insert = [&]() -> Value {
    Value row = graph.scalar(Binary::Add, place, one);
    return graph.builder().create<tok::InsertOp>(graph.location(), matrix.getType(), matrix,
                                                 graph.view(array, {one, width}), row, row, one,
                                                 graph.size(matrix, 1));
  };
  // Nothing can be inserted where there are no cells.
  Value hasCells = graph.scalar(Binary::Gt, width, graph.integer(0));
  return writeBranches(graph, hasCells, insert, [&] { return matrix; });
}

//===- loops ---------------------------------------------------------------------------------===//

LoopWriter::LoopWriter(GraphBuilder &graph)
    : graph_(graph), before_(graph.builder().saveInsertionPoint()), body_(&region_.emplaceBlock()) {
  body_->addArgument(graph.builder().getI64Type(), graph.location());
  graph.builder().setInsertionPointToStart(body_);
}

LoopWriter::~LoopWriter() {
  if (before_.isSet())
    graph_.builder().restoreInsertionPoint(before_);
}

Value LoopWriter::carry(WriteValue init) {
  OpBuilder::InsertionGuard guard(graph_.builder());
  graph_.builder().restoreInsertionPoint(before_);
  inits_.push_back(init());
  next_.push_back(body_->addArgument(inits_.back().getType(), graph_.location()));
  return next_.back();
}

size_t LoopWriter::placeOf(Value carried) {
  return cast<BlockArgument>(carried).getArgNumber() - 1;
}

void LoopWriter::setNext(Value carried, Value next) { next_[placeOf(carried)] = next; }

Values LoopWriter::finishCounted(Value count) {
  OpBuilder &builder = graph_.builder();
  builder.create<tok::YieldOp>(graph_.location(), next_);
  builder.restoreInsertionPoint(std::exchange(before_, {}));
  Value zero = graph_.integer(0), one = graph_.integer(1);
  auto loop = builder.create<tok::ForOp>(graph_.location(), ValueRange(inits_).getTypes(), zero,
                                         graph_.scalar(Binary::Sub, count, one), one, inits_);
  loop.getBodyRegion().takeBody(region_);
  return Values(loop.getResults());
}

Values LoopWriter::finishWhile(Value goesOn, Value count) {
  OpBuilder &builder = graph_.builder();
  Location location = graph_.location();
  // The counter is one of the values that tok.while carries: the first.
  next_.insert(next_.begin(), graph_.scalar(Binary::Add, counter(), graph_.integer(1)));
  builder.create<tok::YieldOp>(location, next_);
  builder.restoreInsertionPoint(std::exchange(before_, {}));
  inits_.insert(inits_.begin(), graph_.integer(0));
  auto loop = builder.create<tok::WhileOp>(location, ValueRange(inits_).getTypes(), inits_);
  loop.getBodyRegion().takeBody(region_);
  Block &head = loop.getConditionRegion().emplaceBlock();
  for (Value init : inits_)
    head.addArgument(init.getType(), location);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&head);
    Value condition = head.getArgument(static_cast<unsigned>(placeOf(goesOn) + 1));
    if (count)
      condition = graph_.scalar(Binary::And, condition,
                                graph_.scalar(Binary::Lt, head.getArgument(0), count));
    builder.create<tok::ConditionOp>(location, condition, head.getArguments());
  }
  Values results(loop.getResults().drop_front());
  results.push_back(loop.getResult(0));
  return results;
}

//===- what iterations give ------------------------------------------------------------------===//

Value IterationCollector::zeros(Value rows, Value columns, mlir::Type element) {
  return graph_.broadcast(graph_.filled(0, element), {rows, columns});
}

void IterationCollector::add(Value array, Value place) {
  rank_ = GraphBuilder::rankOf(array);
  mlir::Type element = GraphBuilder::elementOf(array);
  Value none = loop_.carry([&] { return zeros(graph_.integer(0), graph_.integer(0), element); });
  first_ = LoopWriter::placeOf(none);
  Values sizes = graph_.sizes(array);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t empty = i < emptySizes_.size() ? emptySizes_[i] : 0;
    loop_.setNext(loop_.carry([&] { return graph_.integer(empty); }), size);
  }
  // Rows are as long as the first array; there is room for all of them, or for twice as many whenever it runs out.
  Value width = graph_.product(sizes), rows = graph_.size(none, 0);
  auto more = [&] {
    if (capacity_)
      return zeros(capacity_, width, element);
    Value count = graph_.scalar(Binary::Max, rows, graph_.integer(16));
    return graph_.join({graph_.view(none, {rows, width}), zeros(count, width, element)}, 0);
  };
  Value isFull = graph_.scalar(Binary::Ge, loop_.counter(), rows);
  Value room = writeBranches(graph_, isFull, more, [&] { return none; });
  loop_.setNext(none, withRow(graph_, room, place, array));
}

Value IterationCollector::collected(ArrayRef<Value> results, Value count) {
  Value rows = results[first_];
  if (!capacity_)
    rows = graph_.slice(rows, 0, graph_.integer(0), count);
  Values sizes = {count};
  llvm::append_range(sizes, results.slice(first_ + 1, rank_));
  return graph_.view(rows, sizes);
}
