// Executes a program image. An Error that it throws has the source place of the failing
// instruction.
//
//   Executor executor(image, provider, context);
//   executor.run();
#ifndef TOKAMAK_RUNTIME_IMAGE_EXECUTOR_H
#define TOKAMAK_RUNTIME_IMAGE_EXECUTOR_H

#include "runtime/image/HotCode.h"
#include "runtime/natives/CellUpdates.h"

#include <atomic>
#include <deque>

namespace tokamak::runtime {

// Tells a task of a parallel loop to stop because an earlier task has failed.
struct TaskStop {
  const std::atomic<int64_t> *firstFailed;
  int64_t task;
  const TaskStop *outer; // of the enclosing parallel loop
};

class Executor {
public:
  // All references must outlive the executor; `provider` may be null if the image has no blocks.
  Executor(const Image &image, BlockProvider *provider, ExecutionContext &context);
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;
  // Runs function 0 without arguments. `results` receives its results, if any.
  void run(std::span<Value> results = {}) { call(0, {}, results); }
  // Runs a function of the image; there are as many arguments and results as it has. Consumes the
  // arguments.
  void call(size_t function, std::span<Value> arguments, std::span<Value> results);
  // Number of arrays with more than one cell that kernels and natives wrote: for tests that count
  // intermediates.
  int64_t materializedArrays() const { return materializedArrays_; }

private:
  friend class ParallelLoopRun;
  class Frame;
  // Makes a worker for one of `tasks` tasks that run concurrently.
  Executor(const Executor &parent, ExecutionContext &context, int64_t tasks);
  bool hasEarlierTaskFailed() const;
  // Throws if the user interrupted the program, or if an earlier task of the loop has failed.
  void checkStop() const;
  void runFunction(const Image &image, const ImageFunction &function, std::span<Value> arguments,
                   std::span<Value> results, int depth);
  void runFrame(const Image &image, const ImageFunction &function, Frame &frame,
                std::span<Value> results, int depth);
  void interpret(const Image &image, const ImageFunction &function, Value *slots,
                 std::span<Value> results, const Instruction *&current, int depth);
  // At a jump back to a loop's head: the next instruction.
  int32_t jumpBack(const Image &image, const ImageFunction &function, const Instruction &jump,
                   Value *slots);
  void readCell(const Image &image, const Instruction &instruction, const Slot *lists,
                Value *slots);
  void writeCell(const Image &image, const Instruction &instruction, const Slot *lists,
                 Value *slots);
  int threads() const;
  void runNative(const Image &image, const Instruction &instruction, const Slot *lists,
                 Value *slots);
  void runKernel(const Image &image, const Instruction &instruction, const Slot *lists,
                 Value *slots);
  void runBlock(const ImageFunction &caller, const Instruction &instruction, Value *slots,
                int depth);
  void runCall(const Image &image, const Instruction &instruction, const Slot *lists, Value *slots,
               int depth);
  void runParallelLoop(const Image &image, const Instruction &instruction, const Slot *lists,
                       Value *slots, int depth);
  void countMaterialized(std::span<const Value> results);

  const Image &image_;
  BlockProvider *provider_;
  ExecutionContext &context_;
  int64_t materializedArrays_ = 0;
  std::deque<std::vector<Value>> frames_; // by call depth; reused by later calls at that depth
  HotCode hot_;
  int callDepth_ = 0; // number of active calls of the program's functions

  // State of the innermost enclosing parallel loop.
  int64_t parallelTasks_ = 1; // the product of the task counts of all enclosing loops
  const TaskStop *stop_ = nullptr;
  std::vector<CellUpdates> *updates_ = nullptr; // by loop-carried value; null: no record needed
};

} // namespace tokamak::runtime
#endif
