// Records the cells of a matrix that the iterations of a parallel loop replace, so that the
// matrices of several tasks can be merged by copying exactly these cells.
//
//   CellUpdates updates;
//   updates.note({0, 1, 0, 10}, *matrix);       // row 0, columns 0 to 9
//   copyRegions(updates.regions(), matrix, *result);
#ifndef TOKAMAK_RUNTIME_NATIVES_CELLUPDATES_H
#define TOKAMAK_RUNTIME_NATIVES_CELLUPDATES_H

#include "runtime/values/Array.h"

#include <vector>

namespace tokamak::runtime {

// Half-open ranges, counted from 0.
struct CellRegion {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

class CellUpdates {
public:
  // Writes to the buffer of this array are not recorded: it is the result itself.
  void setTarget(const Array *target) { target_ = target ? target->rawBytes() : nullptr; }
  bool isTarget(const Array &array) const { return array.rawBytes() == target_; }

  // Records the region, unless `written`, the array after the update, is the target. A region that
  // continues the previous one extends it.
  void note(CellRegion region, const Array &written);
  void append(const CellUpdates &later);
  const std::vector<CellRegion> &regions() const { return regions_; }

private:
  void add(CellRegion region);
  const std::byte *target_ = nullptr;
  std::vector<CellRegion> regions_;
};

// Copies the regions; `into` is dense, both have the same shape.
void copyRegions(const std::vector<CellRegion> &regions, const ArrayReference &from, Array &into);

} // namespace tokamak::runtime
#endif
