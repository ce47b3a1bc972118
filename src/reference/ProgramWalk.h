// Walks a program operation by operation: functions and structured control flow, independent of
// what values are. A domain defines the values and how operations compute them; the reference's
// domain (Interpreter.cpp) uses plain values, the oracle's (oracle/BoundedInterpreter.cpp) adds
// error bounds.
//
//   struct Domain {
//     using Value = runtime::Value;
//     bool isTrue(const Value &condition);
//     int64_t integerOf(const Value &value);
//     Value counter(int64_t value);                      // the counter of a loop
//     runtime::DrawPosition &draws();                    // of random numbers without a seed
//     std::vector<Value> compute(mlir::Operation &operation, std::vector<Value> operands);
//     // Executes a branch or loop by `run`; a domain may catch its errors.
//     std::vector<Value> control(mlir::Operation &operation,
//                                llvm::function_ref<std::vector<Value>()> run);
//   };
//   ProgramWalk<Domain> walk(module, domain);
//   walk.call("main", {});
#ifndef TOKAMAK_REFERENCE_PROGRAMWALK_H
#define TOKAMAK_REFERENCE_PROGRAMWALK_H

#include "base/Interrupt.h"
#include "base/MemoryErrors.h"
#include "ir/tok/TokDialect.h"
#include "runtime/image/DeepStack.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/natives/Native.h"
#include "support/SourceLocations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>
#include <new>
#include <vector>

namespace tokamak::reference {

template <typename Domain> class ProgramWalk {
public:
  using Value = typename Domain::Value;
  using Values = std::vector<Value>;

  // The module must be verified; module and domain must outlive the walk.
  ProgramWalk(mlir::ModuleOp module, Domain &domain) : functions_(module), domain_(domain) {}

  Values call(llvm::StringRef function, Values arguments) {
    Values results;
    runtime::runOnDeepStack([&] { results = runFunction(function, std::move(arguments)); });
    return results;
  }

  // The values in one activation of a function; each iteration of a loop overwrites those of its
  // body.
  using Frame = llvm::DenseMap<mlir::Value, Value>;

  // Executes one operation whose operands are in the frame, and returns its results.
  Values execute(mlir::Operation &operation, Frame &frame) {
    Values results;
    runtime::runOnDeepStack([&] { results = runOperation(operation, frame); });
    return results;
  }

private:
  static Values valuesOf(mlir::ValueRange values, const Frame &frame) {
    Values result;
    for (mlir::Value value : values)
      result.push_back(frame.at(value));
    return result;
  }

  Values runFunction(llvm::StringRef name, Values arguments) {
    auto function = functions_.lookup<mlir::func::FuncOp>(name);
    if (!function || function.isExternal() || function.getNumArguments() != arguments.size())
      internalError(fmt::format("no function '{}' of {} parameters", name.str(), arguments.size()));
    if (callDepth_ > runtime::deepestCall())
      runtime::failTooDeep(name);
    ++callDepth_;
    auto leave = llvm::make_scope_exit([this] { --callDepth_; });
    Frame frame;
    return runBlock(function.front(), arguments, frame);
  }

  // Executes the operations in order and returns the operands of the terminator.
  Values runBlock(mlir::Block &block, const Values &arguments, Frame &frame) {
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      frame[argument] = value;
    for (mlir::Operation &operation : block.without_terminator()) {
      Values results;
      try {
        checkInterrupt();
        results = withMemoryErrors([&] { return runOperation(operation, frame); });
      } catch (Error &error) {
        support::locate(error, operation.getLoc());
        throw;
      }
      for (auto [result, value] : llvm::zip_equal(operation.getResults(), results))
        frame[result] = std::move(value);
    }
    return valuesOf(block.getTerminator()->getOperands(), frame);
  }

  Values runOperation(mlir::Operation &operation, Frame &frame) {
    return llvm::TypeSwitch<mlir::Operation *, Values>(&operation)
        .Case([&](tok::IfOp op) {
          return domain_.control(operation, [&] { return runIf(op, frame); });
        })
        .Case([&](tok::WhileOp op) {
          return domain_.control(operation, [&] { return runWhile(op, frame); });
        })
        .template Case<tok::ForOp, tok::ParForOp>([&](auto op) {
          return domain_.control(operation, [&] { return runCounted(op, frame); });
        })
        .Case([&](tok::CallOp op) { return runCall(operation, op.getCallee(), frame); })
        .Case([&](tok::ExecuteOp op) { return runCall(operation, op.getBlock(), frame); })
        .Default([&](mlir::Operation *) {
          try {
            return domain_.compute(operation, valuesOf(operation.getOperands(), frame));
          } catch (Error &error) {
            // A native that has called a function by its name.
            if (error.place().isKnown())
              support::traceCall(error, operation.getLoc());
            throw;
          }
        });
  }

  Values runIf(tok::IfOp op, Frame &frame) {
    bool condition = domain_.isTrue(frame.at(op.getCondition()));
    return runBlock((condition ? op.getThenRegion() : op.getElseRegion()).front(), {}, frame);
  }

  Values runWhile(tok::WhileOp op, Frame &frame) {
    Values carried = valuesOf(op.getInits(), frame);
    while (true) {
      // The operands of tok.condition: whether to continue, then the carried values.
      Values tested = runBlock(op.getConditionRegion().front(), carried, frame);
      if (!domain_.isTrue(tested.front()))
        return carried;
      carried = runBlock(op.getBodyRegion().front(), carried, frame);
    }
  }

  // The iterations of parfor are independent, so any order is correct; this one is sequential. Each
  // iteration draws random numbers from a stream of its own.
  template <typename Loop> Values runCounted(Loop op, Frame &frame) {
    int64_t from = domain_.integerOf(frame.at(op.getFrom()));
    int64_t to = domain_.integerOf(frame.at(op.getTo()));
    int64_t step = domain_.integerOf(frame.at(op.getStep()));
    if (step == 0)
      throw Error("for: the increment, truncated to an integer, is zero");
    Values carried = valuesOf(op.getInits(), frame);
    constexpr bool isParallel = std::is_same_v<Loop, tok::ParForOp>;
    const runtime::DrawPosition before = domain_.draws();
    uint64_t iteration = 0;
    for (int64_t counter = from; step > 0 ? counter <= to : counter >= to;) {
      if (isParallel)
        domain_.draws() = before.ofIteration(iteration++);
      Values arguments = {domain_.counter(counter)};
      arguments.insert(arguments.end(), carried.begin(), carried.end());
      carried = runBlock(op.getBodyRegion().front(), arguments, frame);
      if (__builtin_add_overflow(counter, step, &counter))
        break;
    }
    if (isParallel)
      domain_.draws() = {before.stream, before.count + 1};
    return carried;
  }

  // An unassigned variable may be passed to a call, as it may be carried through a branch: only
  // reading it is an error.
  Values runCall(mlir::Operation &call, llvm::StringRef function, Frame &frame) {
    Values arguments = valuesOf(call.getOperands(), frame);
    try {
      return runFunction(function, std::move(arguments));
    } catch (Error &error) {
      if (error.place().isKnown())
        support::traceCall(error, call.getLoc());
      throw;
    }
  }

  mlir::SymbolTable functions_;
  Domain &domain_;
  int callDepth_ = 0;
};

} // namespace tokamak::reference
#endif
