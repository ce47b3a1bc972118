// Executes a program image. Errors leave as Error with the source place of the instruction that
// failed.
//
//   Executor executor(image, provider, context);
//   executor.run();
#ifndef TOKAMAK_RUNTIME_EXECUTOR_H
#define TOKAMAK_RUNTIME_EXECUTOR_H

#include "runtime/CellUpdates.h"
#include "runtime/Image.h"

#include <atomic>
#include <deque>

namespace tokamak::runtime {

// When a task of a parallel loop is to stop: an earlier one failed.
struct TaskStop {
  const std::atomic<int64_t> *firstFailed;
  int64_t task;
  const TaskStop *outer; // of the loop around
};

class Executor {
public:
  // All references must outlive the executor; `provider` may be null if the image has no blocks.
  Executor(const Image &image, BlockProvider *provider, ExecutionContext &context);
  // Runs function 0 without arguments.
  // `results`: of an entry function that returns something.
  void run(std::span<Value> results = {});
  // Arrays of vector size or more that kernels and natives wrote, for tests that count
  // intermediates.
  int64_t materializedArrays() const { return materializedArrays_; }

private:
  friend class ParallelLoopRun;
  class Frame;
  // A worker for one of `tasks` tasks that run at the same time.
  Executor(const Executor &parent, ExecutionContext &context, int64_t tasks);
  // Throws if the user interrupted the program, or if nobody needs this task any more.
  void checkStop() const;
  void runFunction(const Image &image, const ImageFunction &function, std::span<Value> arguments,
                   std::span<Value> results, int depth);
  void interpret(const Image &image, const ImageFunction &function, Value *slots,
                 std::span<Value> results, const Instruction *&current, int depth);
  void runNative(const Image &image, const Instruction &instruction, const Slot *lists,
                 Value *slots);
  void runKernel(const Image &image, const Instruction &instruction, const Slot *lists,
                 Value *slots);
  void runBlock(const Instruction &instruction, const Slot *lists, Value *slots, int depth);
  void runCall(const Image &image, const Instruction &instruction, const Slot *lists, Value *slots,
               int depth);
  void runParallelLoop(const Image &image, const Instruction &instruction, const Slot *lists,
                       Value *slots, int depth);
  void countMaterialized(std::span<const Value> results);

  const Image &image_;
  BlockProvider *provider_;
  ExecutionContext &context_;
  int64_t materializedArrays_ = 0;
  std::deque<std::vector<Value>> frames_; // by depth, reused by the next call at that depth
  int callDepth_ = 0;                     // calls of the program's functions

  // Of the innermost parallel loop around.
  int64_t parallelTasks_ = 1; // tasks of all loops around, multiplied
  const TaskStop *stop_ = nullptr;
  std::vector<CellUpdates> *updates_ = nullptr; // by carried value; null: nobody needs a record
};

} // namespace tokamak::runtime
#endif
