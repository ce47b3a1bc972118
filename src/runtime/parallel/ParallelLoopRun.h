// One execution of a parallel loop. Its iterations are cut into tasks of consecutive iterations, by
// their number alone, and the results of the tasks are merged in task order. So results do not
// depend on threads, output appears in the order of iterations, and of several errors that of the
// first iteration is reported.
//
//   ParallelLoopRun run(executor, image, image.loops[0], operands, depth);
//   run.execute(results);
//
// Each task starts with the carried values from before the loop. If the loop is proved independent,
// all tasks write their cells to one shared matrix; otherwise each task has a copy and records the
// cells that it replaces. Sums start from zero in all tasks but the first.
#ifndef TOKAMAK_RUNTIME_PARALLEL_PARALLELLOOPRUN_H
#define TOKAMAK_RUNTIME_PARALLEL_PARALLELLOOPRUN_H

#include "runtime/image/Executor.h"
#include "runtime/natives/CellUpdates.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <sstream>

namespace tokamak::runtime {

class ParallelLoopRun {
public:
  // Operands: from, to, step, the carried values, the captured values; they are consumed.
  ParallelLoopRun(Executor &executor, const Image &image, const ParallelLoop &loop,
                  std::span<Value> operands, int depth);
  // Throws the error of the first failing iteration. `results` receives the carried values.
  void execute(std::span<Value> results);

private:
  struct Task {
    std::vector<Value> carried;
    std::vector<CellUpdates> updates; // of each carried value
    std::ostringstream output;
    std::exception_ptr failure;
    bool isDone = false;
    int64_t arrays = 0;
  };
  // The state of one carried value.
  struct Carried {
    Value initial;
    Value merged;        // its value after the tasks merged so far
    ArrayPointer target; // the shared matrix that all tasks write
  };

  int64_t taskCount() const;
  bool canRunInTasks() const;
  void runInOrder(std::span<Value> results);
  void runInTasks(int64_t tasks, std::span<Value> results);
  void prepare(Carried &carried, size_t index);
  Value startOf(size_t index, int64_t task) const;
  void work(std::atomic<int64_t> &next);
  void runTask(Executor &worker, ExecutionContext &context, int64_t task);
  void runIteration(Executor &worker, int64_t iteration, std::vector<Value> &carried);
  void finish(int64_t task);
  void merge(int64_t task);
  void mergeCells(size_t index, Task &task);
  void passOnUpdates(size_t index, const CellUpdates &updates);
  bool mustRecord(size_t index, const Array *target) const;

  Executor &executor_;
  const Image &image_;
  const ParallelLoop &loop_;
  int depth_;
  int64_t from_, step_, iterations_;
  std::vector<Carried> carried_;
  std::span<Value> captured_;
  DrawPosition draws_;

  std::vector<Task> tasks_;
  std::atomic<int64_t> firstFailed_;
  std::mutex mutex_; // guards merged_, isMerging_ and Task::isDone
  int64_t merged_ = 0;
  bool isMerging_ = false;
};

} // namespace tokamak::runtime
#endif
