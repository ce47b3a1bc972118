// What loops ask memory for before they need it. Loops over cells: what follows in each array. Loops
// over the rows of a matrix: the cells of a later block, in the order of memory, because the rows of a
// block are too many streams for the hardware prefetcher. Each step of a pass prefetches its share, so
// that memory is busy all the time.
#include "codegen/Prefetching.h"
#include "codegen/loops/LoopValues.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// The axis along which the rows of what is read are contiguous, if it is read row by row.
static std::optional<unsigned> axisOfRows(const LoopBody &body, const Access &access) {
  if (!access.cell.indices.empty() || access.hasChecks() || !access.cell.dependsOn(body.lastAxis()))
    return {};
  for (unsigned axis = 0; axis < body.axes().size(); ++axis)
    if (!body.schedule().isParallel(axis) && access.cell.factors[axis].isConstant(1))
      return axis;
  return {};
}

// Whether sums are computed for each place of a loop within a block.
static bool hasProducts(const LoopBody &body) {
  const schedule::Schedule &schedule = body.schedule();
  return llvm::any_of(body.block().getOps<plan::ReduceOp>(), [&](plan::ReduceOp reduce) {
    return !schedule.isOfTiles(reduce) && !schedule.innerAxes(reduce.getCell()).empty();
  });
}

// Prefetches cells `first` to `behind`, counted from cell number `ahead` of the block's rows.
void LoopValues::prefetchBlock(plan::ReadOp read, Value ahead, int64_t first, int64_t behind) {
  Memory array = arrayOf(read);
  unsigned last = body_.lastAxis();
  Value block = vectors_.multiply(index(last), size(array.access.cell.factors[last]));
  Value start = vectors_.offsetCells(vectors_.offsetCells(array.base, block, array.cells), ahead,
                                     array.cells);
  int64_t lineCells = prefetching::bytesPerLine / byteSize(array.cells);
  for (int64_t cell = first; cell < behind; cell += lineCells)
    vectors_.prefetch(vectors_.offsetCells(start, vectors_.integer(cell), array.cells));
}

// Whether whole vectors of neighbouring cells are read, in a loop over the places of the tile that
// no other loop is in.
bool LoopValues::isStream(plan::ReadOp read, unsigned chunk) {
  const Access &access = body_.accessOf(read);
  return body_.schedule().vectorizesBlocks() && extent_.axis == body_.lastAxis() && !mask(chunk) &&
         body_.schedule().innerAxes(read.getCell()).empty() && !access.hasChecks() &&
         isOneStep(access.cell);
}

// What lies so many steps of a block behind what is read now. The first two passes that read it
// share the work. What is read for each vector of a pass is prefetched with the first.
void LoopValues::prefetch(plan::ReadOp read, unsigned place, unsigned chunk) {
  if (body_.entries())
    return prefetchAtEntries(read, chunk);
  Memory array = arrayOf(read);
  if (isStream(read, chunk)) {
    int64_t ahead = body_.schedule().streamBytesAhead;
    if (ahead == 0)
      return;
    Value later = vectors_.add(valueOf(array.access.cell, place, chunk),
                               vectors_.integer(ahead / byteSize(array.cells)));
    return vectors_.prefetch(vectors_.offsetCells(array.base, later, array.cells));
  }
  std::optional<unsigned> axis = axisOfRows(body_, array.access);
  SmallVector<unsigned> reading = body_.passesReading(read);
  ArrayRef<unsigned> passes = ArrayRef(reading).take_front(2);
  if (!axis || isPacking_ || !llvm::is_contained(passes, pass_))
    return;
  bool isAlongRows = extent_.axis == axis, isFirstPass = pass_ == passes.front();
  // Row by row memory is read in order; the hardware prefetcher alone loses the track beside what is written.
  if (placeNumber_ || body_.schedule().block == 1) {
    Value later = vectors_.add(valueOf(array.access.cell, place, chunk),
                               vectors_.integer(prefetching::blockCellsAhead));
    if (isAlongRows && isFirstPass)
      vectors_.prefetch(vectors_.offsetCells(array.base, later, array.cells));
    return;
  }
  int64_t lanes = vectors_.width();
  bool isFirstVector = !extent_.axis || matchPattern(index(*extent_.axis), m_Zero());
  if (place > 0 || chunk > 0 || places() != lanes ||
      (!isAlongRows && (!isFirstPass || !isFirstVector)))
    return;
  // A step takes one cell of each row, or one vector.
  int64_t first = 0, behind = lanes * (isAlongRows ? lanes : 1);
  if (passes.size() > 1 && isAlongRows)
    (isFirstPass ? behind : first) = behind / 2;
  Value length = axisSize(*axis);
  Value ahead = vectors_.maximum(vectors_.multiply(length, vectors_.integer(lanes - 1)),
                                 vectors_.integer(prefetching::blockCellsAhead));
  Value within = vectors_.multiply(index(*axis), vectors_.integer(lanes));
  Value isShort = vectors_.less(length, vectors_.integer(prefetching::longRowCells));
  State none;
  vectors_.ifThen(isShort, none, [&](State &) {
    prefetchBlock(read, vectors_.add(within, ahead), first, behind);
  });
}

// Short rows that are packed are prefetched together.
void LoopValues::prefetchPacked(plan::ReadOp read) {
  constexpr int64_t shortRow = 16;
  std::optional<unsigned> axis = axisOfRows(body_, body_.accessOf(read));
  if (axis && body_.axes()[*axis].isConstant() && body_.axes()[*axis].constantValue() <= shortRow)
    prefetchBlock(read, vectors_.integer(prefetching::blockCellsAhead), 0,
                  body_.schedule().block * body_.axes()[*axis].constantValue());
}

// Writing to a line waits until it has been read, so that what is written later is asked for, too:
// with each whole vector of neighbouring cells. Results of products come too seldom for that.
void LoopValues::prefetchWritten(plan::WriteOp write, unsigned place, unsigned chunk) {
  const Access &access = body_.accessOf(write);
  ElementType cells = plan::cellsOf(write.getCell());
  const schedule::Schedule &schedule = body_.schedule();
  if (!extent_.axis || mask(chunk) || !access.cell.dependsOn(*extent_.axis) ||
      !isOneStep(access.cell) || hasProducts(body_) ||
      (schedule.vectorizesBlocks() && schedule.streamBytesAhead == 0))
    return;
  int64_t ahead = schedule.vectorizesBlocks() ? schedule.streamBytesAhead / byteSize(cells)
                                              : prefetching::blockCellsAhead;
  Value later = vectors_.add(valueOf(access.cell, place, chunk), vectors_.integer(ahead));
  vectors_.prefetch(vectors_.offsetCells(tile_.outputs[write.getNumber()], later, cells),
                    VectorBuilder::Use::Write);
}
