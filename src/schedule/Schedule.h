// How the loops of an operator are arranged. A schedule is data beside the body, which it does not
// change; any legal one gives the same cells.
//
//   using namespace tokamak::schedule;
//   Schedule schedule = defaultSchedule(op, Hardware());
//   schedule.block = 4;
//   if (mlir::succeeded(checkSchedule(op, schedule)))
//     std::string text = textOf(op, schedule);
//
// That of attention (docs/plan-ir.md) as text:
//
//   parallel d0, d1, d2      tiles are cut from these axes, of which the last runs fastest
//   block 8                  so many places of the last of them are computed together
//   vector d3, d5 by 8       the axes along which vectors are computed, and their cells
//   unroll 2                 so many vectors are computed together
//   order d3, d4             the loops of reductions, from the outermost
//   keep %5, %8, %10         values that are stored in memory between passes
//   strip none               or: strip 256, below
//   pack %1 by d3            a factor that is copied for all blocks, in the order of its vectors
//   windows none             what is read at windows of an array, whose rows are copied with what is outside of the
//                            array, so that neighbouring windows share them
//   streams prefetched by 2048   loops over cells ask memory for what follows so many bytes later; or: streams followed
//
// %5 is operation number 5 of the body. Values that are not kept are computed again by each pass
// that uses them. Of one pass, `vectors outside` exchanges loops: for each vector there is one over
// blocks, so that a packed factor need not hold more than these vectors.
//
// What is reduced over all axes that tiles are cut from is a result: each tile leaves a partial
// aggregate, and these are merged. If the last of these axes is among the vectors, its places are the
// lanes: all of them with `block 1`; with a block of as many places as vectors have cells those of the
// block, in passes over axes without vectors of their own (values of narrow rows are computed for so
// many rows at a time), and for what there is one of in each row.
//
// With `block 1` a long body may go over `strip 256` places in several passes, each of which computes what
// is kept of a part of the body: vectors that follow each other overlap in the processor if there are not
// too many instructions between them.
#ifndef TOKAMAK_SCHEDULE_SCHEDULE_H
#define TOKAMAK_SCHEDULE_SCHEDULE_H

#include "base/Error.h"
#include "ir/plan/PlanDialect.h"
#include "schedule/StreamDistances.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace tokamak::schedule {

inline bool runsOver(mlir::Value cell, unsigned axis) {
  return mlir::cast<plan::CellType>(cell.getType()).runsOver(axis);
}

inline bool isConstantUpTo(const Size &size, int64_t most) {
  return size.isConstant() && size.constantValue() <= most;
}

// What a target computes with.
struct Hardware {
  int64_t vectorRegisters = 16, vectorBytes = 32;
  StreamDistances streams = {};
};

struct Schedule {
  llvm::SmallVector<unsigned> parallel;
  int64_t block = 1;
  llvm::SmallVector<unsigned> vectors;
  int64_t lanes = 8;
  int64_t unroll = 1;
  int64_t strip = 0; // places; 0: one pass over all of a tile
  llvm::SmallVector<unsigned> order;
  llvm::SetVector<mlir::Value> kept; // cells of the body
  // What is read, and the axis of its vectors: of what does not run over the last parallel axis once
  // for all blocks; of what does along that axis, for each block.
  llvm::MapVector<mlir::Value, unsigned> packed;
  llvm::SetVector<mlir::Value> windows; // likewise read
  bool vectorsOutside = false;
  // How far ahead loops over the cells of arrays ask memory for those that follow; 0: not at all.
  int64_t streamBytesAhead = 0;

  // Sorts axes from the outermost loop to the innermost: those of `order` first, the others by number.
  void sort(llvm::MutableArrayRef<unsigned> axes) const;
  bool isParallel(unsigned axis) const { return llvm::is_contained(parallel, axis); }
  bool isVector(unsigned axis) const { return llvm::is_contained(vectors, axis); }
  // Whether vectors run along the axis that blocks are cut from, and along no other.
  bool vectorizesBlocks() const { return block == 1 && hasVectorsOfPlaces(); }
  // Whether the places of a block are the lanes of vectors, beside vectors along other axes.
  bool hasBlocksInVectors() const { return block > 1 && hasVectorsOfPlaces(); }
  // The axes of a cell that are not parallel, and so are loops within a block.
  llvm::SmallVector<unsigned> innerAxes(mlir::Value cell) const;
  // Whether the aggregate, or the one that is written, is merged over tiles.
  bool isOfTiles(plan::ReduceOp reduce) const {
    return llvm::any_of(reduce.getOver(), [&](int64_t axis) { return isParallel(axis); });
  }
  bool isOfTiles(plan::WriteOp write) const {
    auto reduce = write.getCell().getDefiningOp<plan::ReduceOp>();
    return reduce && isOfTiles(reduce);
  }
  // Whether the aggregate is one value for each place of a block.
  bool isOfBlocks(plan::ReduceOp reduce) const {
    return innerAxes(reduce.getCell()).empty() && !isOfTiles(reduce);
  }
  // Whether the cells are all of the result, each at one place: what tiles aggregate has to be.
  bool isWhole(plan::WriteOp write) const;

private:
  bool hasVectorsOfPlaces() const { return !parallel.empty() && isVector(parallel.back()); }
};

// The rules that apply where nothing else is asked for.
Schedule defaultSchedule(plan::OperatorOp op, Hardware hardware);

// Whether the schedule can be generated and keeps the meaning; an error at the operator says why not.
llvm::LogicalResult checkSchedule(plan::OperatorOp op, const Schedule &schedule);

// For each axis whether it and the next one, but for those of size 1, can be walked as one: all
// values run over both or neither, and they lie behind one another in all arrays, so that the cells
// of a matrix are one long row.
llvm::BitVector mergedAxes(plan::OperatorOp op);

// The number of the value in the text of its body: 3 of %3.
unsigned numberOf(mlir::Value value);
std::string textOf(plan::OperatorOp op, const Schedule &schedule);
// Replaces what the text says in `schedule`, up to the first wrong line; returns what is wrong there.
std::optional<Error> applyText(plan::OperatorOp op, llvm::StringRef text, Schedule &schedule);

} // namespace tokamak::schedule
#endif
