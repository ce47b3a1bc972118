// The values of a body during the emission of its loops: each is emitted at its first use, for the
// places that the loops have reached, and again where a loop goes on to other places.
//
//   values.inLoop(axis, index, [&] {
//     values.beginBlock(/*places=*/8);
//     mlir::Value x = values.get(value, /*place=*/3, /*chunk=*/0);
//   });
//
// All values are vectors. One that runs over the axis of vectors has a cell in each lane, all
// others the same cell in all lanes. A block has several places and each of them several vectors,
// the chunks; what does not run over the axis of places or of vectors is emitted once for all of
// them. If a schedule says so, the places of a block are the lanes of vectors in acrossPlaces;
// elsewhere a lane of such a vector is taken for each place.
#ifndef TOKAMAK_CODEGEN_LOOPS_LOOPVALUES_H
#define TOKAMAK_CODEGEN_LOOPS_LOOPVALUES_H

#include "codegen/Aggregation.h"
#include "codegen/InvariantDivision.h"
#include "codegen/TileFunction.h"
#include "codegen/loops/LoopBody.h"

namespace tokamak::codegen {

// The least multiple of `unit` that is not smaller.
Size roundedUp(const Size &size, int64_t unit);
// Loads a size from those at `sizes`, to which the plan adds it, unless it is a constant.
mlir::Value loadSize(VectorBuilder &vectors, abi::KernelPlan &plan, mlir::Value sizes,
                     const Size &size);

// The accumulator of a reduction or scan for a place and a chunk: a variable that loops change,
// which LLVM makes a register. Of extremes there is another one for what is carried beside (Aggregation.h).
struct AccumulatorSlot {
  mlir::Operation *aggregation;
  unsigned place, chunk;
  mlir::Value value, beside; // addresses
};

class LoopValues {
public:
  // To be made at the beginning of the tile's function, where it emits what is the same everywhere;
  // notes in `plan` which sizes and how much scratch memory the code wants.
  LoopValues(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
             abi::KernelPlan &plan);

  // A size at launch, loaded at the beginning of the function.
  mlir::Value size(const Size &atLaunch);
  mlir::Value axisSize(unsigned axis) { return size(body_.axes()[axis]); }
  // Memory of the tile: so many doubles, at a multiple of eight; and vectors on the stack, of which
  // one lies in registers.
  mlir::Value scratch(const Size &doubles);
  mlir::Value variable(int64_t vectors = 1);

  // Within the loop over the axis of places.
  void beginBlock(unsigned places) { extent_.places = placesOfBlock_ = places; }
  unsigned places() const { return extent_.places; }
  unsigned placesOfBlock() const { return placesOfBlock_; }
  // A loop over the places of a block, which are computed one after the other. `uses` is what it
  // computes with, `number` counts the places: constants if the loop is unrolled.
  void forPlaces(llvm::ArrayRef<mlir::Value> uses, bool isUnrolled,
                 llvm::function_ref<void(mlir::Value number)> inside);
  // Emits `inside` for the vectors of a range of the axis, several at a time: chunk i begins at
  // the axis's index + i vectors. The rest are one by one, of which the last one is masked. Of a
  // constant `length`, a few steps are emitted one by one, and the rest is one step. All are masked
  // if `together` is 0.
  using Range = std::pair<mlir::Value, mlir::Value>;
  void forVectors(unsigned axis, Range range, const Size &length, int64_t together,
                  llvm::function_ref<void()> inside);
  // Those of the whole axis.
  void forVectors(unsigned axis, int64_t together, llvm::function_ref<void()> inside);
  unsigned chunks() const { return extent_.chunks; }
  // Which lanes of the chunk exist; null if all do.
  mlir::Value mask(unsigned chunk) const {
    return chunk + 1 == extent_.chunks ? extent_.mask : mlir::Value();
  }
  // The same where the lanes are neither places nor cells along an axis: all of them hold the same,
  // and one counts.
  mlir::Value countedLanes(unsigned chunk) const {
    return extent_.axis ? mask(chunk) : vectors_.maskBelow(1);
  }
  void beginPass(unsigned number) { pass_ = number; }
  // What is kept for the places of a strip lies from its first one on.
  void beginStrip(mlir::Value firstPlace) { firstOfStrip_ = firstPlace; }
  // At the end of a pass: `body` may load the value, if the pass keeps it.
  void withComplete(mlir::Value value, llvm::function_ref<void()> body) {
    complete_ = value;
    body();
    complete_ = {};
  }
  // Emits `inside` with the block's places as the lanes of the only chunk, if it has all its
  // places.
  void acrossPlaces(llvm::function_ref<void()> inside);
  bool isAcross() const {
    return body_.schedule().hasBlocksInVectors() && extent_.axis == body_.lastAxis();
  }
  bool hasWholeBlock() const { return body_.schedule().hasBlocksInVectors() && placesOfBlock_ > 1; }
  // How many places there are along the vectors of the chunk, if that is a constant; else a whole
  // vector.
  int64_t rowsOfChunk(unsigned chunk) const;

  // At the entries of a driver: of a tile, and of rows in it, which are one in all but flat loops.
  void beginEntriesOfTile();
  void beginEntries(mlir::Value firstRow, mlir::Value endRow);
  // Where a loop over the axis begins and ends: 0 and its size, or positions of entries.
  Range rangeOf(unsigned axis);
  // The column of the entry so many behind the chunk's first, in this row or a later one, but at
  // most the last of the tile.
  mlir::Value columnBehind(unsigned chunk, int64_t distance);
  // The address of the columns of so many entries from the chunk's first on, as numbers of 32 bits.
  mlir::Value columnsBehind(unsigned chunk, int64_t count);
  // Whether all rows of the tile seem to have equally many entries.
  mlir::Value hasEqualRows() const { return hasEqualRows_; }
  // The entries of the chunk, whose vector they may not fill.
  Range entriesOf(unsigned chunk) {
    mlir::Value first = indexOf(level().column, 0, chunk),
                end = vectors_.add(first, vectors_.integer(vectors_.width()));
    return {first, vectors_.minimum(end, entries_.second)};
  }
  // Emits `inside` for one entry, of which cells and columns are the same in all lanes. Those in the mask count, if there is one.
  void atEntry(mlir::Value position, llvm::function_ref<void()> inside, mlir::Value mask = {});
  // Emits `inside` for an entry that is alone in its row, with the first lane as the only one that counts, where all rows of
  // the tile seem to have one; otherwise emits `vectors`.
  void atOnlyEntry(llvm::function_ref<void()> inside, llvm::function_ref<void()> vectors);
  // The aggregate with the zeros that are no entries, if there are any and they count.
  mlir::Value withAbsentCells(plan::ReduceOp reduce, mlir::Value total);

  // Where the loop over the axis is: of vectors the first of all chunks.
  mlir::Value index(unsigned axis) const;
  // The index of a place of the block, or of the first cell of a chunk.
  mlir::Value indexOf(unsigned axis, unsigned place, unsigned chunk);
  // Emits `inside` with the axis at `index`.
  void inLoop(unsigned axis, mlir::Value index, llvm::function_ref<void()> inside);
  // The same with several axes at one index.
  void inLoops(llvm::ArrayRef<unsigned> axes, mlir::Value index, llvm::function_ref<void()> inside);
  // Where the whole steps of `unit` places in the range end.
  mlir::Value endOfWhole(Range range, int64_t unit);
  // Loops over axes, outermost first.
  void forAxes(llvm::ArrayRef<unsigned> axes, llvm::function_ref<void()> inside);
  static constexpr int64_t entriesTogether = 4;
  // A loop over constant places or entries, so many in a step, which `number` counts: all of the
  // places in one if there are not many. Over the places before `end`, if there is one.
  void forAxis(unsigned axis, int64_t together, llvm::function_ref<void(int64_t number)> inside,
               mlir::Value end = {});

  mlir::Value get(mlir::Value value, unsigned place, unsigned chunk);
  // The value with the axis, which vectors may run along, at one place: the same cell in all lanes.
  mlir::Value at(unsigned axis, mlir::Value index, mlir::Value value);
  // A value that the loops computed, such as a complete reduction.
  void set(mlir::Value value, unsigned place, unsigned chunk, mlir::Value vector);
  // Emits now what the value needs and what does not run over the axes of loops that follow.
  void hoist(mlir::Value value, llvm::ArrayRef<unsigned> loops);
  // How many places and chunks the value is emitted for.
  unsigned placesOf(mlir::Value value) const;
  unsigned chunksOf(mlir::Value value) const;

  void keep(mlir::Value value, unsigned place, unsigned chunk);
  // Asks memory for what a later block packs, if its rows are short.
  void prefetchPacked(plan::ReadOp read);
  // What a scan carries along for the places of a tile, if it lies in memory: the address of the
  // accumulator at `place`, counted from the first of the tile.
  mlir::Value carried(plan::ScanOp scan, mlir::Value place);
  // Copies one vector of each chunk to its place among the packed ones, or those of all places of
  // the block, transposed so that these lie side by side. While it is called, nothing is read from
  // there.
  void pack(mlir::Value value);
  // The axis along which the cells of what is to be packed by vectors along another one lie behind one another, if
  // whole vectors can be read along it.
  std::optional<unsigned> axisOfTransposition(mlir::Value value, unsigned along) const;
  // Does what `pack` does at all places along that axis: reads vectors along it and transposes them in registers, which
  // is several times faster than gathering cells from as many rows.
  void packTransposed(mlir::Value value, unsigned contiguous);
  // Copies all that windows read at these places along the last axis, with cells for what is outside of the array: those
  // of neighbouring windows are the same. Along the axis of vectors all, or those of the chunks that a loop has reached.
  static constexpr int64_t placesOfWindows = 16;
  void copyWindows(mlir::Value value, Range places);
  // Before: what is the same for all places.
  void beginWindows(mlir::Value value);
  // For the places and chunks that the loops have reached.
  void write(plan::WriteOp write);
  // At the end of a tile.
  void finishWrites();

  // What a step of a reduction or scan adds.
  Contribution contribution(mlir::Operation *aggregation, unsigned place, unsigned chunk);
  // A new slot with the neutral element.
  AccumulatorSlot openSlot(mlir::Operation *aggregation, unsigned place, unsigned chunk);
  Accumulator load(const AccumulatorSlot &slot);
  void store(const AccumulatorSlot &slot, const Accumulator &accumulator);
  void accumulate(const AccumulatorSlot &slot, unsigned chunk, mlir::Value mask);
  // Whether sums of a few cells may be rounded to f32 before they are added to an accumulator of f64.
  bool mayAddInCells(plan::ReduceOp reduce) const;
  // Adds the slot's chunk and all that follow it before `end`, which have no masks, in cells first.
  void accumulateTogether(const AccumulatorSlot &slot, unsigned end);
  // One step of a reduction or scan, from an accumulator to the next one.
  Accumulator accumulate(mlir::Operation *aggregation, Accumulator accumulator, unsigned place,
                         unsigned chunk, mlir::Value mask);
  // The aggregate as a cell of the result; of all lanes together if vectors run along the operand;
  // of several places of the block together, whose aggregates become the lanes.
  mlir::Value finish(mlir::Operation *aggregation, llvm::ArrayRef<Accumulator> accumulators,
                     bool isOverLanes);

private:
  // What values are emitted for: places of the block, and vectors of each of them along an axis.
  struct Extent {
    unsigned places = 1;
    std::optional<unsigned> axis;
    unsigned chunks = 1;
    mlir::Value mask; // of the last chunk
  };
  struct Scope {
    std::optional<unsigned> axis; // of the loop
    mlir::Value index;
    llvm::DenseMap<std::tuple<mlir::Value, unsigned, unsigned>, mlir::Value> values;
    // Of values that many others are divided by.
    llvm::DenseMap<std::tuple<mlir::Value, unsigned, unsigned>, InvariantDivisor> divisors;
  };
  // A dimension of a panel of windows: all places in a dimension of the array that windows along some axes read, or for
  // one axis alone the places that it reads, which are `step` apart. Neighbours are so many cells of the panel apart.
  struct WindowLoop {
    unsigned dimension;
    llvm::SmallVector<unsigned> axes;
    Size step, length, cells;
  };
  // Memory for what is kept or packed: along which axes cells lie, and how many cells there are of
  // each place of a block. Places that are side by side are neighbours.
  struct Panel {
    mlir::Value base;
    LinearFunction cell;
    bool isSideBySide = false;
    std::optional<unsigned> grouped = {}; // the axis of packed vectors
    Size cellsOfPlace = Size::constant(1);
    // Of windows: the panel's dimensions, from the outermost; where the copied part begins along axes; the axes of the
    // sum that windows are factors of, which are one loop, and in memory how far the cells of its places are behind the
    // first one.
    std::vector<WindowLoop> windows = {};
    llvm::SmallVector<std::pair<unsigned, mlir::Value>> firsts = {};
    llvm::SmallVector<unsigned> summed = {};
    mlir::Value distances = {};
  };
  // An array or a panel.
  struct Memory {
    mlir::Value base;
    Access access;
    ElementType cells;
    double outside = 0;    // the value of places outside of the array
    bool isPadded = false; // to whole vectors
  };

  bool runsOverVectors(mlir::Value value) const {
    return extent_.axis && schedule::runsOver(value, *extent_.axis);
  }
  bool isOfPlaces(mlir::Value value) const;
  bool isPerPlace(mlir::Value value) const {
    return body_.schedule().hasBlocksInVectors() && isOfPlaces(value);
  }
  // Whether the value is kept by an earlier pass.
  bool isLoaded(mlir::Value value) const {
    return body_.schedule().kept.contains(value) &&
           (body_.passOf(value) != pass_ || value == complete_);
  }
  void computeUniform();
  void storeCellsOfPlaces(llvm::ArrayRef<mlir::Value> uses);
  mlir::Value across(mlir::Value value);
  mlir::Value find(mlir::Value value, unsigned place, unsigned chunk) const;
  mlir::Value compute(mlir::Value value, unsigned place, unsigned chunk);
  bool isDivisionHidden() const;
  InvariantDivisor divisorOf(mlir::Value value, unsigned place, unsigned chunk);
  void hoistDivisors(mlir::Value value, llvm::ArrayRef<unsigned> loops);
  void divide(plan::BinaryOp quotient, unsigned place, unsigned chunk);
  void reduce(plan::ReduceOp reduce);
  bool areOneLoop(mlir::Value value, unsigned outer, unsigned inner) const;
  // Loops over axes, of which those are one along which the cells of all `values` lie behind one another: the innermost
  // has more than the few steps of a window's row then.
  void forMergedAxes(llvm::ArrayRef<unsigned> axes, llvm::ArrayRef<mlir::Value> values,
                     llvm::function_ref<void()> inside);
  Size placesAlong(llvm::ArrayRef<unsigned> axes) const; // all of them together
  bool isUnrolled(llvm::ArrayRef<unsigned> axes) const;
  mlir::Value numbersAlong(unsigned axis, unsigned place, unsigned chunk);
  mlir::Value read(plan::ReadOp read, unsigned place, unsigned chunk);
  void prefetch(plan::ReadOp read, unsigned place, unsigned chunk);
  bool isStream(plan::ReadOp read, unsigned chunk);
  void prefetchWritten(plan::WriteOp write, unsigned place, unsigned chunk);
  void prefetchBlock(plan::ReadOp read, mlir::Value ahead, int64_t first, int64_t behind);
  mlir::Value reindex(plan::ReindexOp reindex, unsigned place, unsigned chunk);
  // The number of the operand among the arrays or the scalars, whichever it is of.
  unsigned inputNumber(plan::ReadOp read) const;
  Memory arrayOf(plan::ReadOp read);
  Memory panelOf(mlir::Value kept, unsigned place);
  void layOut(mlir::Value value);
  void layOutWindows(mlir::Value value);
  // How many places of the panel's dimension the next one along the axis is further.
  static Size stepIn(const WindowLoop &loop, const Access::Dimension &dimension, unsigned axis);
  // Where a part of an array is copied from and to.
  struct WindowCopy {
    const Access &access;
    const Panel &panel;
    Range places;
    Memory array;
    llvm::SmallVector<mlir::Value> at; // by dimension of the array
    mlir::Value from, to,
        inside; // cells; whether all places before the last one are inside, null if they are
  };
  void copyWindowsFrom(size_t loop, const WindowCopy &copy);
  void copyRow(const WindowLoop &loop, const WindowCopy &copy);
  mlir::Value loadSteps(const Memory &array, mlir::Value from, int64_t step, mlir::Value mask);
  void storeSideBySide(llvm::ArrayRef<mlir::Value> vectors, const Memory &panel, unsigned chunk);
  bool isPacked(mlir::Value value) const;
  bool liesSideBySide(mlir::Value value) const;
  mlir::Value rowSideBySide(const Memory &panel, unsigned chunk, int64_t row);
  void loadSideBySide(mlir::Value kept, unsigned chunk);
  mlir::Value load(const Memory &memory, unsigned place, unsigned chunk);
  mlir::Value loadCell(const Memory &memory, unsigned place, unsigned chunk);
  mlir::Value loadLanes(const Memory &memory, unsigned place, unsigned chunk);
  mlir::Value loadMaskedLanes(const Memory &memory, unsigned place, unsigned chunk);
  mlir::Value outsideLanes(const Memory &memory);
  void store(mlir::Value vector, const Memory &memory, unsigned place, unsigned chunk);
  bool canBypass(plan::WriteOp write) const;

  // Entries of a driver (EntryValues.cpp, SampledProducts.cpp).
  const schedule::EntryLevel &level() const { return *body_.entries(); }
  const SparsePattern &patternOf(plan::ReadOp read) const;
  mlir::Value positionOfRow(plan::ReadOp read, mlir::Value row);
  mlir::Value columnAt(plan::ReadOp read, mlir::Value position);
  mlir::Value columnsOf(unsigned chunk);
  mlir::Value indexIn(const LinearFunction &sum, unsigned axis, unsigned place, unsigned chunk);
  bool hasColumnsOfLanes(const LinearFunction &sum) const;
  void expandRow(plan::ReadOp read, mlir::Value row, mlir::Value nextRow);
  mlir::Value lookUp(plan::ReadOp read, unsigned place, unsigned chunk);
  bool isFollowed(unsigned chunk) const;
  void prefetchEntries(mlir::Value array, ElementType cells, unsigned chunk);
  void prefetchAtEntries(plan::ReadOp read, unsigned chunk);
  mlir::Value cellsOfRow(const SampledProduct &product, plan::ReadOp factor, mlir::Value row,
                         mlir::Value first, mlir::Value mask);
  mlir::Value rowOfFactor(plan::ReadOp factor, unsigned axis, mlir::Value index);
  void beginSampledProduct(const SampledProduct &product);
  mlir::Value sample(const SampledProduct &product, unsigned chunk);
  mlir::Value sampleRow(const SampledProduct &product, mlir::Value row, mlir::Value ahead,
                        int64_t accumulators);

  mlir::Value valueOf(const LinearFunction &sum, unsigned place, unsigned chunk);
  mlir::Value lanesOf(const LinearFunction &sum, unsigned place, unsigned chunk);
  mlir::Value isInside(const Access &access, unsigned place, unsigned chunk, bool ofLanes);
  mlir::Value areAllInside(const Access &access, unsigned place, unsigned chunk);
  mlir::Value isBelow(mlir::Value places, const Size &size);
  mlir::Value both(mlir::Value a, mlir::Value b);
  bool hasIndicesOfLanes(const LinearFunction &sum) const;
  bool isOneStep(const LinearFunction &sum) const;
  mlir::Value outsideCell(double value, ElementType cells);
  mlir::Value atBeginning(llvm::function_ref<mlir::Value()> emit);

  const LoopBody &body_;
  VectorBuilder &vectors_;
  const TileArguments &tile_;
  abi::KernelPlan &plan_;
  mlir::Operation *beginning_; // code that belongs at the function's beginning comes before it
  llvm::StringMap<mlir::Value> sizes_;
  llvm::DenseMap<mlir::Value, Panel> panels_;
  std::map<std::pair<uint64_t, ElementType>, mlir::Value> outside_; // by the bits of a double
  std::vector<Scope> scopes_{1}; // the tile, then the loops from the outermost
  unsigned pass_ = 0, placesOfBlock_ = 1;
  mlir::Value complete_;     // of the pass, null within it
  mlir::Value firstOfStrip_; // null without strips
  bool isPacking_ = false;
  bool isOverWindows_ = false; // in the one loop over the axes of a sum that windows are factors of
  Extent extent_;
  // In a loop over the places of a block: the number of the place, and where the cells lie that
  // there is one of for each place.
  mlir::Value placeNumber_;
  llvm::DenseMap<mlir::Value, mlir::Value> cellsOfPlaces_;
  mlir::Value nextScratch_;
  llvm::SmallSetVector<unsigned, 2> bypassing_; // results with stores that bypass the caches
  // Of the entries: those that loops go over; other sparse operands; rows of left factors.
  Range entries_;
  mlir::Value lastEntry_, endOfFetching_, hasEqualRows_;
  llvm::SmallVector<plan::ReadOp> lookedUp_;
  llvm::DenseMap<mlir::Operation *, mlir::Value> samePattern_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> leftRows_;
};

} // namespace tokamak::codegen
#endif
