// One execution of a parallel loop. Its iterations are cut into tasks, consecutive ones each, by
// their number alone; what the tasks leave is merged in the order of the tasks. So results do not
// depend on threads, output comes in the order of iterations, and of several errors the first
// iteration's is reported.
//
//   ParallelLoopRun run(executor, image, image.loops[0], operands, depth);
//   run.execute(results);
//
// Tasks start with the carried values as they are before the loop. A matrix whose cells they
// replace is one matrix that all of them write, where the loop is proved independent; otherwise
// each task has a copy and a record of what it replaced. Sums start from zero in all tasks but the
// first.
#ifndef TOKAMAK_RUNTIME_PARALLELLOOPRUN_H
#define TOKAMAK_RUNTIME_PARALLELLOOPRUN_H

#include "runtime/CellUpdates.h"
#include "runtime/Executor.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <sstream>

namespace tokamak::runtime {

class ParallelLoopRun {
public:
  // Operands: from, to, step, the carried values, what the body captures; they are consumed.
  ParallelLoopRun(Executor &executor, const Image &image, const ParallelLoop &loop,
                  std::span<Value> operands, int depth);
  // Throws the error of the first iteration that fails. `results`: of the carried values.
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
  // What becomes of one carried value.
  struct Carried {
    Value initial;
    Value merged;        // what the tasks merged so far leave
    ArrayPointer target; // the matrix that all tasks write
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
  std::mutex mutex_; // guards what follows
  int64_t merged_ = 0;
  bool isMerging_ = false;
};

} // namespace tokamak::runtime
#endif
