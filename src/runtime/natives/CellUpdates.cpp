#include "runtime/natives/CellUpdates.h"

#include <cstring>

namespace tokamak::runtime {

// Extends `last` by a region that is equal, or directly to the right or below; false for others.
static bool extend(CellRegion &last, const CellRegion &next) {
  bool sameRows = next.rowBegin == last.rowBegin && next.rowEnd == last.rowEnd;
  bool sameColumns = next.columnBegin == last.columnBegin && next.columnEnd == last.columnEnd;
  if (sameRows && sameColumns)
    return true;
  if (sameRows && next.columnBegin == last.columnEnd) {
    last.columnEnd = next.columnEnd;
    return true;
  }
  if (sameColumns && next.rowBegin == last.rowEnd) {
    last.rowEnd = next.rowEnd;
    return true;
  }
  return false;
}

void CellUpdates::add(CellRegion region) {
  if (regions_.empty() || !extend(regions_.back(), region)) {
    // The previous region is complete now: for example, single cells have grown to a row, which may
    // extend the rows above it.
    size_t count = regions_.size();
    if (count >= 2 && extend(regions_[count - 2], regions_[count - 1]))
      regions_.pop_back();
    regions_.push_back(region);
  }
}

void CellUpdates::note(CellRegion region, const Array &written) {
  if (!isTarget(written))
    add(region);
}

void CellUpdates::append(const CellUpdates &later) {
  for (const CellRegion &region : later.regions_)
    add(region);
}

void copyRegions(const std::vector<CellRegion> &regions, const ArrayReference &from, Array &into) {
  if (regions.empty())
    return;
  ArrayReference source = Array::withElementType(Array::asDense(from), into.elementType());
  int64_t cell = byteSize(into.elementType()), columns = into.columns();
  const std::byte *read = source->rawBytes();
  std::byte *write = into.mutableBytes();
  for (const CellRegion &region : regions)
    for (int64_t row = region.rowBegin; row < region.rowEnd; ++row) {
      int64_t offset = (row * columns + region.columnBegin) * cell;
      std::memcpy(write + offset, read + offset,
                  static_cast<size_t>((region.columnEnd - region.columnBegin) * cell));
    }
}

} // namespace tokamak::runtime
