// Places as messages and reports write them.
//
//   placeText({"l2svm.dml", 61, 13}) == "l2svm.dml:61:13"
//   placeText({"net.onnx: node 2 'conv1' (Conv, opset 11)", 3, 0})   // the name alone
//
// Column 0 is what is in no text: the file names the place, and the line only puts places in order.
#ifndef TOKAMAK_BASE_PLACETEXT_H
#define TOKAMAK_BASE_PLACETEXT_H

#include "base/Error.h"

namespace tokamak {

inline std::string placeText(const SourcePlace &place) {
  if (place.column == 0)
    return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

// Without the column.
inline std::string lineText(const SourcePlace &place) {
  return place.column == 0 ? place.file : place.file + ":" + std::to_string(place.line);
}

} // namespace tokamak
#endif
