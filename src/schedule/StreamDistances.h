// How many bytes ahead loops over the cells of arrays ask memory for what follows.
//
//   schedule::Hardware hardware{.streams = {.bytesAhead = 0, .ofOneSingle = 4096}};
//
// Half a page is right for many processors, because hardware prefetchers begin anew with each page of
// 4 KiB. With 0 loops ask for nothing: the prefetchers of some processors keep up with loops that read arrays from
// their beginning to their end, and software only disturbs them. Calibration measures which of them is fastest
// (cost::MachineModel::streamBytesAhead).
#ifndef TOKAMAK_SCHEDULE_STREAMDISTANCES_H
#define TOKAMAK_SCHEDULE_STREAMDISTANCES_H

#include <cstdint>

namespace tokamak::schedule {

inline constexpr int64_t mostStreamBytesAhead = 1 << 20;

struct StreamDistances {
  int64_t bytesAhead = 2048;
  // Of loops that read one array, of cells of four bytes or fewer: with conversions to doubles, fewer of the cells
  // that follow fit the instructions that a processor looks ahead.
  int64_t ofOneSingle = 2048;
};

} // namespace tokamak::schedule
#endif
