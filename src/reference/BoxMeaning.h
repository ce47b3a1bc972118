// The reference semantics of choosing among rectangles that detectors of objects in images propose.
//
//   separateBoxes(boxes, scores, int64_t{10}, 0.5, 0.1, false)
#ifndef TOKAMAK_REFERENCE_BOXMEANING_H
#define TOKAMAK_REFERENCE_BOXMEANING_H

#include "runtime/values/Value.h"

namespace tokamak::reference {

// For each image and class the boxes with the best scores that overlap little, at most `most` of them.
// `boxes` is of [images, boxes, 4]: y and x of two opposite corners or, if `areCentred`, x and y of the
// centre, width and height. `scores` is of [images, classes, boxes]. Boxes are looked at by falling score,
// equal ones by rising number, if their score is more than `leastScore` (minus infinity: all are that are numbers); one is
// dropped if the area that it shares with a chosen one, divided by the area of both, is more than
// `mostOverlap`. A row of the result is the number of an image, of a class and of a box, from 1.
runtime::Value separateBoxes(const runtime::Value &boxes, const runtime::Value &scores,
                             const runtime::Value &most, const runtime::Value &mostOverlap,
                             const runtime::Value &leastScore, const runtime::Value &areCentred);

} // namespace tokamak::reference
#endif
