// Ranges of indices, which count from 1 and have both ends.
//
//   if (!isIndexRange(begin, end, x.rows()))
//     throw badIndexRange("row", begin, end, x.rows(), "2x3 matrix");
//                                           // "index out of range: rows 3:4 of a 2x3 matrix"
#ifndef TOKAMAK_RUNTIME_VALUES_INDEXRANGE_H
#define TOKAMAK_RUNTIME_VALUES_INDEXRANGE_H

#include "base/Error.h"

#include <string_view>

namespace tokamak::runtime {

// 1 <= begin <= end <= size; 1:0 is all of an empty dimension.
inline bool isIndexRange(int64_t begin, int64_t end, int64_t size) {
  return (begin >= 1 && begin <= end && end <= size) || (begin == 1 && end == 0 && size == 0);
}

// What is wrong with a range that isn't one. `object` is what is indexed.
Error badIndexRange(std::string_view what, int64_t begin, int64_t end, int64_t size,
                    std::string_view object);

} // namespace tokamak::runtime
#endif
