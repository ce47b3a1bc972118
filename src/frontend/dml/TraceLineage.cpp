#include "frontend/dml/TraceLineage.h"

#include "frontend/dml/TraceItems.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tokamak::frontend {
namespace {

using llvm::dyn_cast;
using llvm::isa;
using mlir::Block;
using mlir::Operation;
using mlir::Type;
using mlir::Value;

constexpr llvm::StringLiteral traceReader = "lineage", operandReader = "affine_operands";

bool isReader(Operation *op, llvm::StringRef name) {
  auto native = dyn_cast<tok::CallNativeOp>(op);
  return native && native.getNativeName() == name;
}

bool isTraced(Type type) { return !isa<mlir::NoneType>(type); }

class LineageTracer {
public:
  LineageTracer(mlir::ModuleOp module, bool keepsOperands)
      : module_(module), builder_(module.getContext()),
        items_(
            builder_, [this](Value value) { return traces_.lookup(value); }, keepsOperands),
        trace_(tok::ListType::get(module.getContext())) {}

  void run() {
    llvm::SmallVector<mlir::func::FuncOp> functions(module_.getOps<mlir::func::FuncOp>());
    for (mlir::func::FuncOp function : functions)
      enter(function);
    for (mlir::func::FuncOp function : functions) {
      generate(function.front());
      leave(function);
    }
  }

private:
  // A private function takes the traces of its arguments behind them; what is called from outside has none.
  void enter(mlir::func::FuncOp function) {
    Block &entry = function.front();
    builder_.setInsertionPointToStart(&entry);
    llvm::SmallVector<Value> arguments(entry.getArguments());
    for (auto [place, argument] : llvm::enumerate(arguments)) {
      if (!isTraced(argument.getType()))
        continue;
      traces_[argument] = function.isPrivate()
                              ? Value(entry.addArgument(trace_, argument.getLoc()))
                              : items_.creation("argument " + std::to_string(place + 1));
    }
  }
  void leave(mlir::func::FuncOp function) {
    if (function.isPrivate())
      appendTraces(function.front().getTerminator());
    Operation *end = function.front().getTerminator();
    function.setType(builder_.getFunctionType(function.front().getArgumentTypes(),
                                              llvm::to_vector(end->getOperandTypes())));
  }

  llvm::SmallVector<Value> tracesOf(mlir::ValueRange values) {
    llvm::SmallVector<Value> found;
    for (Value value : values)
      if (isTraced(value.getType()))
        found.push_back(traces_.lookup(value));
    return found;
  }
  void appendTraces(Operation *terminator) {
    mlir::OperandRange passed = terminator->getOperands();
    // The first operand of a condition is no value that is passed on.
    bool isCondition = isa<tok::ConditionOp>(terminator);
    llvm::SmallVector<Value> added = tracesOf(passed.drop_front(isCondition ? 1 : 0));
    terminator->insertOperands(terminator->getNumOperands(), added);
  }
  // Adds an argument for the trace of each carried value, those behind the first `skipped` arguments.
  void addArguments(Block &block, unsigned skipped) {
    llvm::SmallVector<Value> carried(llvm::drop_begin(block.getArguments(), skipped));
    for (Value value : carried)
      if (isTraced(value.getType()))
        traces_[value] = block.addArgument(trace_, value.getLoc());
  }

  void generate(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      generate(&op);
  }
  // What the counter's trace is made of is no part of the program: it stands in front of the loop's operations afterwards.
  void generateWithCounter(Block &body) {
    llvm::SmallVector<Operation *> operations =
        llvm::map_to_vector(body, [](Operation &op) { return &op; });
    builder_.setInsertionPointToStart(&body);
    traces_[body.getArgument(0)] = items_.ofScalar(body.getArgument(0));
    for (Operation *op : operations)
      generate(op);
  }

  void generate(Operation *op) {
    if (auto choice = dyn_cast<tok::IfOp>(op)) {
      for (mlir::Region *region : {&choice.getThenRegion(), &choice.getElseRegion()}) {
        generate(region->front());
        appendTraces(region->front().getTerminator());
      }
      withTraces(op, {});
    } else if (auto loop = dyn_cast<tok::WhileOp>(op)) {
      addArguments(loop.getConditionRegion().front(), 0);
      addArguments(loop.getBodyRegion().front(), 0);
      for (mlir::Region *region : {&loop.getConditionRegion(), &loop.getBodyRegion()}) {
        generate(region->front());
        appendTraces(region->front().getTerminator());
      }
      withTraces(op, tracesOf(loop.getInits()));
    } else if (auto loop = dyn_cast<tok::ForOp>(op)) {
      Block &body = loop.getBodyRegion().front();
      addArguments(body, 1);
      generateWithCounter(body);
      appendTraces(body.getTerminator());
      withTraces(op, tracesOf(loop.getInits()));
    } else if (auto loop = dyn_cast<tok::ParForOp>(op)) {
      generateParfor(loop);
    } else if (auto call = dyn_cast<tok::CallOp>(op); call && takesTraces(call)) {
      withTraces(op, tracesOf(call.getInputs()));
    } else {
      traceResults(op);
    }
  }

  // Iterations run at the same time and have one result: it is an item of all that they read.
  void generateParfor(tok::ParForOp loop) {
    Block &body = loop.getBodyRegion().front();
    llvm::SmallVector<Value> reads(loop->getOperands());
    llvm::SetVector<Value> captured;
    mlir::getUsedValuesDefinedAbove(loop->getRegions(), captured);
    for (Value value : captured)
      if (isTraced(value.getType()) && !llvm::is_contained(reads, value))
        reads.push_back(value);
    for (auto [argument, init] : llvm::zip(llvm::drop_begin(body.getArguments()), loop.getInits()))
      traces_[argument] = traces_.lookup(init);
    generateWithCounter(body);
    builder_.setInsertionPointAfter(loop);
    Value item = items_.operation("parfor", tracesOf(reads));
    for (Value result : loop->getResults())
      traces_[result] = item;
  }

  bool takesTraces(tok::CallOp call) {
    auto callee = module_.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
    return callee && callee.isPrivate();
  }

  // Replaces the operation by one that also takes and gives traces.
  void withTraces(Operation *op, llvm::ArrayRef<Value> added) {
    llvm::SmallVector<Type> types(op->getResultTypes());
    for (Type type : llvm::to_vector(op->getResultTypes()))
      if (isTraced(type))
        types.push_back(trace_);
    builder_.setInsertionPoint(op);
    mlir::OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                               op->getAttrs());
    state.addOperands(added);
    for (mlir::Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *made = builder_.create(state);
    unsigned next = op->getNumResults();
    for (auto [before, after] : llvm::zip(op->getResults(), made->getResults()))
      if (isTraced(before.getType()))
        traces_[after] = made->getResult(next++);
    op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
    op->erase();
  }

  void traceResults(Operation *op) {
    builder_.setInsertionPointAfter(op);
    for (mlir::OpResult result : op->getResults())
      if (isTraced(result.getType()))
        if (Value trace = items_.ofResult(result))
          traces_[result] = trace;
    // Its own result was traced with the trace of the value.
    if (isReader(op, traceReader) || isReader(op, operandReader))
      op->setOperand(0, traces_.lookup(op->getOperand(0)));
  }

  mlir::ModuleOp module_;
  mlir::OpBuilder builder_;
  TraceItems items_;
  Type trace_;
  llvm::DenseMap<Value, Value> traces_;
};

} // namespace

void traceLineage(mlir::ModuleOp module) {
  bool isUsed = false, keepsOperands = false;
  module.walk([&](Operation *op) {
    isUsed |= isReader(op, traceReader);
    keepsOperands |= isReader(op, operandReader);
  });
  if (isUsed || keepsOperands)
    LineageTracer(module, keepsOperands).run();
}

} // namespace tokamak::frontend
