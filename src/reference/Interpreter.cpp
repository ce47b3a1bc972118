#include "reference/Interpreter.h"

#include "base/Error.h"
#include "reference/OperationMeaning.h"
#include "reference/SourceTrace.h"
#include "runtime/ScalarOperations.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/thread.h"

#include <exception>
#include <fmt/format.h>
#include <optional>

namespace tokamak::reference {
namespace {

using runtime::Value;

std::vector<Value> valuesOf(mlir::ValueRange values,
                            const llvm::DenseMap<mlir::Value, Value> &frame) {
  std::vector<Value> result;
  for (mlir::Value value : values)
    result.push_back(frame.at(value));
  return result;
}

// A condition of any scalar type; an unassigned variable is an error.
bool isTrue(const Value &condition) {
  runtime::checkDefined(condition);
  return condition.asBoolean();
}

int64_t integerOf(const Value &value) {
  runtime::checkDefined(value);
  return value.asInteger();
}

// The interpreter recurses where the program calls or nests blocks; this holds the deepest calls
// that are allowed even where each is nested in many blocks. Only what is used takes memory.
constexpr unsigned stackBytes = 1u << 29;

template <typename Action> void runOnDeepStack(Action action) {
  std::exception_ptr failure;
  llvm::thread thread(std::optional<unsigned>(stackBytes), [&] {
    try {
      action();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace

Interpreter::Interpreter(mlir::ModuleOp module, runtime::ExecutionContext &context)
    : functions_(module), context_(context) {}

void Interpreter::run() { call("main", {}); }

std::vector<Value> Interpreter::call(llvm::StringRef function, std::vector<Value> arguments) {
  Values results;
  runOnDeepStack([&] { results = runFunction(function, std::move(arguments)); });
  return results;
}

Interpreter::Values Interpreter::runFunction(llvm::StringRef name, Values arguments) {
  auto function = functions_.lookup<mlir::func::FuncOp>(name);
  if (!function || function.isExternal() || function.getNumArguments() != arguments.size())
    internalError(fmt::format("no function '{}' of {} parameters", name.str(), arguments.size()));
  if (callDepth_ > maximumCallDepth)
    throw Error(
        fmt::format("recursion too deep: function '{}' is reached through more than {} calls",
                    name.str(), maximumCallDepth));
  ++callDepth_;
  auto leave = llvm::make_scope_exit([this] { --callDepth_; });
  Frame frame;
  return runBlock(function.front(), arguments, frame);
}

// Executes the operations in order; the operands of the terminator are what the block passes on.
Interpreter::Values Interpreter::runBlock(mlir::Block &block, const Values &arguments,
                                          Frame &frame) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    frame[argument] = value;
  for (mlir::Operation &operation : block.without_terminator()) {
    Values results;
    try {
      results = runOperation(operation, frame);
    } catch (Error &error) {
      locate(error, operation.getLoc());
      throw;
    }
    for (auto [result, value] : llvm::zip_equal(operation.getResults(), results))
      frame[result] = std::move(value);
  }
  return valuesOf(block.getTerminator()->getOperands(), frame);
}

Interpreter::Values Interpreter::runOperation(mlir::Operation &operation, Frame &frame) {
  return llvm::TypeSwitch<mlir::Operation *, Values>(&operation)
      .Case([&](tok::IfOp op) { return runIf(op, frame); })
      .Case([&](tok::WhileOp op) { return runWhile(op, frame); })
      .Case<tok::ForOp, tok::ParForOp>([&](auto op) { return runCounted(op, frame); })
      .Case([&](tok::CallOp op) { return runCall(operation, op.getCallee(), frame); })
      .Case([&](tok::ExecuteOp op) { return runCall(operation, op.getBlock(), frame); })
      .Default([&](mlir::Operation *) { return runComputation(operation, frame); });
}

Interpreter::Values Interpreter::runIf(tok::IfOp op, Frame &frame) {
  bool condition = isTrue(frame.at(op.getCondition()));
  return runBlock((condition ? op.getThenRegion() : op.getElseRegion()).front(), {}, frame);
}

Interpreter::Values Interpreter::runWhile(tok::WhileOp op, Frame &frame) {
  Values carried = valuesOf(op.getInits(), frame);
  while (true) {
    // What tok.condition passes on: whether to go on, then the carried values.
    Values tested = runBlock(op.getConditionRegion().front(), carried, frame);
    if (!isTrue(tested.front()))
      return carried;
    carried = runBlock(op.getBodyRegion().front(), carried, frame);
  }
}

// The iterations of parfor are independent of each other, so that any order of them is right; this
// is the first.
template <typename Loop> Interpreter::Values Interpreter::runCounted(Loop op, Frame &frame) {
  int64_t from = integerOf(frame.at(op.getFrom())), to = integerOf(frame.at(op.getTo()));
  int64_t step = integerOf(frame.at(op.getStep()));
  if (step == 0)
    throw Error("for: the increment is zero");
  Values carried = valuesOf(op.getInits(), frame);
  for (int64_t counter = from; step > 0 ? counter <= to : counter >= to;) {
    Values arguments = {counter};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    carried = runBlock(op.getBodyRegion().front(), arguments, frame);
    if (__builtin_add_overflow(counter, step, &counter))
      break;
  }
  return carried;
}

// Unassigned variables pass through calls as they do through branches: what counts is whether they
// are read.
Interpreter::Values Interpreter::runCall(mlir::Operation &call, llvm::StringRef function,
                                         Frame &frame) {
  Values arguments = valuesOf(call.getOperands(), frame);
  try {
    return runFunction(function, std::move(arguments));
  } catch (Error &error) {
    if (error.place().isKnown())
      traceCall(error, call.getLoc());
    throw;
  }
}

Interpreter::Values Interpreter::runComputation(mlir::Operation &operation, Frame &frame) {
  if (auto named = mlir::dyn_cast<tok::NativeOpInterface>(operation)) {
    const runtime::Native *native = runtime::findNative(std::string_view(named.getNativeName()));
    started_ |= native && native->hasEffect;
  }
  return meaningOf(operation, valuesOf(operation.getOperands(), frame), context_);
}

} // namespace tokamak::reference
