#include "runtime/image/KernelLaunch.h"

#include "abi/TileBytes.h"
#include "base/Error.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/memory/CacheSize.h"
#include "runtime/parallel/TileScheduler.h"
#include "runtime/sparse/UnitedEntries.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>

namespace tokamak::runtime {

using abi::KernelOutput;

namespace {

using abi::tileBytes;
// Like `tileBytes`, these figures decide the order in which sums add up, so they depend on no machine.
// Zeroing and merging partial results must be cheap compared with the work of a tile.
constexpr int64_t tileBytesPerPartialByte = 32;
constexpr int64_t mostPartialBytes = int64_t{64} << 20;
constexpr int64_t panelRows = 16; // the most rows that kernels compute together

// A list that allocates memory only beyond N elements.
template <typename T, size_t N> class ShortList {
public:
  T &append() {
    if (size_ < N)
      return inline_[size_++];
    if (heap_.empty())
      heap_.assign(inline_, inline_ + N);
    ++size_;
    return heap_.emplace_back();
  }
  // Makes the element where it is to be.
  template <typename Make> void appendMade(const Make &make) {
    ::new (static_cast<void *>(&append())) T(make());
  }
  T *data() { return heap_.empty() ? inline_ : heap_.data(); }
  const T *data() const { return heap_.empty() ? inline_ : heap_.data(); }
  size_t size() const { return size_; }

private:
  T inline_[N]; // as far as appended
  std::vector<T> heap_;
  size_t size_ = 0;
};

// Scratch memory of the calling worker thread, for use within a tile; it only grows. Throws Error
// if there is no memory.
double *workerScratch(int64_t doubles) {
  if (doubles == 0)
    return nullptr;
  static thread_local std::shared_ptr<Buffer> scratch;
  static thread_local int64_t size = 0;
  if (size < doubles) {
    scratch.reset();
    size = 0;
    scratch = BufferPool::instance().allocate(doubles * static_cast<int64_t>(sizeof(double)));
    size = doubles;
  }
  return reinterpret_cast<double *>(scratch->bytes());
}

// The work in a tile balanced by entries, in entries and rows; determined as for dense tiles,
// assuming that each entry touches at least 16 bytes.
int64_t entriesPerTile(const KernelPlan &plan, int64_t partialDoubles, int64_t total) {
  int64_t bytesPerEntry = std::max<int64_t>(16, plan.tileBytesPerStep);
  int64_t partialBytes = partialDoubles * static_cast<int64_t>(sizeof(double));
  int64_t wanted = std::max(tileBytes, partialBytes * tileBytesPerPartialByte) / bytesPerEntry;
  if (partialBytes > 0) {
    int64_t mostTiles = std::max<int64_t>(2, mostPartialBytes / partialBytes);
    wanted = std::max(wanted, (total + mostTiles - 1) / mostTiles);
  }
  return std::max<int64_t>(wanted, 1);
}

// One launch: the arguments and results of the kernel, and its tiles.
class Launch {
public:
  // `operands` must outlive the launch; their arrays may be converted to other layouts.
  Launch(const KernelPlan &plan, Scheduler *scheduler, std::span<Value> operands)
      : plan_(plan), operands_(operands) {
    std::vector<ArrayReference *> united;
    size_t number = 0, scalar = 0;
    for (Value &operand : operands) {
      if (!operand.isArray()) {
        bool isInteger = scalar < plan.integerScalars.size() && plan.integerScalars[scalar];
        scalars_.append() =
            isInteger ? std::bit_cast<double>(operand.asInteger()) : operand.asDouble();
        ++scalar;
        continue;
      }
      static const abi::KernelInput denseDoubles;
      const abi::KernelInput &input =
          number < plan.inputs.size() ? plan.inputs[number] : denseDoubles;
      convertTo(input, operand.array());
      if (input.united)
        united.push_back(&operand.array());
      ++number;
    }
    if (!united.empty()) {
      ExecutionContext context;
      context.scheduler = scheduler;
      uniteEntries(context, united);
    }
    for (const Value &operand : operands)
      if (operand.isArray()) {
        inputs_.appendMade([&] { return operand.array()->descriptor(); });
        shapes_.append() = &operand.array()->shape();
      }
    // The plan's driver and sizes refer to inputs by number.
    if (inputs_.size() < plan.inputs.size())
      internalError(fmt::format("kernel {}: too few arrays", plan_.name));
    rows_ = evaluate(plan.extents[0]);
    columns_ = evaluate(plan.extents[1]);
    for (const Size &size : plan.sizes)
      sizes_.append() = evaluate(size);
  }

  void prepareOutputs(std::span<Value> results) {
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const KernelOutput &output = plan_.outputs[i];
      if (output.kind == KernelOutput::Kind::PartialScalar) {
        partialDoubles_ += abi::partialDoubles(1);
        continue;
      }
      ArrayPointer array = makeOutput(output);
      if (output.kind == KernelOutput::Kind::Array) {
        outputs_.appendMade([&] { return array->descriptor(); });
        int64_t bytes = array->cells() * byteSize(output.elementType);
        outputs_.data()[outputs_.size() - 1].bypassesCaches = bytes > lastCacheBytes();
      } else {
        partialDoubles_ += abi::partialDoubles(array->cells());
      }
      results[i] = std::move(array);
    }
    arguments_ = {TOK_ABI_VERSION, inputs_.data(), scalars_.data(), outputs_.data(), sizes_.data()};
  }

  void runTiles(Scheduler *scheduler) {
    length_ = tileLength(plan_, rows_, columns_, partialDoubles_);
    // An empty iteration space still has one (empty) tile: its partials are the identities of the
    // aggregates.
    tiles_ = std::max<int64_t>(1, (rows_ + length_ - 1) / length_);
    if (plan_.driver >= 0)
      balanceTiles();
    if (partialDoubles_ > 0) {
      partials_ = BufferPool::instance().allocate(tiles_ * partialDoubles_ *
                                                  static_cast<int64_t>(sizeof(double)));
    }
    if (tiles_ == 1 || !scheduler)
      for (int64_t tile = 0; tile < tiles_; ++tile)
        runTile(tile);
    else
      scheduler->forEach(tiles_, [this](int64_t tile) { runTile(tile); });
    if (failedTile_.load() != noTile)
      throw Error(fmt::format("kernel {} failed at cell {}", plan_.name, failingCell()));
  }

  // Merges tile i + step into tile i, for step = 1, 2, 4, ...
  void mergePartials(Scheduler *scheduler) {
    if (partialDoubles_ == 0)
      return;
    for (int64_t step = 1; step < tiles_; step *= 2) {
      int64_t merges = (tiles_ - step + 2 * step - 1) / (2 * step);
      auto merge = [&](int64_t i) {
        plan_.merge(&arguments_, partial(2 * step * i), partial(2 * step * i + step));
      };
      constexpr int64_t parallelFrom = int64_t{1} << 16; // doubles
      if (scheduler && merges * partialDoubles_ >= parallelFrom)
        scheduler->forEach(merges, merge);
      else
        for (int64_t i = 0; i < merges; ++i)
          merge(i);
    }
  }

  void movePartialsTo(std::span<Value> results) {
    const double *from = partialDoubles_ > 0 ? partial(0) : nullptr;
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      if (plan_.outputs[i].kind == KernelOutput::Kind::PartialScalar) {
        results[i] =
            plan_.outputs[i].isInteger ? Value(std::bit_cast<int64_t>(*from)) : Value(*from);
        from += abi::partialDoubles(1);
      } else if (plan_.outputs[i].kind == KernelOutput::Kind::PartialArray) {
        // The array was made in prepareOutputs and is not shared yet.
        auto *array = const_cast<Array *>(results[i].array().get());
        if (plan_.outputs[i].isInteger)
          convertPartials(reinterpret_cast<const int64_t *>(from), *array);
        else
          convertPartials(from, *array);
        from += abi::partialDoubles(array->cells());
      }
    }
  }

private:
  static constexpr int64_t noTile = INT64_MAX;

  template <typename Partial> static void convertPartials(const Partial *from, Array &array) {
    withCellType(array.elementType(), [&]<typename Cell>() {
      std::transform(from, from + array.cells(), array.mutableCellsAs<Cell>(),
                     convertCell<Cell, Partial>);
    });
  }

  static void convertTo(const abi::KernelInput &expected, ArrayReference &array) {
    if (array->elementType() != expected.elementType)
      array = Array::withElementType(array, expected.elementType);
    if (expected.layout == TOK_CSR && !array->isSparse())
      array = Array::asSparse(array);
    else if (expected.layout == TOK_DENSE && (array->isSparse() || array->isRepeated()))
      array = Array::asDense(array);
  }

  const Array &arrayInput(int32_t number) const {
    for (const Value &operand : operands_)
      if (operand.isArray() && number-- == 0)
        return *operand.array();
    internalError(fmt::format("kernel {}: too few arrays", plan_.name));
  }

  ArrayPointer makeOutput(const KernelOutput &output) {
    ElementType type = output.elementType;
    if (output.layout == TOK_CSR)
      return arrayInput(plan_.driver).withSamePattern(type);
    ShortList<int64_t, abi::mostDimensions> sizes;
    for (const Size &size : output.sizes)
      sizes.append() = evaluate(size);
    Shape shape(std::span<const int64_t>(sizes.data(), sizes.size()));
    try {
      return Array::create(shape, type);
    } catch (Error &error) {
      for (const Value &operand : operands_)
        if (operand.isArray() && operand.array()->isSparse() && operand.array()->shape() == shape)
          throw error.note(becomesDenseNote(*operand.array()));
      throw;
    }
  }

  // Cuts the rows into tiles with about equally many entries of the driver; a row
  // costs as much as an entry.
  void balanceTiles() {
    const int64_t *offsets = inputs_.data()[plan_.driver].rowOffsets;
    auto workBefore = [&](int64_t row) { return offsets[row] - offsets[0] + row; };
    int64_t total = workBefore(rows_);
    int64_t length = entriesPerTile(plan_, partialDoubles_, total);
    tiles_ = std::max<int64_t>(1, (total + length - 1) / length);
    boundaries_.resize(tiles_ + 1);
    int64_t row = 0;
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      int64_t low = row, high = rows_;
      while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (workBefore(middle) < tile * length)
          low = middle + 1;
        else
          high = middle;
      }
      boundaries_[tile] = row = low;
    }
    boundaries_[tiles_] = rows_;
  }

  int64_t evaluate(const Size &size) const {
    return size.evaluate([this](int64_t symbol) {
      int64_t input = symbol / abi::mostDimensions;
      if (input >= static_cast<int64_t>(shapes_.size()))
        internalError(fmt::format("kernel {}: no input {}", plan_.name, input));
      return (*shapes_.data()[input])[static_cast<int>(symbol % abi::mostDimensions)];
    });
  }

  double *partial(int64_t tile) {
    return reinterpret_cast<double *>(partials_->bytes()) + tile * partialDoubles_;
  }

  TokTile tileAt(int64_t index) const {
    if (!boundaries_.empty())
      return {boundaries_[index], boundaries_[index + 1], index};
    int64_t begin = index * length_;
    return {begin, std::min(begin + length_, rows_), index};
  }

  int32_t runOnThisThread(int64_t index, int64_t &failingCell) {
    int64_t scratchDoubles = 0;
    for (const Size &size : plan_.scratchSizes)
      scratchDoubles += abi::partialDoubles(evaluate(size));
    TokTile tile = tileAt(index);
    TokWorkspace workspace{workerScratch(scratchDoubles),
                           partialDoubles_ > 0 ? partial(index) : nullptr, -1};
    int32_t status = plan_.kernel(&arguments_, &tile, &workspace);
    failingCell = workspace.failingCell;
    return status;
  }

  void runTile(int64_t index) {
    int64_t cell = -1;
    if (runOnThisThread(index, cell) == 0)
      return;
    int64_t lowest = failedTile_.load();
    while (index < lowest && !failedTile_.compare_exchange_weak(lowest, index)) {
    }
  }

  // Finds the cell by running the lowest failing tile again: tiles are pure, so that threads need
  // not record cells.
  int64_t failingCell() {
    int64_t cell = -1;
    runOnThisThread(failedTile_.load(), cell);
    return cell;
  }

  const KernelPlan &plan_;
  std::span<Value> operands_;
  std::vector<int64_t> boundaries_; // tile boundaries if balanced by entries, else empty
  ShortList<TokArray, 8> inputs_, outputs_;
  ShortList<const Shape *, 8> shapes_; // of the inputs
  ShortList<double, 16> scalars_;
  ShortList<int64_t, 16> sizes_;
  TokArguments arguments_{};
  int64_t rows_ = 0, columns_ = 0;
  int64_t length_ = 0, tiles_ = 0;
  int64_t partialDoubles_ = 0; // of one tile
  std::shared_ptr<Buffer> partials_;
  std::atomic<int64_t> failedTile_{noTile};
};

} // namespace

int64_t tileLength(const KernelPlan &plan, int64_t rows, int64_t columns, int64_t partialDoubles) {
  constexpr int64_t unit = 64, severalTiles = 16;
  int64_t bytesPerStep =
      std::max<int64_t>(1, plan.tileBytesPerStep) * std::max<int64_t>(1, columns);
  int64_t partialBytes = partialDoubles * static_cast<int64_t>(sizeof(double));
  int64_t wanted = std::max(tileBytes, partialBytes * tileBytesPerPartialByte) / bytesPerStep;
  if (partialBytes > 0) {
    int64_t mostTiles = std::max<int64_t>(unit, mostPartialBytes / partialBytes);
    wanted = std::max(wanted, (rows + mostTiles - 1) / mostTiles);
  }
  int64_t least = plan.rowsPerCopy;
  while (least > unit && rows / least < severalTiles)
    least /= 2;
  wanted = std::max(wanted, least);
  int64_t length = wanted >= unit ? wanted / unit * unit : wanted / panelRows * panelRows;
  return std::max(length, panelRows);
}

void launchKernel(const KernelPlan &plan, Scheduler *scheduler, std::span<Value> operands,
                  std::span<Value> results) {
  if (!plan.kernel)
    internalError(fmt::format("kernel {} has no code", plan.name));
  Launch launch(plan, scheduler, operands);
  launch.prepareOutputs(results);
  launch.runTiles(scheduler);
  launch.mergePartials(scheduler);
  launch.movePartialsTo(results);
}

} // namespace tokamak::runtime
