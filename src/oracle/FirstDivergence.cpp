#include "oracle/FirstDivergence.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

namespace tokamak::oracle {
namespace {

using mlir::func::FuncOp;
using mlir::func::ReturnOp;

// Calls and regions are opened until what differs is one operation; nested this deep they hardly
// are.
constexpr int mostSteps = 200;
// Iterations of a while loop that are unrolled to see which differs first.
constexpr int64_t mostUnrolled = 64;

FuncOp mainOf(mlir::ModuleOp module) { return module.lookupSymbol<FuncOp>("main"); }

bool isComparable(mlir::Type type) { return tok::isArray(type) || tok::isNumber(type); }

// The values at the top level of main that can be compared, in order.
llvm::SmallVector<mlir::Value> valuesOf(FuncOp main) {
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Operation &op : main.front().without_terminator())
    if (!mlir::isa<tok::ConstantOp>(op))
      for (mlir::Value result : op.getResults())
        if (isComparable(result.getType()))
          values.push_back(result);
  return values;
}

void setResults(FuncOp main, mlir::ValueRange values) {
  auto end = mlir::cast<ReturnOp>(main.front().getTerminator());
  end.getOperandsMutable().assign(values);
  main.setType(mlir::FunctionType::get(main.getContext(), {}, end.getOperandTypes()));
}

std::string nameOf(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, std::string>(op)
      .Case<tok::UnaryOp, tok::BinaryOp>(
          [](auto cell) { return std::string(spelling(cell.getKind())); })
      .Case([](tok::AggregateOp aggregate) {
        std::string over = aggregate.getDirection() == AggregateDirection::Full  ? ""
                           : aggregate.getDirection() == AggregateDirection::Row ? " of rows"
                                                                                 : " of columns";
        return std::string(mnemonic(aggregate.getKind())) + over;
      })
      .Case([](tok::MatmulOp) { return std::string("%*%"); })
      .Case([](tok::NativeOpInterface native) { return native.getNativeName().str(); })
      .Default([](mlir::Operation *other) { return other->getName().stripDialect().str(); });
}

std::string describeValue(const runtime::Value &value) {
  if (value.isArray())
    return value.array()->shape().text();
  return value.isNumber() ? value.asText() : std::string(value.describe());
}

class Search {
public:
  Search(mlir::ModuleOp module, runtime::ExecutionContext &context, BoundedOptions options,
         Engine engine)
      : module_(module.clone()), context_(context), options_(options), engine_(engine) {
    // Programs iterate until something is small: nothing could be said of most.
    options_.takesReferenceDecisions = true;
  }

  Comparison run() {
    try {
      search();
    } catch (const Undecided &undecided) {
      comparison_.undecided = undecided.what();
    }
    return std::move(comparison_);
  }

private:
  struct Outcome {
    std::vector<Bounded> expected;
    std::optional<Error> expectedError;
    EngineRun actual;
  };

  // Both engines on a copy of the module whose main returns these values.
  Outcome runWith(mlir::ValueRange values) {
    setResults(mainOf(*module_), values);
    Outcome outcome;
    BoundedInterpreter interpreter(*module_, context_, options_);
    try {
      outcome.expected = interpreter.call("main", {});
    } catch (const Error &error) {
      outcome.expectedError = error;
    }
    comparison_.openDecisions = interpreter.openDecisions();
    mlir::OwningOpRef<mlir::ModuleOp> copy(module_->clone());
    outcome.actual = engine_(*copy);
    setResults(mainOf(*module_), {});
    return outcome;
  }

  // The number of the first value that differs, or -1.
  int64_t firstDifference(const Outcome &outcome, std::string &what) {
    for (size_t i = 0; i < outcome.expected.size(); ++i) {
      const Bounded &expected = outcome.expected[i];
      auto difference = disagreement(expected.value, expected.engine, outcome.actual.results[i]);
      if (!difference)
        continue;
      what = describe(*difference);
      return static_cast<int64_t>(i);
    }
    return -1;
  }

  void search() {
    for (int step = 0; step < mostSteps; ++step) {
      llvm::SmallVector<mlir::Value> values = valuesOf(mainOf(*module_));
      Outcome outcome = runWith(values);
      if (reportFailure(outcome))
        return;
      comparison_.values = std::max<int64_t>(comparison_.values, values.size());
      std::string what;
      int64_t first = firstDifference(outcome, what);
      if (first < 0)
        return searchTogether(values);
      mlir::Operation *op = values[first].getDefiningOp();
      if (!open(op))
        return report(op, std::move(what), false);
    }
  }

  // One engine fails, or both do in different ways.
  bool reportFailure(const Outcome &outcome) {
    const std::optional<Error> &expected = outcome.expectedError, &actual = outcome.actual.error;
    if (!expected && !actual)
      return false;
    auto text = [](const std::optional<Error> &error) {
      return error ? error->message() : std::string("no error");
    };
    if (text(expected) != text(actual)) {
      const SourcePlace &place = (actual ? *actual : *expected).place();
      mlir::Location location =
          mlir::FileLineColLoc::get(module_->getContext(), place.file, place.line, place.column);
      comparison_.divergence = {
          location, "", "",
          fmt::format("the reference: {}; the native engine: {}", text(expected), text(actual))};
    }
    return true;
  }

  void report(mlir::Operation *op, std::string what, bool onlyTogether) {
    std::string operands;
    llvm::SmallVector<mlir::Value> comparable;
    for (mlir::Value operand : op->getOperands())
      if (isComparable(operand.getType()))
        comparable.push_back(operand);
    setResults(mainOf(*module_), comparable);
    BoundedInterpreter interpreter(*module_, context_, options_);
    for (const Bounded &operand : interpreter.call("main", {}))
      operands += (operands.empty() ? "" : ", ") + describeValue(operand.value);
    comparison_.divergence = {op->getLoc(), nameOf(op), operands, std::move(what), onlyTogether};
  }

  // With every value as a result all agree: nothing is fused then. The values one by one, each in
  // a program that is otherwise as it was.
  void searchTogether(mlir::ValueRange values) {
    for (mlir::Value value : values) {
      std::string what;
      if (firstDifference(runWith(value), what) >= 0)
        return report(value.getDefiningOp(), std::move(what), true);
    }
  }

  // Puts what is inside of the operation in its place; false if there is nothing.
  bool open(mlir::Operation *op) {
    return llvm::TypeSwitch<mlir::Operation *, bool>(op)
        .Case([&](tok::IfOp branch) {
          bool condition = valueNow(branch.getCondition()).value.asBoolean();
          mlir::Region &taken = condition ? branch.getThenRegion() : branch.getElseRegion();
          replaceWithBody(op, taken.front(), {});
          return true;
        })
        .Case([&](tok::CallOp call) {
          FuncOp callee = module_->lookupSymbol<FuncOp>(call.getCallee());
          replaceWithBody(op, callee.front(), op->getOperands());
          return true;
        })
        .Case<tok::ForOp, tok::ParForOp>([&](auto loop) { return openLoop(loop); })
        .Case([&](tok::WhileOp loop) { return openWhile(loop); })
        .Default([](mlir::Operation *) { return false; });
  }

  // A value at the top level, as the reference has it.
  Bounded valueNow(mlir::Value value) {
    setResults(mainOf(*module_), value);
    BoundedInterpreter interpreter(*module_, context_, options_);
    Bounded result = interpreter.call("main", {}).front();
    setResults(mainOf(*module_), {});
    return result;
  }

  llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, mlir::Block &body,
                                           mlir::ValueRange arguments) {
    mlir::IRMapping mapping;
    mapping.map(body.getArguments(), arguments);
    for (mlir::Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    llvm::SmallVector<mlir::Value> results;
    for (mlir::Value result : body.getTerminator()->getOperands())
      results.push_back(mapping.lookupOrDefault(result));
    return results;
  }

  void replaceWithBody(mlir::Operation *op, mlir::Block &body, mlir::ValueRange arguments) {
    mlir::OpBuilder builder(op);
    op->replaceAllUsesWith(cloneBody(builder, body, arguments));
    op->erase();
  }

  // The loop runs up to the iteration before the first that differs, which follows as its body.
  template <typename Loop> bool openLoop(Loop loop) {
    int64_t from = valueNow(loop.getFrom()).value.asInteger();
    int64_t to = valueNow(loop.getTo()).value.asInteger();
    int64_t step = valueNow(loop.getStep()).value.asInteger();
    int64_t iterations = (to - from) / step + 1, right = 0, wrong = iterations;
    mlir::OpBuilder builder(loop);
    auto limit = [&](int64_t count) {
      builder.setInsertionPoint(loop);
      auto last = builder.create<tok::ConstantOp>(loop.getLoc(), from + (count - 1) * step);
      loop.getToMutable().assign(last);
    };
    while (right + 1 < wrong) {
      int64_t middle = right + (wrong - right) / 2;
      limit(middle);
      std::string what;
      bool differs = firstDifference(runWith(comparableResults(loop)), what) >= 0;
      (differs ? wrong : right) = middle;
    }
    limit(wrong - 1);
    mlir::Operation *next = loop->getNextNode();
    builder.setInsertionPointAfter(loop);
    auto counter = builder.create<tok::ConstantOp>(loop.getLoc(), from + (wrong - 1) * step);
    llvm::SmallVector<mlir::Value> arguments{counter};
    arguments.append(loop->result_begin(), loop->result_end());
    llvm::SmallVector<mlir::Value> results =
        cloneBody(builder, loop.getBodyRegion().front(), arguments);
    replaceFrom(next, loop, results);
    return true;
  }

  // As many iterations as it takes, one behind the other.
  bool openWhile(tok::WhileOp loop) {
    mlir::OpBuilder builder(loop);
    llvm::SmallVector<mlir::Value> carried(loop.getInits());
    mlir::Operation *before = loop->getPrevNode();
    for (int64_t i = 0; i < mostUnrolled; ++i) {
      llvm::SmallVector<mlir::Value> tested =
          cloneBody(builder, loop.getConditionRegion().front(), carried);
      if (!valueNow(tested.front()).value.asBoolean()) {
        loop->replaceAllUsesWith(carried);
        loop.erase();
        return true;
      }
      carried = cloneBody(builder, loop.getBodyRegion().front(), carried);
    }
    // Too many: as it was.
    mlir::Operation *first = before ? before->getNextNode() : &loop->getBlock()->front();
    while (mlir::Operation *last = loop->getPrevNode()) {
      bool done = last == first;
      last->erase();
      if (done)
        break;
    }
    return false;
  }

  static llvm::SmallVector<mlir::Value> comparableResults(mlir::Operation *op) {
    llvm::SmallVector<mlir::Value> results;
    for (mlir::Value result : op->getResults())
      if (isComparable(result.getType()))
        results.push_back(result);
    return results;
  }

  // From `next` on, the results of the body are seen in place of the loop's.
  static void replaceFrom(mlir::Operation *next, mlir::Operation *loop,
                          llvm::ArrayRef<mlir::Value> results) {
    auto isLater = [&](mlir::OpOperand &use) {
      mlir::Operation *user = loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && !user->isBeforeInBlock(next);
    };
    for (auto [old, replacement] : llvm::zip(loop->getResults(), results))
      if (old != replacement)
        old.replaceUsesWithIf(replacement, isLater);
  }

  mlir::OwningOpRef<mlir::ModuleOp> module_;
  runtime::ExecutionContext &context_;
  BoundedOptions options_;
  Engine engine_;
  Comparison comparison_;
};

} // namespace

Comparison firstDivergence(mlir::ModuleOp module, runtime::ExecutionContext &context,
                           BoundedOptions options, Engine engine) {
  return Search(module, context, options, engine).run();
}

} // namespace tokamak::oracle
