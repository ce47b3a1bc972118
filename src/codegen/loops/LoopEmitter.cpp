#include "codegen/loops/LoopEmitter.h"

#include "codegen/loops/RowProduct.h"
#include "codegen/loops/TileAggregates.h"
#include "schedule/Instructions.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class LoopEmitter {
public:
  LoopEmitter(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
              abi::KernelPlan &plan)
      : body_(body), vectors_(vectors), tile_(tile), schedule_(body.schedule()),
        values_(body, vectors, tile, plan), aggregates_(body, vectors, tile, values_),
        last_(body.lastAxis()) {
    for (const LoopPass &pass : body.passes())
      for (plan::ReduceOp product : pass.products)
        products_.try_emplace(product, body, vectors, values_, product);
  }

  void emitTile() {
    for (Value value : schedule_.windows)
      values_.beginWindows(value);
    emitAllPlaces();
    aggregates_.close();
    values_.finishWrites();
  }

private:
  using Range = LoopValues::Range;
  Value divide(Value a, Value b) { return vectors_.create<arith::DivSIOp>(a, b); }

  //===- tiles and blocks --------------------------------------------------------------------===//

  void emitAllPlaces() {
    ArrayRef<unsigned> leading = body_.tileAxes().drop_back();
    if (leading.empty())
      return emitPlaces({tile_.begin, tile_.end});
    Value one = vectors_.integer(1), zero = vectors_.integer(0);
    Value length = vectors_.maximum(values_.axisSize(last_), one);
    Value first = divide(tile_.begin, length),
          end = divide(vectors_.subtract(vectors_.add(tile_.end, length), one), length);
    vectors_.forLoop(first, end, 1, [&](Value row) {
      Value before = vectors_.multiply(row, length);
      Range places = {vectors_.maximum(vectors_.subtract(tile_.begin, before), zero),
                      vectors_.minimum(vectors_.subtract(tile_.end, before), length)};
      emitLeading(leading, row, [&] { emitPlaces(places); });
    });
  }

  // Goes to place `number` of these axes, the last of which runs fastest.
  void emitLeading(ArrayRef<unsigned> axes, Value number, llvm::function_ref<void()> emitInside) {
    unsigned axis = axes.back();
    if (axes.size() == 1)
      return values_.inLoop(axis, number, emitInside);
    Value size = vectors_.maximum(values_.axisSize(axis), vectors_.integer(1));
    Value index = vectors_.create<arith::RemSIOp>(number, size);
    emitLeading(axes.drop_back(), divide(number, size),
                [&] { values_.inLoop(axis, index, emitInside); });
  }

  void emitPlaces(Range places) {
    if (body_.entries())
      return emitRows(places);
    if (body_.carriesInMemory())
      return emitScans(places);
    if (schedule_.strip > 0)
      return emitStrips(places);
    if (schedule_.vectorizesBlocks())
      return alongPlaces(places, [&] { emitBlock(); });
    if (!schedule_.vectorsOutside) {
      for (auto [value, axis] : schedule_.packed)
        if (!schedule_.isParallel(axis))
          emitPacked(value, axis);
      return withWindows(places, [&](Range part) { emitBlocks(part, [&] { emitBlock(); }); });
    }
    const LoopPass &pass = body_.passes().front();
    values_.forVectors(*pass.loops.vector, schedule_.unroll, [&] {
      for (auto [value, axis] : schedule_.packed)
        emitPackedVectors(value, axis);
      withWindows(places, [&](Range part) {
        emitBlocks(part, [&] {
          values_.beginPass(0);
          emitChunks(pass);
        });
      });
    });
  }

  // Emits `inside` for parts of the places, what windows read having been copied: once if it is the same at all places.
  void withWindows(Range places, llvm::function_ref<void(Range)> inside) {
    SmallVector<Value> ofPlaces;
    for (Value value : schedule_.windows)
      if (schedule::runsOver(value, last_))
        ofPlaces.push_back(value);
      else
        values_.copyWindows(value, places);
    if (ofPlaces.empty())
      return inside(places);
    vectors_.forLoop(places.first, places.second, LoopValues::placesOfWindows, [&](Value first) {
      Value behind = vectors_.add(first, vectors_.integer(LoopValues::placesOfWindows));
      Range part{first, vectors_.minimum(behind, places.second)};
      for (Value value : ofPlaces)
        values_.copyWindows(value, part);
      inside(part);
    });
  }

  // The rows of a driver, each with its entries; or the entries of all rows at once.
  void emitRows(Range rows) {
    values_.beginEntriesOfTile();
    auto emitRow = [&](Value row, Value end) {
      values_.inLoop(last_, row, [&] {
        values_.beginBlock(1);
        values_.beginEntries(row, end);
        emitBlock();
      });
    };
    if (body_.entries()->isFlat)
      return emitRow(rows.first, rows.second);
    vectors_.forLoop(rows.first, rows.second, 1,
                     [&](Value row) { emitRow(row, vectors_.add(row, vectors_.integer(1))); });
  }

  // Copies what is read in vectors along an axis, those of neighbouring places along the other axes
  // behind each other.
  void emitPacked(Value value, unsigned along) {
    int64_t together = values_.axisOfTransposition(value, along) ? 1 : schedule_.unroll;
    values_.forVectors(along, together, [&] { emitPackedVectors(value, along); });
  }

  void emitPackedVectors(Value value, unsigned along) {
    SmallVector<unsigned> axes = schedule_.innerAxes(value);
    llvm::erase(axes, along);
    std::optional<unsigned> contiguous = values_.axisOfTransposition(value, along);
    if (contiguous && !values_.mask(values_.chunks() - 1)) {
      llvm::erase(axes, *contiguous);
      return values_.forAxes(axes, [&] { values_.packTransposed(value, *contiguous); });
    }
    if (axes.empty())
      return values_.pack(value);
    // The few places of a window's row share what is computed for an address.
    constexpr int64_t fewPlaces = 8;
    const Size &length = body_.axes()[axes.back()];
    int64_t together = schedule::isConstantUpTo(length, fewPlaces) ? fewPlaces : 1;
    values_.forAxes(ArrayRef(axes).drop_back(), [&] {
      values_.forAxis(axes.back(), together, [&](int64_t) { values_.pack(value); });
    });
  }

  void emitBlocks(Range places, llvm::function_ref<void()> emitInside) {
    auto blocks = [&](Range range, int64_t block) {
      vectors_.forLoop(range.first, range.second, block, [&](Value index) {
        values_.inLoop(last_, index, [&] {
          values_.beginBlock(block);
          emitInside();
        });
      });
    };
    if (schedule_.block == 1)
      return blocks(places, 1);
    Value whole = values_.endOfWhole(places, schedule_.block);
    blocks({places.first, whole}, schedule_.block);
    blocks({whole, places.second}, 1);
  }

  // Scans all places of the tile together, so that arrays are read and written in the order of
  // memory.
  void emitScans(Range places) {
    const LoopPass &pass = body_.passes().front();
    values_.beginPass(0);
    values_.forAxes(pass.loops.axes, [&] {
      alongPlaces(places, [&] {
        Value first = vectors_.subtract(values_.index(last_), places.first);
        slots_.clear();
        for (plan::ScanOp scan : pass.scans)
          for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk) {
            Value place = vectors_.add(first, vectors_.integer(chunk * vectors_.width()));
            slots_.push_back({scan, 0, chunk, values_.carried(scan, place), {}});
          }
        emitChunks(pass);
      });
    });
  }

  // All passes over some places, then over the next ones: what is kept stays in the nearest cache.
  void emitStrips(Range places) {
    vectors_.forLoop(places.first, places.second, schedule_.strip, [&](Value first) {
      Value behind = vectors_.add(first, vectors_.integer(schedule_.strip));
      Range strip{first, vectors_.minimum(behind, places.second)};
      values_.beginStrip(first);
      for (auto [number, pass] : llvm::enumerate(body_.passes())) {
        values_.beginPass(number);
        alongPlaces(strip, [&] { emitPass(pass); });
      }
      alongPlaces(strip, [&] { emitLastPass(); });
    });
  }

  void alongPlaces(Range places, llvm::function_ref<void()> emitInside) {
    values_.forVectors(last_, places, Size::unknown(), schedule_.unroll, emitInside);
  }

  void emitBlock() {
    if (values_.hasWholeBlock())
      for (auto [value, axis] : schedule_.packed)
        if (schedule_.isParallel(axis)) {
          values_.prefetchPacked(value.getDefiningOp<plan::ReadOp>());
          emitPacked(value, schedule_.innerAxes(value).back());
        }
    for (auto [number, pass] : llvm::enumerate(body_.passes())) {
      values_.beginPass(number);
      if (pass.loops.isAcross)
        values_.acrossPlaces([&] { emitPass(pass); });
      else
        emitPass(pass);
    }
    values_.acrossPlaces([&] { emitLastPass(); });
  }

  void emitLastPass() {
    values_.beginPass(body_.passes().size());
    emitWrites(body_.lastPass());
    for (plan::ReduceOp reduce : body_.lastPass().tileAggregates)
      aggregates_.add(reduce);
  }

  //===- passes ------------------------------------------------------------------------------===//

  // Chunks of vectors along places have accumulators of their own; those of a pass share one.
  void openSlots(const LoopPass &pass) {
    SmallVector<Operation *> aggregations(pass.scans.begin(), pass.scans.end());
    llvm::append_range(aggregations, pass.reductions);
    slots_.clear();
    for (Operation *aggregation : aggregations) {
      Value result = aggregation->getResult(0);
      unsigned chunks = schedule_.vectorizesBlocks() ? values_.chunksOf(result) : 1;
      for (unsigned place = 0; place < values_.placesOf(result); ++place)
        for (unsigned chunk = 0; chunk < chunks; ++chunk)
          slots_.push_back(values_.openSlot(aggregation, place, chunk));
    }
  }

  void hoistUses(const LoopPass &pass) {
    // What runs over an axis of a result may be in a loop along it within the pass.
    for (Value used : pass.uses()) {
      std::vector<unsigned> loops = pass.loops.allAxes();
      llvm::append_range(loops, schedule_.innerAxes(used));
      values_.hoist(used, loops);
    }
  }

  void emitPass(const LoopPass &pass) {
    hoistUses(pass);
    for (plan::ReduceOp product : pass.products)
      products_.at(product).open();
    if (pass.isRowByRow && values_.placesOfBlock() > 1) {
      emitRowByRow(pass);
    } else {
      openSlots(pass);
      emitLoops(pass);
    }
    finishReductions(pass);
    for (plan::ReduceOp product : pass.products)
      products_.at(product).close();
  }

  // One place after the other, in a loop; the accumulators of all places lie in memory meanwhile.
  void emitRowByRow(const LoopPass &pass) {
    // The accumulators of short rows stay in registers: reading them from memory would wait until
    // the cells of the last row have come from memory.
    constexpr int64_t shortRow = 256;
    const Size &length = body_.axes()[*pass.loops.vector];
    bool isShort = length.isConstant() && length.constantValue() <= shortRow &&
                   pass.instructions <= schedule::mostInstructionsForMemory;
    SmallVector<AccumulatorSlot> lines; // vectors of all places, one behind the other
    auto slotAt = [&](AccumulatorSlot line, Value place) {
      Value cells = vectors_.multiply(place, vectors_.integer(vectors_.width()));
      line.value = vectors_.offset(line.value, cells);
      line.beside = line.beside ? vectors_.offset(line.beside, cells) : Value();
      return line;
    };
    values_.forPlaces(pass.uses(), isShort, [&](Value number) {
      hoistUses(pass);
      openSlots(pass);
      emitLoops(pass);
      if (lines.empty())
        for (AccumulatorSlot line : slots_) {
          for (Value *variable : {&line.value, &line.beside})
            *variable = *variable ? values_.variable(values_.placesOfBlock()) : Value();
          lines.push_back(line);
        }
      for (auto [line, own] : llvm::zip(lines, slots_))
        values_.store(slotAt(line, number), values_.load(own));
    });
    slots_.clear();
    for (const AccumulatorSlot &line : lines)
      for (unsigned place = 0; place < values_.placesOf(line.aggregation->getResult(0)); ++place) {
        slots_.push_back(slotAt(line, vectors_.integer(place)));
        slots_.back().place = place;
      }
  }

  void emitLoops(const LoopPass &pass) {
    ArrayRef<unsigned> axes = pass.loops.axes;
    auto emitInside = [&] { emitChunks(pass); };
    if (pass.loops.vector) {
      unsigned axis = *pass.loops.vector;
      bool isRow = pass.isRowByRow && (values_.placesOfBlock() > 1 || addsVectorsFirst(pass));
      int64_t together = body_.isOverEntries(axis) ? entriesTogether(pass)
                         : isRow                   ? vectorsOfRow
                                                   : schedule_.unroll;
      auto emitVectors = [&] { values_.forVectors(axis, together, emitInside); };
      values_.forAxes(axes, [&] {
        if (isFasterAtOneEntry(pass))
          values_.atOnlyEntry(emitInside, emitVectors);
        else
          emitVectors();
      });
    } else if (axes.empty()) {
      emitInside();
    } else {
      values_.forAxes(axes.drop_back(), [&] {
        values_.forAxis(axes.back(), unrollingOf(pass), [&](int64_t) { emitInside(); });
      });
    }
  }

  // Several vectors in flat loops. Bodies with many instructions get only a loop of masked vectors:
  // they have enough work to hide the mask's cost, and compiling a second copy takes longer than it
  // saves.
  int64_t entriesTogether(const LoopPass &pass) const {
    constexpr int instructionsWorthTwoLoops = 40;
    if (pass.instructions > instructionsWorthTwoLoops)
      return 0;
    return body_.entries()->isFlat ? schedule_.unroll : 1;
  }

  // Whether a row of one entry, as indicators have, is worth code without vectors: gathering eight cells for one takes several
  // times as long. What is added by column does without anyway (TileAggregates.cpp).
  bool isFasterAtOneEntry(const LoopPass &pass) const {
    auto isSampled = [&](plan::ReduceOp reduce) {
      return body_.sampledProduct(reduce).has_value();
    };
    return body_.isOverEntries(*pass.loops.vector) && !body_.entries()->isFlat &&
           entriesTogether(pass) == 1 && !pass.reductions.empty() && pass.kept.empty() &&
           pass.tileAggregates.empty() && pass.products.empty() && pass.writes.empty() &&
           llvm::none_of(body_.block().getOps<plan::ReduceOp>(), isSampled);
  }

  // Loops over the columns of narrow rows are unrolled until they have about so many instructions.
  int64_t unrollingOf(const LoopPass &pass) const {
    constexpr int instructionsOfColumns = 192;
    constexpr int64_t mostColumns = 16;
    return values_.isAcross() ? std::clamp<int64_t>(instructionsOfColumns / (1 + pass.instructions),
                                                    1, mostColumns)
                              : 1;
  }

  // Whether vectors of a row are added to each other before they are added to the accumulator: always as
  // many, whatever the block, the target and what is known of sizes.
  bool addsVectorsFirst(const LoopPass &pass, plan::ReduceOp reduce) const {
    return pass.isRowByRow && !body_.isOverEntries(*pass.loops.vector) &&
           values_.mayAddInCells(reduce);
  }
  bool addsVectorsFirst(const LoopPass &pass) const {
    return llvm::any_of(slots_, [&](const AccumulatorSlot &own) {
      auto reduce = dyn_cast<plan::ReduceOp>(own.aggregation);
      return reduce && addsVectorsFirst(pass, reduce);
    });
  }

  // What the pass does for the places and chunks that its loops have reached.
  void emitChunks(const LoopPass &pass) {
    for (const AccumulatorSlot &own : slots_)
      if (auto scan = dyn_cast<plan::ScanOp>(own.aggregation)) {
        if (pass.loops.axes.size() > 1 || body_.carriesInMemory()) {
          Value isFirst = vectors_.create<arith::CmpIOp>(
              arith::CmpIPredicate::eq, values_.index(scan.getOver().front()), vectors_.integer(0));
          Value neutral = neutralElement(vectors_, reductionOf(scan));
          values_.store(own, {vectors_.select(isFirst, neutral, values_.load(own).value), {}});
        }
        values_.accumulate(own, own.chunk, {});
        values_.set(scan.getCell(), own.place, own.chunk,
                    values_.finish(scan, {values_.load(own)}, /*isOverLanes=*/false));
      }
    for (Value kept : pass.kept)
      for (unsigned chunk = 0; chunk < values_.chunksOf(kept); ++chunk)
        for (unsigned place = 0; place < values_.placesOf(kept); ++place)
          values_.keep(kept, place, chunk);
    for (const AccumulatorSlot &own : slots_) {
      auto reduce = dyn_cast<plan::ReduceOp>(own.aggregation);
      bool hasOwnChunk = schedule_.vectorizesBlocks();
      unsigned end = hasOwnChunk ? own.chunk + 1 : values_.chunksOf(own.aggregation->getOperand(0));
      bool isWhole = end - own.chunk == vectorsOfRow && !values_.mask(end - 1);
      if (reduce && isWhole && addsVectorsFirst(pass, reduce)) {
        values_.accumulateTogether(own, end);
        continue;
      }
      for (unsigned chunk = own.chunk; reduce && chunk < end; ++chunk)
        values_.accumulate(own, chunk, hasOwnChunk ? Value() : values_.mask(chunk));
    }
    for (plan::ReduceOp product : pass.products)
      products_.at(product).add();
    for (plan::ReduceOp reduce : pass.tileAggregates)
      aggregates_.add(reduce);
    emitWrites(pass);
  }

  void emitWrites(const LoopPass &pass) {
    for (plan::WriteOp write : pass.writes)
      values_.write(write);
  }

  // Places whose vectors run along the rows are finished together and become the lanes.
  void finishReductions(const LoopPass &pass) {
    bool isOfLanes = pass.loops.vector.has_value();
    for (ArrayRef<AccumulatorSlot> rest = slots_; !rest.empty();) {
      const AccumulatorSlot &own = rest.front();
      Value result = own.aggregation->getResult(0);
      bool isTogether = isOfLanes && values_.hasWholeBlock() && values_.placesOf(result) > 1;
      ArrayRef<AccumulatorSlot> slots = rest.take_front(isTogether ? values_.placesOf(result) : 1);
      rest = rest.drop_front(slots.size());
      if (isa<plan::ScanOp>(own.aggregation))
        continue;
      SmallVector<Accumulator> accumulators;
      for (const AccumulatorSlot &slot : slots)
        accumulators.push_back(values_.load(slot));
      Value total = values_.finish(own.aggregation, accumulators, isOfLanes);
      auto set = [&] { values_.set(result, own.place, own.chunk, total); };
      isTogether ? values_.acrossPlaces(set) : set();
    }
  }

  static constexpr int64_t vectorsOfRow = 4; // that a loop over a row takes together

  const LoopBody &body_;
  VectorBuilder &vectors_;
  const TileArguments &tile_;
  const schedule::Schedule &schedule_;
  LoopValues values_;
  TileAggregates aggregates_;
  std::map<Operation *, RowProduct> products_;
  unsigned last_;                         // the axis that blocks are cut from
  SmallVector<AccumulatorSlot, 0> slots_; // of the pass that is emitted
};

} // namespace

OwningOpRef<ModuleOp> codegen::emitLoops(const LoopBody &body, StringRef name, MLIRContext *context,
                                         abi::KernelPlan &plan) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context), name);
  VectorBuilder vectors(*module);
  emitKernelFunctions(vectors, name, plan, [&](const TileArguments &tile) {
    auto width = vectors.withWidth(body.schedule().lanes);
    LoopEmitter(body, vectors, tile, plan).emitTile();
  });
  if (!body.tileAggregates().empty())
    emitMergeFunction(body, vectors, name, plan);
  return module;
}
