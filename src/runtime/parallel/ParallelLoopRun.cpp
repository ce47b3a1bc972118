#include "runtime/parallel/ParallelLoopRun.h"

#include "runtime/natives/NativeOperands.h"
#include "runtime/values/ScalarOperations.h"

#include <bit>
#include <ostream>

namespace tokamak::runtime {
namespace {

// Enough tasks to balance uneven iterations over many threads; nested loops share this limit.
constexpr int64_t mostTasks = 64;
constexpr size_t boundOperands = 3; // from, to, step

int64_t integerOf(const Value &value) {
  checkDefined(value);
  return value.asInteger();
}

int64_t countIterations(int64_t from, int64_t to, int64_t step) {
  if (step == 0)
    throw Error("for: the increment, truncated to an integer, is zero");
  __int128 distance =
      step > 0 ? static_cast<__int128>(to) - from : static_cast<__int128>(from) - to;
  __int128 stride = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  return distance < 0 ? 0 : static_cast<int64_t>(distance / stride + 1);
}

// The identity of addition: -0, since 0 would change a sum of -0.
Value zeroLike(const Value &value) {
  if (value.isInteger())
    return int64_t{0};
  if (value.isDouble())
    return -0.0;
  const Array &array = *value.array();
  ArrayPointer zeros = Array::create(array.shape(), array.elementType());
  withCellType(array.elementType(), [&]<typename Cell>() {
    std::fill_n(zeros->mutableCellsAs<Cell>(), zeros->cells(), convertCell<Cell>(-0.0));
  });
  return zeros;
}

// Adds as generated code does: 16-bit floats in f32, integers with overflow to their lowest bits.
template <typename Cell> Cell sumOf(Cell a, Cell b) {
  if constexpr (std::is_same_v<Cell, Float16> || std::is_same_v<Cell, BFloat16>)
    return convertCell<Cell>(static_cast<float>(a) + static_cast<float>(b));
  else if constexpr (isFloatCell<Cell>)
    return a + b;
  else
    return static_cast<Cell>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void addCells(Array &into, const Array &from) {
  bool isOneRow = from.rows() == 1, isOneColumn = from.columns() == 1;
  int64_t columns = into.columns();
  withCellType(into.elementType(), [&]<typename Cell>() {
    for (int64_t i = 0; i < into.rows(); ++i) {
      auto *sums = into.mutableCellsAs<Cell>() + i * columns;
      const auto *parts = from.cellsAs<Cell>() + (isOneRow ? 0 : i * from.columns());
      for (int64_t j = 0; j < columns; ++j)
        sums[j] = sumOf(sums[j], parts[isOneColumn ? 0 : j]);
    }
  });
}

// Whether part is repeated, if at all, in whole + part.
bool isRepeatedTo(const Array &whole, const Array &part) {
  return (part.rows() == 1 || part.rows() == whole.rows()) &&
         (part.columns() == 1 || part.columns() == whole.columns());
}

// sum + part. A vector or one cell is repeated to the sizes of the other operand.
Value added(Value sum, Value part) {
  if (!sum.isArray())
    return binaryScalar(BinaryOperator::Add, sum, part);
  sum.array() = Array::asDense(sum.array());
  part.array() = Array::asDense(part.array());
  if (!isRepeatedTo(*sum.array(), *part.array()))
    std::swap(sum, part);
  if (!isRepeatedTo(*sum.array(), *part.array()))
    throw Error(fmt::format("iterations of parfor add matrices whose sizes do not agree: {} and {}",
                            part.array()->shape().text(), sum.array()->shape().text()));
  ArrayPointer result = takeOrCopy(sum);
  addCells(*result, *part.array());
  return result;
}

bool isSame(const Value &a, const Value &b) {
  if (a.isArray() && b.isArray())
    return a.array() == b.array();
  if (a.isList() && b.isList())
    return a.list() == b.list();
  if (a.isInteger() && b.isInteger())
    return a.asInteger() == b.asInteger();
  if (a.isDouble() && b.isDouble())
    return std::bit_cast<uint64_t>(a.asDouble()) == std::bit_cast<uint64_t>(b.asDouble());
  if (a.isBoolean() && b.isBoolean())
    return a.asBoolean() == b.asBoolean();
  return a.isString() && b.isString() && a.text() == b.text();
}

// `merged` with the elements of `changed` that differ from the list before the loop.
Value mergedList(const Value &merged, const List &changed, const List &initial) {
  auto result = std::make_shared<List>(*merged.list());
  for (size_t i = 0; i < initial.elements.size(); ++i)
    if (!isSame(changed.elements[i], initial.elements[i]))
      result->elements[i] = changed.elements[i];
  return Value(std::shared_ptr<const List>(std::move(result)));
}

// While tasks run, plans must not depend on the order in which tasks request them.
class ParallelSection {
public:
  explicit ParallelSection(BlockProvider *provider) : provider_(provider) {
    if (provider_)
      provider_->beginParallel();
  }
  ~ParallelSection() {
    if (provider_)
      provider_->endParallel();
  }
  ParallelSection(const ParallelSection &) = delete;
  ParallelSection &operator=(const ParallelSection &) = delete;

private:
  BlockProvider *provider_;
};

} // namespace

ParallelLoopRun::ParallelLoopRun(Executor &executor, const Image &image, const ParallelLoop &loop,
                                 std::span<Value> operands, int depth)
    : executor_(executor), image_(image), loop_(loop), depth_(depth),
      draws_(executor.context_.draws) {
  from_ = integerOf(operands[0]);
  step_ = integerOf(operands[2]);
  iterations_ = countIterations(from_, integerOf(operands[1]), step_);
  size_t count = image.functions[loop.body].resultCount;
  carried_.resize(count);
  for (size_t i = 0; i < count; ++i)
    carried_[i].initial = std::move(operands[boundOperands + i]);
  captured_ = operands.subspan(boundOperands + count);
}

void ParallelLoopRun::execute(std::span<Value> results) {
  int64_t tasks = taskCount();
  if (tasks > 1 && canRunInTasks())
    runInTasks(tasks, results);
  else
    runInOrder(results);
  executor_.context_.draws = {draws_.stream, draws_.count + 1};
}

int64_t ParallelLoopRun::taskCount() const {
  return std::min(iterations_, std::max<int64_t>(1, mostTasks / executor_.parallelTasks_));
}

bool ParallelLoopRun::canRunInTasks() const {
  if (loop_.merges.size() != carried_.size())
    return false;
  for (size_t i = 0; i < carried_.size(); ++i) {
    const Value &value = carried_[i].initial;
    bool isMatrix = value.isArray() && value.array()->shape().rank() == 2;
    bool fits =
        loop_.merges[i] == Merge::Last || isMatrix ||
        (loop_.merges[i] == Merge::Cells ? value.isList() : value.isInteger() || value.isDouble());
    if (!fits)
      return false;
  }
  return true;
}

void ParallelLoopRun::runIteration(Executor &worker, int64_t iteration,
                                   std::vector<Value> &carried) {
  std::vector<Value> arguments;
  arguments.reserve(1 + carried.size() + captured_.size());
  arguments.emplace_back(from_ + iteration * step_);
  for (Value &value : carried)
    arguments.push_back(std::move(value));
  arguments.insert(arguments.end(), captured_.begin(), captured_.end());
  worker.context_.draws = draws_.ofIteration(static_cast<uint64_t>(iteration));
  worker.runFunction(image_, image_.functions[loop_.body], arguments, carried, depth_ + 1);
}

//===- in order ------------------------------------------------------------------------------===//

void ParallelLoopRun::runInOrder(std::span<Value> results) {
  std::vector<CellUpdates> updates(carried_.size());
  std::vector<Value> carried;
  for (size_t i = 0; i < carried_.size(); ++i) {
    Value &initial = carried_[i].initial;
    if (initial.isArray() && !mustRecord(i, initial.array().get()))
      updates[i].setTarget(initial.array().get());
    carried.push_back(std::move(initial));
  }
  auto *outer = std::exchange(executor_.updates_, executor_.updates_ ? &updates : nullptr);
  for (int64_t iteration = 0; iteration < iterations_; ++iteration) {
    executor_.checkStop();
    runIteration(executor_, iteration, carried);
  }
  executor_.updates_ = outer;
  for (size_t i = 0; i < carried_.size(); ++i) {
    passOnUpdates(i, updates[i]);
    results[i] = std::move(carried[i]);
  }
}

//===- in tasks ------------------------------------------------------------------------------===//

void ParallelLoopRun::prepare(Carried &carried, size_t index) {
  if (loop_.merges[index] != Merge::Cells || !carried.initial.isArray() || !loop_.isIndependent) {
    carried.merged = carried.initial;
    return;
  }
  carried.initial.array() = Array::asDense(carried.initial.array());
  carried.target = takeOrCopy(carried.initial);
}

Value ParallelLoopRun::startOf(size_t index, int64_t task) const {
  const Carried &carried = carried_[index];
  if (carried.target)
    return carried.target->writableAlias();
  return loop_.merges[index] == Merge::Sum && task > 0 ? zeroLike(carried.initial)
                                                       : carried.initial;
}

void ParallelLoopRun::runInTasks(int64_t tasks, std::span<Value> results) {
  for (size_t i = 0; i < carried_.size(); ++i)
    prepare(carried_[i], i);
  tasks_ = std::vector<Task>(tasks);
  firstFailed_ = tasks;
  ParallelSection section(executor_.parallelTasks_ == 1 ? executor_.provider_ : nullptr);

  std::atomic<int64_t> next = 0;
  Scheduler *scheduler = executor_.context_.scheduler;
  int64_t workers = std::min<int64_t>(scheduler ? scheduler->threads() : 1, tasks);
  if (loop_.workers > 0)
    workers = std::min<int64_t>(workers, loop_.workers);
  if (workers > 1)
    scheduler->forEach(workers, [&](int64_t) { work(next); });
  else
    work(next);

  if (int64_t failed = firstFailed_; failed < tasks) {
    *executor_.context_.output << tasks_[failed].output.str();
    std::rethrow_exception(tasks_[failed].failure);
  }
  for (size_t i = 0; i < carried_.size(); ++i)
    results[i] =
        carried_[i].target ? Value(std::move(carried_[i].target)) : std::move(carried_[i].merged);
}

// Runs tasks in order until there are none left, or none before the first failed one.
void ParallelLoopRun::work(std::atomic<int64_t> &next) {
  auto count = static_cast<int64_t>(tasks_.size());
  ExecutionContext context = executor_.context_;
  Executor worker(executor_, context, executor_.parallelTasks_ * count);
  for (int64_t task = next++; task < count && task <= firstFailed_; task = next++) {
    runTask(worker, context, task);
    finish(task);
  }
}

void ParallelLoopRun::runTask(Executor &worker, ExecutionContext &context, int64_t number) {
  Task &task = tasks_[number];
  auto count = static_cast<int64_t>(tasks_.size());
  TaskStop stop{&firstFailed_, number, executor_.stop_};
  worker.stop_ = &stop;
  worker.updates_ = &task.updates;
  worker.materializedArrays_ = 0;
  context.output = &task.output;
  try {
    task.updates.resize(carried_.size());
    for (size_t i = 0; i < carried_.size(); ++i) {
      const Array *target = carried_[i].target.get();
      if (target && !mustRecord(i, target))
        task.updates[i].setTarget(target);
      task.carried.push_back(startOf(i, number));
    }
    // The product of two 64-bit counts may overflow.
    auto boundary = [&](int64_t i) {
      return static_cast<int64_t>(static_cast<__int128>(iterations_) * i / count);
    };
    for (int64_t i = boundary(number); i < boundary(number + 1); ++i) {
      worker.checkStop();
      runIteration(worker, i, task.carried);
    }
  } catch (...) {
    task.failure = std::current_exception();
  }
  task.arrays = worker.materializedArrays_;
}

// Merges this task and finished ones behind it. If another thread is merging already, leaves the
// task to that thread, so that no thread waits.
void ParallelLoopRun::finish(int64_t number) {
  std::unique_lock lock(mutex_);
  tasks_[number].isDone = true;
  if (tasks_[number].failure && number < firstFailed_)
    firstFailed_ = number;
  if (isMerging_)
    return;
  isMerging_ = true;
  for (; merged_ < firstFailed_ && tasks_[merged_].isDone; ++merged_) {
    int64_t task = merged_;
    lock.unlock();
    try {
      merge(task);
    } catch (...) {
      tasks_[task].failure = std::current_exception();
    }
    lock.lock();
    if (tasks_[task].failure) {
      firstFailed_ = task;
      break;
    }
  }
  isMerging_ = false;
}

void ParallelLoopRun::merge(int64_t number) {
  Task &task = tasks_[number];
  for (size_t i = 0; i < carried_.size(); ++i) {
    Carried &carried = carried_[i];
    switch (loop_.merges[i]) {
    case Merge::Last:
      carried.merged = std::move(task.carried[i]);
      break;
    case Merge::Sum:
      carried.merged = number == 0 ? std::move(task.carried[i])
                                   : added(std::move(carried.merged), std::move(task.carried[i]));
      break;
    case Merge::Cells:
      mergeCells(i, task);
      break;
    }
  }
  task.carried.clear();
  executor_.materializedArrays_ += task.arrays;
  if (std::string output = std::move(task.output).str(); !output.empty())
    *executor_.context_.output << output;
}

void ParallelLoopRun::mergeCells(size_t index, Task &task) {
  Carried &carried = carried_[index];
  Value &left = task.carried[index];
  if (left.isList()) {
    carried.merged = mergedList(carried.merged, *left.list(), *carried.initial.list());
    return;
  }
  const CellUpdates &updates = task.updates[index];
  if (carried.target) {
    if (left.array()->rawBytes() != carried.target->rawBytes())
      copyRegions(updates.regions(), left.array(), *carried.target);
  } else if (!updates.regions().empty()) {
    carried.merged.array() = Array::asDense(carried.merged.array());
    ArrayPointer into = takeOrCopy(carried.merged);
    copyRegions(updates.regions(), left.array(), *into);
    carried.merged = std::move(into);
  }
  passOnUpdates(index, updates);
}

//===- loops around --------------------------------------------------------------------------===//

// The enclosing loop needs a record of replaced cells, unless the matrix is its own target.
bool ParallelLoopRun::mustRecord(size_t index, const Array *target) const {
  int32_t outer = loop_.outerValues.empty() ? -1 : loop_.outerValues[index];
  return outer >= 0 && executor_.updates_ &&
         !(target && (*executor_.updates_)[outer].isTarget(*target));
}

void ParallelLoopRun::passOnUpdates(size_t index, const CellUpdates &updates) {
  int32_t outer = loop_.outerValues.empty() ? -1 : loop_.outerValues[index];
  if (outer >= 0 && executor_.updates_)
    (*executor_.updates_)[outer].append(updates);
}

} // namespace tokamak::runtime
