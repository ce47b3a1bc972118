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

// The maximum number of calls, branches and iterations opened; further ones are compared as a
// whole.
constexpr int mostOpened = 200;
// The same limit where no difference is known but error bounds are too large to tell.
constexpr int mostOpenedInDoubt = 30;
// The maximum number of values checked one by one if values differ only when compiled together.
constexpr size_t mostAlone = 300;

FuncOp mainOf(mlir::ModuleOp module) { return module.lookupSymbol<FuncOp>("main"); }

bool isComparable(mlir::Type type) { return tok::isArray(type) || tok::isNumber(type); }

// The reference computes with dense arrays, of doubles where they are floats.
runtime::Value dense(runtime::Value value) {
  if (!value.isArray())
    return value;
  if (isFloat(value.array()->elementType()))
    value.array() = runtime::Array::withElementType(value.array(), ElementType::F64);
  value.array() = runtime::Array::asDense(value.array());
  return value;
}

bool isOpenable(mlir::Operation *op) {
  return mlir::isa<tok::IfOp, tok::WhileOp, tok::ForOp, tok::ParForOp, tok::CallOp>(op);
}

bool isVague(const Bounded &value) {
  int64_t cells = value.value.isArray() ? value.value.array()->cells() : 1;
  for (int64_t i = 0; i < cells && !value.engine.isExact(); ++i)
    if (value.engine[i] == CellErrors::anything)
      return true;
  return false;
}

// The comparable values at the top level of main, in order.
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
      : original_(module.clone()), module_(module.clone()), context_(context),
        firstDraw_(context.draws), options_(options), engine_(engine) {}

  Comparison run() {
    while (goThrough() == Next::Again) {
    }
    return std::move(comparison_);
  }

private:
  enum class Next : uint8_t { Done, Again };
  using Frame = BoundedInterpreter::Frame;

  // Runs the engine on a copy of the module whose main returns these values.
  EngineRun runEngine(mlir::ModuleOp module, mlir::ValueRange values) {
    setResults(mainOf(module), values);
    mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
    EngineRun run = engine_(*copy);
    setResults(mainOf(module), {});
    return run;
  }

  // Compares operation by operation until one differs or is opened.
  Next goThrough() {
    llvm::SmallVector<mlir::Value> values = valuesOf(mainOf(*module_));
    EngineRun run = runEngine(*module_, values);
    if (run.error) {
      compareFailures(run);
      return Next::Done;
    }
    comparison_.values = static_cast<int64_t>(values.size());
    comparison_.leftOut.clear();
    llvm::DenseMap<mlir::Value, runtime::Value> actual;
    for (auto [value, result] : llvm::zip(values, run.results))
      actual[value] = result;
    context_.draws = firstDraw_;
    BoundedInterpreter interpreter(*module_, context_, options_);
    Frame frame;
    for (mlir::Operation &op : mainOf(*module_).front().without_terminator())
      if (std::optional<Next> next = compare(op, interpreter, frame, actual))
        return *next;
    compareTogether();
    return Next::Done;
  }

  // Compares one operation; returns nothing if it agrees and the next one should be compared.
  std::optional<Next> compare(mlir::Operation &op, BoundedInterpreter &interpreter, Frame &frame,
                              const llvm::DenseMap<mlir::Value, runtime::Value> &actual) {
    bool mayOpen = isOpenable(&op) && opened_ < mostOpened;
    bool mayDoubt = mayOpen && opened_ < mostOpenedInDoubt;
    std::vector<Bounded> expected;
    const runtime::DrawPosition draws = context_.draws;
    try {
      expected = interpreter.execute(op, frame);
    } catch (const Undecided &) {
      if (mayDoubt)
        return open(op, frame);
      context_.draws = draws;
      BoundedOptions options = options_;
      options.takesReferenceDecisions = true;
      expected = BoundedInterpreter(*module_, context_, options).execute(op, frame);
    } catch (const Error &error) {
      report(op, frame, fmt::format("the reference fails: {}", error.message()));
      return Next::Done;
    }
    for (auto [result, reference] : llvm::zip(op.getResults(), expected)) {
      auto found = actual.find(result);
      if (found == actual.end()) {
        frame[result] = reference;
        continue;
      }
      auto difference = disagreement(reference.value, reference.engine, found->second);
      if ((mayOpen && difference) || (mayDoubt && isVague(reference)))
        return open(op, frame);
      if (difference) {
        report(op, frame, describe(*difference));
        return Next::Done;
      }
      frame[result] = {dense(found->second), {}, {}, {}};
      noteLeftOutZeros(op, reference.value, frame[result].value);
    }
    return std::nullopt;
  }

  void noteLeftOutZeros(mlir::Operation &op, const runtime::Value &reference,
                        const runtime::Value &actual) {
    auto binary = mlir::dyn_cast<tok::BinaryOp>(op);
    bool isProduct =
        binary ? binary.getKind() == BinaryOperator::Mul : mlir::isa<tok::MatmulOp>(op);
    if (!isProduct || !actual.isArray())
      return;
    CellView expected(reference), cells(actual);
    int64_t count = 0;
    for (int64_t i = 0; i < cells.cells(); ++i)
      count += std::isnan(expected[i]) && !std::isnan(cells[i]);
    if (count > 0)
      comparison_.leftOut.push_back({op.getLoc(), nameOf(&op), count});
  }

  void report(mlir::Operation &op, const Frame &frame, std::string what) {
    std::string operands;
    for (mlir::Value operand : op.getOperands())
      if (auto known = frame.find(operand); known != frame.end() && isComparable(operand.getType()))
        operands += (operands.empty() ? "" : ", ") + describeValue(known->second.value);
    comparison_.divergence = {op.getLoc(), nameOf(&op), operands, std::move(what), false};
  }

  // If the engine fails, the reference has to fail with the same message.
  void compareFailures(const EngineRun &run) {
    std::string message = "no error";
    comparison_.failure = run.error;
    context_.draws = firstDraw_;
    try {
      BoundedOptions options = options_;
      options.takesReferenceDecisions = true;
      BoundedInterpreter(*original_, context_, options).call("main", {});
    } catch (const Error &error) {
      message = error.message();
    } catch (const Undecided &) {
      return; // whether the reference fails is undecided
    }
    if (message == run.error->message())
      return;
    comparison_.failure.reset();
    const SourcePlace &place = run.error->place();
    comparison_.divergence = {
        mlir::FileLineColLoc::get(module_->getContext(), place.file, place.line, place.column), "",
        "", fmt::format("the reference: {}; the native engine: {}", message, run.error->message())};
  }

  // With every value as a result of main, nothing is fused. So compare the original program again,
  // first with only the values that it prints, writes or gives as results; if these differ, with each
  // value alone.
  void compareTogether() {
    llvm::SmallVector<mlir::Value> shown;
    FuncOp main = mainOf(*original_);
    for (mlir::Operation &op : main.front().without_terminator())
      if (mlir::isa<tok::PrintOp, tok::WriteOp, tok::ToStringOp>(op))
        for (mlir::Value operand : op.getOperands())
          if (isComparable(operand.getType()) && operand.getDefiningOp())
            shown.push_back(operand);
    for (mlir::Value result : main.front().getTerminator()->getOperands())
      if (isComparable(result.getType()) && result.getDefiningOp())
        shown.push_back(result);
    std::string what;
    if (differsTogether(shown, what) < 0)
      return;
    llvm::SmallVector<mlir::Value> values = valuesOf(main);
    for (mlir::Value value : llvm::ArrayRef(values).take_front(mostAlone))
      if (differsTogether(value, what) >= 0)
        return reportTogether(value, std::move(what));
    int64_t first = differsTogether(shown, what);
    reportTogether(shown[first], std::move(what));
  }

  // The index of the first of these values that differs in the original program, or -1.
  int64_t differsTogether(mlir::ValueRange values, std::string &what) {
    if (values.empty())
      return -1;
    EngineRun run = runEngine(*original_, values);
    setResults(mainOf(*original_), values);
    context_.draws = firstDraw_;
    BoundedOptions options = options_;
    options.takesReferenceDecisions = true;
    std::vector<Bounded> expected;
    try {
      expected = BoundedInterpreter(*original_, context_, options).call("main", {});
    } catch (const Undecided &) {
    } catch (const Error &) {
    }
    setResults(mainOf(*original_), {});
    if (run.error)
      return -1;
    for (size_t i = 0; i < expected.size(); ++i)
      if (auto difference = disagreement(expected[i].value, expected[i].engine, run.results[i])) {
        what = describe(*difference);
        return static_cast<int64_t>(i);
      }
    return -1;
  }

  void reportTogether(mlir::Value value, std::string what) {
    mlir::Operation *op = value.getDefiningOp();
    comparison_.divergence = {op->getLoc(), nameOf(op), "", std::move(what), true};
  }

  //===- opening ------------------------------------------------------------------------------===//

  // Replaces the operation by its contents, as far as they execute first.
  Next open(mlir::Operation &op, Frame &frame) {
    ++opened_;
    llvm::TypeSwitch<mlir::Operation *>(&op)
        .Case([&](tok::IfOp branch) {
          bool condition = frame.at(branch.getCondition()).value.asBoolean();
          mlir::Region &taken = condition ? branch.getThenRegion() : branch.getElseRegion();
          replaceWithBody(&op, taken.front(), {});
        })
        .Case([&](tok::CallOp call) {
          FuncOp callee = module_->lookupSymbol<FuncOp>(call.getCallee());
          replaceWithBody(&op, callee.front(), op.getOperands());
        })
        .Case<tok::ForOp, tok::ParForOp>([&](auto loop) { openCounted(loop, frame); })
        .Case([&](tok::WhileOp loop) { openWhile(loop); });
    return Next::Again;
  }

  static llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, mlir::Block &body,
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

  static void replaceWithBody(mlir::Operation *op, mlir::Block &body, mlir::ValueRange arguments) {
    mlir::OpBuilder builder(op);
    op->replaceAllUsesWith(cloneBody(builder, body, arguments));
    op->erase();
  }

  // Peels the first iteration of a counted loop.
  template <typename Loop> static void openCounted(Loop loop, Frame &frame) {
    auto number = [&](mlir::Value value) { return frame.at(value).value.asInteger(); };
    int64_t from = number(loop.getFrom()), step = number(loop.getStep());
    bool runs = step > 0 ? from <= number(loop.getTo()) : from >= number(loop.getTo());
    if (!runs) {
      loop->replaceAllUsesWith(loop.getInits());
      loop->erase();
      return;
    }
    mlir::OpBuilder builder(loop);
    llvm::SmallVector<mlir::Value> arguments{builder.create<tok::ConstantOp>(loop.getLoc(), from)};
    arguments.append(loop.getInits().begin(), loop.getInits().end());
    llvm::SmallVector<mlir::Value> carried =
        cloneBody(builder, loop.getBodyRegion().front(), arguments);
    int64_t next;
    if (__builtin_add_overflow(from, step, &next)) { // it was the last iteration
      loop->replaceAllUsesWith(carried);
      loop->erase();
      return;
    }
    loop.getInitsMutable().assign(carried);
    loop.getFromMutable().assign(builder.create<tok::ConstantOp>(loop.getLoc(), next).getResult());
  }

  // Replaces `while` by its condition and a branch with the first iteration followed by the loop.
  static void openWhile(tok::WhileOp loop) {
    mlir::OpBuilder builder(loop);
    llvm::SmallVector<mlir::Value> inits(loop.getInits());
    mlir::Value condition = cloneBody(builder, loop.getConditionRegion().front(), inits).front();
    auto branch = builder.create<tok::IfOp>(loop.getLoc(), loop->getResultTypes(), condition);
    for (mlir::Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (region->empty())
        region->emplaceBlock();
    builder.setInsertionPointToStart(&branch.getThenRegion().front());
    llvm::SmallVector<mlir::Value> carried =
        cloneBody(builder, loop.getBodyRegion().front(), inits);
    auto rest = mlir::cast<tok::WhileOp>(builder.clone(*loop.getOperation()));
    rest.getInitsMutable().assign(carried);
    builder.create<tok::YieldOp>(loop.getLoc(), rest->getResults());
    builder.setInsertionPointToStart(&branch.getElseRegion().front());
    builder.create<tok::YieldOp>(loop.getLoc(), inits);
    loop->replaceAllUsesWith(branch->getResults());
    loop->erase();
  }

  mlir::OwningOpRef<mlir::ModuleOp> original_; // the original program
  mlir::OwningOpRef<mlir::ModuleOp> module_;   // with operations opened
  runtime::ExecutionContext &context_;
  const runtime::DrawPosition firstDraw_; // of every run
  BoundedOptions options_;
  Engine engine_;
  int opened_ = 0;
  Comparison comparison_;
};

} // namespace

Comparison firstDivergence(mlir::ModuleOp module, runtime::ExecutionContext &context,
                           BoundedOptions options, Engine engine) {
  return Search(module, context, options, engine).run();
}

} // namespace tokamak::oracle
