#include "reference/BoxMeaning.h"

#include "reference/MatrixAccess.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tokamak::reference {
namespace {

struct Interval {
  double low, high;
};

// Along one of the two directions of an image.
Interval intervalOf(const double *box, int direction, bool isCentred) {
  double first = box[direction], second = box[direction + 2];
  if (isCentred)
    return {first - second / 2, first + second / 2};
  return {std::min(first, second), std::max(first, second)};
}

double overlapOf(const double *a, const double *b, bool areCentred) {
  double shared = 1, areaOfA = 1, areaOfB = 1;
  for (int direction : {0, 1}) {
    Interval ofA = intervalOf(a, direction, areCentred), ofB = intervalOf(b, direction, areCentred);
    shared *= std::max(0.0, std::min(ofA.high, ofB.high) - std::max(ofA.low, ofB.low));
    areaOfA *= ofA.high - ofA.low;
    areaOfB *= ofB.high - ofB.low;
  }
  double both = areaOfA + areaOfB - shared;
  return both > 0 ? shared / both : 0;
}

} // namespace

Value separateBoxes(const Value &boxValues, const Value &scoreValues, const Value &most,
                    const Value &mostOverlap, const Value &leastScore, const Value &areCentred) {
  const Array &boxes = arrayOf(boxValues, "separate_boxes"),
              &scores = arrayOf(scoreValues, "separate_boxes");
  if (boxes.shape().rank() != 3 || scores.shape().rank() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != scores.shape()[0] || boxes.shape()[1] != scores.shape()[2])
    throw Error(fmt::format("separate_boxes: boxes of {} and scores of {}", boxes.shape().text(),
                            scores.shape().text()));
  int64_t images = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];
  bool takesAll = leastScore.asDouble() == -INFINITY;
  std::vector<double> chosen; // three numbers each
  for (int64_t image = 0; image < images; ++image)
    for (int64_t kind = 0; kind < classes; ++kind) {
      const double *score = scores.data() + (image * classes + kind) * count;
      std::vector<int64_t> order, kept;
      for (int64_t box = 0; box < count; ++box)
        if (score[box] > leastScore.asDouble() || (takesAll && !std::isnan(score[box])))
          order.push_back(box);
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return score[a] != score[b] ? score[a] > score[b] : a < b;
      });
      for (int64_t box : order) {
        auto coordinates = [&](int64_t number) {
          return boxes.data() + (image * count + number) * 4;
        };
        bool isApart = static_cast<int64_t>(kept.size()) < most.asInteger();
        for (int64_t other : kept)
          isApart = isApart && !(overlapOf(coordinates(box), coordinates(other),
                                           areCentred.asBoolean()) > mostOverlap.asDouble());
        if (!isApart)
          continue;
        kept.push_back(box);
        for (int64_t number : {image, kind, box})
          chosen.push_back(static_cast<double>(number + 1));
      }
    }
  ArrayPointer result = Array::create({static_cast<int64_t>(chosen.size() / 3), 3});
  std::copy(chosen.begin(), chosen.end(), result->mutableData());
  return result;
}

} // namespace tokamak::reference
