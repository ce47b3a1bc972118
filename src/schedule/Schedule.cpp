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
  SmallVector<unsigned> axes;
  for (unsigned axis : cast<plan::CellType>(cell.getType()).getAxes())
    if (!isParallel(axis))
      axes.push_back(axis);
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

static bool isTileAggregate(plan::WriteOp write, const Schedule &schedule) {
  auto reduce = write.getCell().getDefiningOp<plan::ReduceOp>();
  return reduce && schedule.isOfTiles(reduce);
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

// Axes of size 1 are the same everywhere, whatever they are listed as.
LogicalResult schedule::checkSchedule(plan::OperatorOp op, const Schedule &schedule) {
  auto axisOfOperator = [&](unsigned axis) { return axis < op.getAxisSizes().size(); };
  for (const auto *axes : {&schedule.parallel, &schedule.vectors, &schedule.order})
    if (!llvm::all_of(*axes, axisOfOperator))
      return op.emitOpError("the schedule names an axis that the operator does not have");
  if (schedule.parallel.empty())
    return op.emitOpError("the schedule has no parallel axis");
  for (auto [number, axis] : llvm::enumerate(schedule.parallel)) {
    if (op.axisKind(axis) == plan::AxisKind::Scanned)
      return op.emitOpError("d") << axis
                                 << " is scheduled as parallel, but something is scanned along it";
    if (llvm::is_contained(ArrayRef(schedule.parallel).drop_front(number + 1), axis))
      return op.emitOpError("d") << axis << " is scheduled as parallel twice";
  }
  for (const auto *axes : {&schedule.vectors, &schedule.order})
    for (auto [number, axis] : llvm::enumerate(*axes))
      if (llvm::is_contained(ArrayRef(*axes).drop_front(number + 1), axis))
        return op.emitOpError("d") << axis << " is listed twice";
  for (plan::ReduceOp reduce : op.getBody().getOps<plan::ReduceOp>())
    if (schedule.isOfTiles(reduce) && failed(checkTileAggregate(op, reduce, schedule)))
      return failure();
  for (plan::WriteOp write : op.getBody().getOps<plan::WriteOp>())
    for (unsigned axis : schedule.parallel)
      if (!isTileAggregate(write, schedule) && !write.getMap().isFunctionOfDim(axis) &&
          !write.getCell().getType().runsOver(axis) && !op.axisSizes()[axis].isConstant(1))
        return write.emitOpError("d") << axis << " is scheduled as parallel, but every place along "
                                      << "it would write the same cells";
  if (schedule.block < 1 || schedule.block > 64 || schedule.unroll < 1 || schedule.unroll > 16)
    return op.emitOpError("blocks have 1 to 64 places, and 1 to 16 vectors are unrolled");
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
  for (Value value : schedule.kept) {
    if (value.getParentBlock() != &op.getBody().front())
      return op.emitOpError("the schedule keeps a value of another body");
    if (value.getDefiningOp<plan::ReadOp>() || schedule.innerAxes(value).empty())
      return value.getDefiningOp()->emitOpError(
          "only values that are computed within a block can be kept");
  }
  for (auto [value, axis] : schedule.packed) {
    auto cell = cast<plan::CellType>(value.getType());
    bool isOfBlock = cell.runsOver(schedule.parallel.back());
    if (!value.getDefiningOp<plan::ReadOp>() || isOfBlock != schedule.isParallel(axis))
      return value.getDefiningOp()->emitOpError("only what is read can be packed, and what differs "
                                                "from place to place of a block only by them");
    if (isOfBlock && (!schedule.hasBlocksInVectors() || axis != schedule.parallel.back() ||
                      schedule.innerAxes(value).empty()))
      return value.getDefiningOp()->emitOpError("can't be packed by d")
             << axis << ": the places of its blocks are no vectors";
    if (!value.getDefiningOp<plan::ReadOp>().getIndices().empty())
      return value.getDefiningOp()->emitOpError("gathers can't be packed");
    if (!cell.runsOver(axis) || (!schedule.isVector(axis) && !schedule.hasBlocksInVectors()))
      return value.getDefiningOp()->emitOpError("can't be packed by vectors along d") << axis;
  }
  if (schedule.vectorsOutside && (schedule.vectors.size() != 1 || schedule.hasBlocksInVectors() ||
                                  schedule.vectorizesBlocks() || !schedule.kept.empty()))
    return op.emitOpError(
        "only the vectors of a single pass can be outside of the loop over blocks");
  return success();
}

//===- text ----------------------------------------------------------------------------------===//

static std::string listOf(ArrayRef<unsigned> axes) {
  std::string text;
  for (unsigned axis : axes)
    text += fmt::format("{}d{}", text.empty() ? "" : ", ", axis);
  return text.empty() ? "none" : text;
}

unsigned schedule::numberOf(Value value) {
  unsigned number = 0;
  for (Operation &operation : *value.getParentBlock()) {
    if (&operation == value.getDefiningOp())
      return number;
    number += operation.getNumResults();
  }
  return number;
}

// All lines, so that the text describes the schedule whatever it is applied to.
std::string schedule::textOf(plan::OperatorOp op, const Schedule &schedule) {
  std::string kept;
  for (Value value : schedule.kept)
    kept += fmt::format("{}%{}", kept.empty() ? "" : ", ", numberOf(value));
  std::string text = fmt::format("  parallel {}\n  block {}\n  vector {} by {}\n  unroll {}\n"
                                 "  order {}\n  keep {}\n  pack none\n",
                                 listOf(schedule.parallel), schedule.block,
                                 listOf(schedule.vectors), schedule.lanes, schedule.unroll,
                                 listOf(schedule.order), kept.empty() ? "none" : kept);
  if (!schedule.packed.empty())
    text.erase(text.rfind("  pack none"));
  if (std::optional<EntryLevel> level = entryLevelOf(op))
    text = fmt::format("  # d{}: the entries of operand {}{}\n", level->column,
                       cast<BlockArgument>(level->driver.getOperand()).getArgNumber() + 1,
                       level->isFlat ? ", those of all rows in one loop" : "") +
           text;
  for (auto [value, axis] : schedule.packed)
    text += fmt::format("  pack %{} by d{}\n", numberOf(value), axis);
  return text + (schedule.vectorsOutside ? "  vectors outside\n" : "  vectors inside\n");
}

namespace {

// One line: a word, and what stands behind it.
class Line {
public:
  Line(plan::OperatorOp op, StringRef text) : op_(op) {
    std::tie(word_, rest_) = text.split(' ');
    rest_ = rest_.trim();
  }

  std::string applyTo(Schedule &schedule) {
    if (word_ == "parallel")
      return axes(rest_, schedule.parallel);
    if (word_ == "order")
      return axes(rest_, schedule.order);
    if (word_ == "block")
      return number(rest_, schedule.block);
    if (word_ == "unroll")
      return number(rest_, schedule.unroll);
    if (word_ == "vector") {
      auto [list, lanes] = rest_.split(" by ");
      std::string wrong = axes(list, schedule.vectors);
      return !wrong.empty() || lanes.empty() ? wrong : number(lanes, schedule.lanes);
    }
    if (word_ == "keep")
      return values(rest_, schedule.kept);
    if (word_ == "pack")
      return pack(schedule.packed);
    if (word_ == "vectors" && (rest_ == "outside" || rest_ == "inside")) {
      schedule.vectorsOutside = rest_ == "outside";
      return "";
    }
    return fmt::format("'{}' is none of parallel, block, vector, unroll, order, keep, pack and "
                       "vectors",
                       word_.str());
  }

private:
  static std::string number(StringRef text, int64_t &value) {
    return text.trim().getAsInteger(10, value)
               ? fmt::format("expected a number instead of '{}'", text.str())
               : "";
  }

  // A comma-separated list; `none` is an empty one.
  static SmallVector<StringRef> listed(StringRef text) {
    SmallVector<StringRef> words;
    if (text.trim() != "none")
      text.split(words, ',');
    for (StringRef &word : words)
      word = word.trim();
    return words;
  }

  std::string axes(StringRef text, SmallVector<unsigned> &axes) {
    axes.clear();
    for (StringRef word : listed(text)) {
      unsigned axis = 0;
      if (!word.starts_with("d") || word.drop_front().getAsInteger(10, axis) ||
          axis >= op_.getAxisSizes().size())
        return fmt::format("'{}' is no axis; the operator has d0 to d{}", word.str(),
                           op_.getAxisSizes().size() - 1);
      axes.push_back(axis);
    }
    return "";
  }

  std::string pack(llvm::MapVector<Value, unsigned> &packed) {
    auto [list, by] = rest_.split(" by ");
    llvm::SetVector<Value> packedValues;
    SmallVector<unsigned> axes;
    std::string wrong = values(list, packedValues);
    if (wrong.empty() && !by.empty())
      wrong = this->axes(by, axes);
    if (!wrong.empty())
      return wrong;
    if (packedValues.empty())
      packed.clear();
    else if (axes.size() != 1)
      return "expected one axis behind 'by'";
    for (Value value : packedValues)
      packed[value] = axes.front();
    return "";
  }

  std::string values(StringRef text, llvm::SetVector<Value> &values) {
    values.clear();
    for (StringRef word : listed(text)) {
      unsigned wanted = 0;
      Value found;
      if (word.starts_with("%") && !word.drop_front().getAsInteger(10, wanted))
        for (Operation &operation : op_.getBody().front())
          for (Value result : operation.getResults())
            if (numberOf(result) == wanted)
              found = result;
      if (!found)
        return fmt::format("'{}' is no value of the body, as %3 is", word.str());
      values.insert(found);
    }
    return "";
  }

  plan::OperatorOp op_;
  StringRef word_, rest_;
};

} // namespace

std::optional<Complaint> schedule::applyText(plan::OperatorOp op, StringRef text,
                                             Schedule &schedule) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  bool packs = false;
  for (auto [number, line] : llvm::enumerate(lines)) {
    StringRef words = line.split('#').first.trim();
    if (words.empty())
      continue;
    auto column = static_cast<int>(words.data() - line.data()) + 1;
    // There may be several such lines, which together replace what is packed.
    if (words.starts_with("pack ") && !std::exchange(packs, true))
      schedule.packed.clear();
    if (std::string wrong = Line(op, words).applyTo(schedule); !wrong.empty())
      return Complaint{static_cast<int>(number) + 1, column, wrong};
  }
  return std::nullopt;
}
