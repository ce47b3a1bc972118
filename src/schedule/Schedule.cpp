#include "ir/plan/IterationSpace.h"
#include "schedule/EntryLevel.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::schedule;

void Schedule::sort(MutableArrayRef<unsigned> axes) const {
  auto position = [&](unsigned axis) { return std::pair(llvm::find(order, axis), axis); };
  llvm::sort(axes, [&](unsigned a, unsigned b) { return position(a) < position(b); });
}

SmallVector<unsigned> Schedule::innerAxes(Value cell) const {
  SmallVector<unsigned> axes(cast<plan::CellType>(cell.getType()).getAxes());
  llvm::erase_if(axes, [&](unsigned axis) { return isParallel(axis); });
  return axes;
}

//===- legality ------------------------------------------------------------------------------===//

bool Schedule::isWhole(plan::WriteOp write) const {
  AffineMap map = write.getMap();
  plan::CellType cell = write.getCell().getType();
  auto op = write->getParentOfType<plan::OperatorOp>();
  SmallVector<Size> axes = op.axisSizes(), sizes = op.resultSizes()[write.getNumber()];
  SmallVector<unsigned> written;
  for (auto [place, size] : llvm::zip(map.getResults(), sizes)) {
    auto axis = dyn_cast<AffineDimExpr>(place);
    if (axis && cell.runsOver(axis.getPosition()) && size.provedEqual(axes[axis.getPosition()]) &&
        !llvm::is_contained(written, axis.getPosition()))
      written.push_back(axis.getPosition());
    else if (!size.isConstant(1))
      return false;
  }
  return llvm::all_of(cell.getAxes(), [&](unsigned axis) {
    return llvm::is_contained(written, axis) || axes[axis].isConstant(1);
  });
}

// It is complete after the last tile, so that all that can be done with it is to write it. Axes of
// size 1 are the same everywhere.
static LogicalResult checkTileAggregate(plan::OperatorOp op, plan::ReduceOp reduce,
                                        const Schedule &schedule) {
  if (reduce.getKind() > AggregateKind::Max)
    return reduce.emitOpError("only sums, products, minima and maxima are merged over tiles");
  for (unsigned axis : schedule.parallel)
    if (!llvm::is_contained(reduce.getOver(), axis) && !op.axisSizes()[axis].isConstant(1))
      return reduce.emitOpError("d") << axis << " is scheduled as parallel, but is not aggregated "
                                     << "together with the other axes that tiles are cut from";
  if (schedule.kept.contains(reduce.getCell()))
    return reduce.emitOpError("is aggregated over tiles, so that it can't be kept for a block");
  for (Operation *user : reduce->getUsers()) {
    auto write = dyn_cast<plan::WriteOp>(user);
    if (!write)
      return reduce.emitOpError(
          "is aggregated over tiles, so that nothing can be computed with it");
    if (!schedule.isWhole(write))
      return write.emitOpError("what is aggregated over tiles is a whole result");
  }
  return success();
}

static LogicalResult checkAxes(plan::OperatorOp op, const Schedule &schedule) {
  const std::pair<ArrayRef<unsigned>, StringRef> lists[] = {
      {schedule.parallel, "scheduled as parallel"},
      {schedule.vectors, "listed"},
      {schedule.order, "listed"}};
  for (auto [axes, listed] : lists)
    for (unsigned axis : axes) {
      if (axis >= op.getAxisSizes().size())
        return op.emitOpError("the schedule names an axis that the operator does not have");
      if (llvm::count(axes, axis) > 1)
        return op.emitOpError("d") << axis << " is " << listed << " twice";
    }
  if (schedule.parallel.empty())
    return op.emitOpError("the schedule has no parallel axis");
  for (unsigned axis : schedule.parallel)
    if (op.axisKind(axis) == plan::AxisKind::Scanned)
      return op.emitOpError("d") << axis
                                 << " is scheduled as parallel, but something is scanned along it";
  return success();
}

static LogicalResult checkPacked(Value value, unsigned axis, const Schedule &schedule) {
  Operation *operation = value.getDefiningOp();
  auto read = dyn_cast<plan::ReadOp>(operation);
  bool isOfBlock = runsOver(value, schedule.parallel.back());
  if (!read || isOfBlock != schedule.isParallel(axis))
    return operation->emitOpError("only what is read can be packed, and what differs from place to "
                                  "place of a block only by them");
  if (isOfBlock && (!schedule.hasBlocksInVectors() || axis != schedule.parallel.back() ||
                    schedule.innerAxes(value).empty()))
    return operation->emitOpError("can't be packed by d")
           << axis << ": the places of its blocks are no vectors";
  if (!read.getIndices().empty())
    return operation->emitOpError("gathers can't be packed");
  if (!runsOver(value, axis) || (!schedule.isVector(axis) && !schedule.hasBlocksInVectors()))
    return operation->emitOpError("can't be packed by vectors along d") << axis;
  return success();
}

// Rows are copied, along which vectors run.
static LogicalResult checkWindows(plan::OperatorOp op, Value value, const Schedule &schedule) {
  Operation *operation = value.getDefiningOp();
  auto read = dyn_cast<plan::ReadOp>(operation);
  if (!read || !tok::isArray(read.getOperand().getType()) || !read.getIndices().empty() ||
      schedule.packed.contains(value))
    return operation->emitOpError(
        "only what is read of an array, without indices, can be copied as windows");
  if (op.hasDrivers() || schedule.vectors.size() != 1 ||
      schedule.isParallel(schedule.vectors.front()))
    return operation->emitOpError(
        "windows are copied for vectors along one axis, which is not parallel");
  unsigned vector = schedule.vectors.front();
  ArrayRef<AffineExpr> places = read.getMap().getResults();
  for (AffineExpr place : places)
    for (unsigned axis = 0; axis < op.axisSizes().size(); ++axis) {
      std::optional<int64_t> step = plan::stepAlong(place, axis);
      if (!step || *step < 0 || (axis == vector && (*step > 0) != (place == places.back())))
        return operation->emitOpError(
            "can't be copied as windows: along axes places go forwards, along that of "
            "vectors in the last dimension alone");
    }
  return success();
}

// All is computed in one loop, which parts of the body have for themselves.
static LogicalResult checkStrip(plan::OperatorOp op, const Schedule &schedule) {
  int64_t unit = schedule.unroll * schedule.lanes;
  if (schedule.strip < unit || schedule.strip > 4096 || schedule.strip % unit != 0)
    return op.emitOpError("strips have as many places as a multiple of the vectors that are "
                          "computed together, ")
           << unit << ", and at most 4096";
  if (!schedule.vectorizesBlocks() || op.hasDrivers())
    return op.emitOpError("strips are cut from the one axis along which vectors run");
  for (Operation &operation : op.getBody().front()) {
    if (isa<plan::ScanOp, plan::ReindexOp>(operation))
      return operation.emitOpError("needs more than the places of a strip");
    for (Value value : operation.getResults())
      if (isa<plan::CellType>(value.getType()) && !schedule.innerAxes(value).empty())
        return operation.emitOpError("runs over other axes than the one that strips are cut from");
  }
  return success();
}

// Axes of size 1 are the same everywhere, whatever they are listed as.
LogicalResult schedule::checkSchedule(plan::OperatorOp op, const Schedule &schedule) {
  if (failed(checkAxes(op, schedule)))
    return failure();
  for (plan::ReduceOp reduce : op.getBody().getOps<plan::ReduceOp>())
    if (schedule.isOfTiles(reduce) && failed(checkTileAggregate(op, reduce, schedule)))
      return failure();
  for (plan::WriteOp write : op.getBody().getOps<plan::WriteOp>())
    for (unsigned axis : schedule.parallel)
      if (!schedule.isOfTiles(write) && !write.getMap().isFunctionOfDim(axis) &&
          !runsOver(write.getCell(), axis) && !op.axisSizes()[axis].isConstant(1))
        return write.emitOpError("d") << axis << " is scheduled as parallel, but every place along "
                                      << "it would write the same cells";
  if (schedule.block < 1 || schedule.block > 64 || schedule.unroll < 1 || schedule.unroll > 16)
    return op.emitOpError("blocks have 1 to 64 places, and 1 to 16 vectors are unrolled");
  if (schedule.streamBytesAhead < 0 || schedule.streamBytesAhead > mostStreamBytesAhead)
    return op.emitOpError("streams are prefetched by 0 to ") << mostStreamBytesAhead << " bytes";
  if (schedule.lanes != 8 && schedule.lanes != 16)
    return op.emitOpError("vectors have 8 or 16 cells");
  if (op.hasDrivers() && failed(checkEntries(op, schedule)))
    return failure();
  if (schedule.vectorizesBlocks() && schedule.vectors.size() != 1)
    return op.emitOpError("vectors along the last parallel axis are the only ones, but for blocks "
                          "of as many places as they have cells");
  if (schedule.hasBlocksInVectors() && schedule.block != schedule.lanes)
    return op.emitOpError("blocks whose places are the lanes of vectors have ")
           << schedule.lanes << " places";
  for (unsigned axis : schedule.vectors)
    if (axis != schedule.parallel.back() &&
        (schedule.isParallel(axis) || op.axisKind(axis) == plan::AxisKind::Scanned))
      return op.emitOpError("d") << axis << " can't be computed in vectors: it is "
                                 << (schedule.isParallel(axis) ? "parallel" : "scanned");
  if (schedule.strip != 0 && failed(checkStrip(op, schedule)))
    return failure();
  for (Value value : schedule.kept) {
    if (value.getParentBlock() != &op.getBody().front())
      return op.emitOpError("the schedule keeps a value of another body");
    bool isComputedWithin = schedule.strip != 0 ? runsOver(value, schedule.parallel.back())
                                                : !schedule.innerAxes(value).empty();
    if (value.getDefiningOp<plan::ReadOp>() || !isComputedWithin)
      return value.getDefiningOp()->emitOpError(
          "only values that are computed within a block can be kept");
  }
  for (auto [value, axis] : schedule.packed)
    if (failed(checkPacked(value, axis, schedule)))
      return failure();
  for (Value value : schedule.windows)
    if (failed(checkWindows(op, value, schedule)))
      return failure();
  if (schedule.vectorsOutside && (schedule.vectors.size() != 1 || schedule.hasBlocksInVectors() ||
                                  schedule.vectorizesBlocks() || !schedule.kept.empty()))
    return op.emitOpError(
        "only the vectors of a single pass can be outside of the loop over blocks");
  return success();
}

//===- text ----------------------------------------------------------------------------------===//

unsigned schedule::numberOf(Value value) {
  Block::iterator begin = value.getParentBlock()->begin(), end(value.getDefiningOp());
  unsigned number = 0;
  for (Operation &operation : llvm::make_range(begin, end))
    number += operation.getNumResults();
  return number;
}

// "d0, d2" or "%5, %8".
template <typename Numbers> static std::string listOf(char sigil, const Numbers &numbers) {
  std::string text;
  for (unsigned number : numbers)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", sigil, number);
  return text.empty() ? "none" : text;
}

// All lines, so that the text describes the schedule whatever it is applied to.
std::string schedule::textOf(plan::OperatorOp op, const Schedule &schedule) {
  std::string text;
  if (std::optional<EntryLevel> level = entryLevelOf(op))
    text = fmt::format("  # d{}: the entries of operand {}{}\n", level->column,
                       level->driver.getNumber() + 1,
                       level->isFlat ? ", those of all rows in one loop" : "");
  text += fmt::format("  parallel {}\n  block {}\n  vector {} by {}\n  unroll {}\n  order {}\n"
                      "  keep {}\n",
                      listOf('d', schedule.parallel), schedule.block, listOf('d', schedule.vectors),
                      schedule.lanes, schedule.unroll, listOf('d', schedule.order),
                      listOf('%', llvm::map_range(schedule.kept, numberOf)));
  text += schedule.strip == 0 ? "  strip none\n" : fmt::format("  strip {}\n", schedule.strip);
  for (auto [value, axis] : schedule.packed)
    text += fmt::format("  pack %{} by d{}\n", numberOf(value), axis);
  if (schedule.packed.empty())
    text += "  pack none\n";
  text += fmt::format("  windows {}\n", listOf('%', llvm::map_range(schedule.windows, numberOf)));
  text += schedule.vectorsOutside ? "  vectors outside\n" : "  vectors inside\n";
  return text + (schedule.streamBytesAhead == 0
                     ? "  streams followed\n"
                     : fmt::format("  streams prefetched by {}\n", schedule.streamBytesAhead));
}

static int64_t numberIn(StringRef text) {
  int64_t number = 0;
  if (text.trim().getAsInteger(10, number))
    throw Error(fmt::format("expected a number instead of '{}'", text.str()));
  return number;
}

// The numbers below `end` in a list like "d0, d2"; `none` is an empty one.
static SmallVector<unsigned> numbersIn(StringRef text, StringRef sigil, size_t end,
                                       const std::string &expected) {
  SmallVector<StringRef> words;
  if (text.trim() != "none")
    text.split(words, ',');
  SmallVector<unsigned> numbers;
  for (StringRef word : words) {
    StringRef digits = word.trim();
    if (!digits.consume_front(sigil) || digits.getAsInteger(10, numbers.emplace_back()) ||
        numbers.back() >= end)
      throw Error(fmt::format("'{}' is no {}", word.trim().str(), expected));
  }
  return numbers;
}

static SmallVector<unsigned> axesIn(StringRef text, plan::OperatorOp op) {
  size_t count = op.getAxisSizes().size();
  return numbersIn(text, "d", count, fmt::format("axis; the operator has d0 to d{}", count - 1));
}

static SmallVector<Value> valuesIn(StringRef text, plan::OperatorOp op) {
  SmallVector<Value> all, listed;
  for (Operation &operation : op.getBody().front())
    llvm::append_range(all, operation.getResults());
  for (unsigned number : numbersIn(text, "%", all.size(), "value of the body, as %3 is"))
    listed.push_back(all[number]);
  return listed;
}

// Replaces what the line says, a word and what stands behind it. Throws Error if it is wrong.
static void applyLine(plan::OperatorOp op, StringRef line, Schedule &schedule) {
  auto [word, behind] = line.split(' ');
  StringRef rest = behind.trim();
  auto [list, by] = rest.split(" by ");
  if (word == "parallel") {
    schedule.parallel = axesIn(rest, op);
  } else if (word == "order") {
    schedule.order = axesIn(rest, op);
  } else if (word == "block") {
    schedule.block = numberIn(rest);
  } else if (word == "unroll") {
    schedule.unroll = numberIn(rest);
  } else if (word == "strip") {
    schedule.strip = rest == "none" ? 0 : numberIn(rest);
  } else if (word == "vector") {
    schedule.vectors = axesIn(list, op);
    if (!by.empty())
      schedule.lanes = numberIn(by);
  } else if (word == "keep") {
    SmallVector<Value> kept = valuesIn(rest, op);
    schedule.kept = SetVector<Value>(kept.begin(), kept.end());
  } else if (word == "pack") {
    SmallVector<Value> packed = valuesIn(list, op);
    SmallVector<unsigned> along = by.empty() ? SmallVector<unsigned>() : axesIn(by, op);
    if (packed.empty())
      schedule.packed.clear();
    else if (along.size() != 1)
      throw Error("expected one axis behind 'by'");
    for (Value value : packed)
      schedule.packed[value] = along.front();
  } else if (word == "windows") {
    SmallVector<Value> windows = valuesIn(rest, op);
    schedule.windows = SetVector<Value>(windows.begin(), windows.end());
  } else if (word == "vectors" && (rest == "outside" || rest == "inside")) {
    schedule.vectorsOutside = rest == "outside";
  } else if (word == "streams" && (rest == "followed" || list == "prefetched")) {
    schedule.streamBytesAhead = rest == "followed" ? 0 : numberIn(by);
  } else {
    throw Error(fmt::format("'{}' is none of parallel, block, vector, unroll, order, keep, strip, "
                            "pack, windows, vectors and streams",
                            word.str()));
  }
}

std::optional<Error> schedule::applyText(plan::OperatorOp op, StringRef text, Schedule &schedule) {
  bool packs = false;
  int number = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    ++number;
    StringRef words = line.split('#').first.trim();
    if (words.empty())
      continue;
    // There may be several such lines, which together replace what is packed.
    if (words.starts_with("pack ") && !std::exchange(packs, true))
      schedule.packed.clear();
    try {
      applyLine(op, words, schedule);
    } catch (Error &wrong) {
      return wrong.at({"", number, static_cast<int>(words.data() - line.data()) + 1});
    }
  }
  return std::nullopt;
}
