// What loops over the rows of a matrix ask memory for before they need it: the cells of a later block,
// in the order of memory, because the rows of a block are too many streams for the hardware prefetcher.
// Each step of a pass prefetches its share, so that memory is busy all the time.
#include "codegen/Prefetching.h"
#include "codegen/loops/LoopValues.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// The axis along which the rows of what is read are contiguous, if it is read row by row.
static std::optional<unsigned> axisOfRows(const LoopBody &body, const Access &access) {
  if (!access.cell.indices.empty() || !access.checks.empty() ||
      !access.cell.dependsOn(body.lastAxis()))
    return {};
  for (unsigned axis = 0; axis < body.axes().size(); ++axis)
    if (!body.schedule().isParallel(axis) && access.cell.factors[axis].isConstant(1))
      return axis;
  return {};
}

// Blocks have one row if all that is done with rows is to aggregate them: then memory is read in order.
static bool goesRowByRow(const LoopBody &body) {
  return body.schedule().block == 1 &&
         llvm::all_of(body.block().getOps<plan::WriteOp>(),
                      [&](plan::WriteOp write) { return body.isTileAggregate(write); });
}

// The cells that lie so many steps of a block behind those that are read now.
void LoopValues::prefetch(plan::ReadOp read, unsigned place, unsigned chunk) {
  if (body_.entries())
    return prefetchAtEntries(read, chunk);
  const Access &access = body_.accessOf(read);
  std::optional<unsigned> axis = axisOfRows(body_, access);
  ArrayRef<unsigned> passes = body_.passesReading(read);
  if (!axis || isPacking_ || passes.empty() || passes.front() > pass_ ||
      (passes.size() > 1 ? passes[1] : passes[0]) < pass_)
    return;
  ElementType cells = plan::cellsOf(read.getCell());
  Value array = arrayOf(read).base;
  int64_t lineCells = prefetching::bytesPerLine / byteSize(cells);
  bool isAlongRows = extent_.axis == axis;
  if (placeNumber_ || goesRowByRow(body_)) {
    if (isAlongRows && pass_ == passes.front())
      vectors_.prefetch(
          vectors_.offsetCells(array,
                               vectors_.add(valueOf(access.cell, place, chunk),
                                            vectors_.integer(prefetching::blockCellsAhead)),
                               cells));
    return;
  }
  int64_t lanes = vectors_.width();
  if (place > 0 || chunk > 0 || places() != lanes)
    return;
  // A step takes one cell of each row, or one vector.
  int64_t first = 0, behind = lanes * (isAlongRows ? lanes : 1);
  if (isAlongRows && passes.size() > 1) // the first two passes that read it share the work
    (pass_ == passes[0] ? behind : first) = behind / 2;
  if (!isAlongRows && (pass_ != passes.front() || !isFirstVector()))
    return;
  Value length = axisSize(*axis);
  Value ahead = vectors_.maximum(vectors_.multiply(length, vectors_.integer(lanes - 1)),
                                 vectors_.integer(prefetching::blockCellsAhead));
  Value isShort = vectors_.less(length, vectors_.integer(prefetching::longRowCells));
  Value within = vectors_.multiply(index(*axis), vectors_.integer(lanes));
  unsigned last = body_.lastAxis();
  Value block = vectors_.multiply(index(last), size(access.cell.factors[last]));
  State none;
  vectors_.ifThen(isShort, none, [&](State &) {
    Value start = vectors_.offsetCells(vectors_.offsetCells(array, block, cells),
                                       vectors_.add(within, ahead), cells);
    for (int64_t cell = first; cell < behind; cell += lineCells)
      vectors_.prefetch(start, vectors_.integer(cell), vectors_.registerType(cells));
  });
}

// Short rows that are packed are prefetched together.
void LoopValues::prefetchPacked(plan::ReadOp read) {
  constexpr int64_t shortRow = 16;
  const Access &access = body_.accessOf(read);
  std::optional<unsigned> axis = axisOfRows(body_, access);
  if (!axis || !body_.axes()[*axis].isConstant() || body_.axes()[*axis].constantValue() > shortRow)
    return;
  ElementType cells = plan::cellsOf(read.getCell());
  unsigned last = body_.lastAxis();
  Value block = vectors_.multiply(index(last), size(access.cell.factors[last]));
  int64_t lineCells = prefetching::bytesPerLine / byteSize(cells),
          count = body_.schedule().block * body_.axes()[*axis].constantValue();
  Value start = vectors_.offsetCells(arrayOf(read).base, block, cells);
  for (int64_t cell = 0; cell < count; cell += lineCells)
    vectors_.prefetch(start, vectors_.integer(prefetching::blockCellsAhead + cell),
                      vectors_.registerType(cells));
}

// Whether the pass has reached its first vector: what is read for each of them is prefetched once.
bool LoopValues::isFirstVector() const {
  APInt first;
  return !extent_.axis ||
         (matchPattern(index(*extent_.axis), m_ConstantInt(&first)) && first.isZero());
}
