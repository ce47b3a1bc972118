// The native that chooses among rectangles that detectors of objects in images propose.
#include "runtime/natives/NativeOperands.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

struct Box {
  double top, left, bottom, right, area;
};

Box boxOf(const double *numbers, bool isCentred) {
  double a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
  Box box = isCentred ? Box{a - c / 2, b - d / 2, a + c / 2, b + d / 2, 0}
                      : Box{std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d), 0};
  box.area = (box.bottom - box.top) * (box.right - box.left);
  return box;
}

bool overlapMoreThan(double most, const Box &a, const Box &b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  double shared = std::max(0.0, height) * std::max(0.0, width), both = a.area + b.area - shared;
  return (both > 0 ? shared / both : 0) > most;
}

// What is asked of the boxes of one image and class.
struct Choice {
  int64_t most;
  double mostOverlap, leastScore;
  bool areCentred;

  // Their numbers, from 0.
  BudgetedVector<int64_t> chosen(std::span<const double> boxes,
                                 std::span<const double> scores) const {
    BudgetedVector<int64_t> order;
    bool takesAll = leastScore == -INFINITY;
    for (size_t i = 0; i < scores.size(); ++i)
      if (scores[i] > leastScore || (takesAll && !std::isnan(scores[i])))
        order.push_back(static_cast<int64_t>(i));
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    BudgetedVector<int64_t> numbers;
    BudgetedVector<Box> kept;
    for (int64_t number : order) {
      if (static_cast<int64_t>(kept.size()) >= most)
        break;
      Box box = boxOf(&boxes[number * 4], areCentred);
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const Box &other) { return overlapMoreThan(mostOverlap, box, other); }))
        continue;
      kept.push_back(box);
      numbers.push_back(number);
    }
    return numbers;
  }
};

} // namespace

void runSeparateBoxes(ExecutionContext &context, std::span<Value> operands,
                      std::span<Value> results) {
  const Array &boxes = denseOperand(operands[0], "separate_boxes"),
              &scores = denseOperand(operands[1], "separate_boxes");
  const Shape &shape = scores.shape();
  if (boxes.shape().rank() != 3 || shape.rank() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != shape[0] || boxes.shape()[1] != shape[2])
    throw Error(fmt::format("separate_boxes: boxes of {} and scores of {}", boxes.shape().text(),
                            shape.text()));
  Choice choice{operands[2].asInteger(), operands[3].asDouble(), operands[4].asDouble(),
                operands[5].asBoolean()};
  int64_t classes = shape[1], count = shape[2], groups = shape[0] * classes;
  BudgetedVector<BudgetedVector<int64_t>> chosen(groups);
  forEachRowRange(context, groups, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      chosen[i] =
          choice.chosen({boxes.data() + i / classes * count * 4, static_cast<size_t>(count * 4)},
                        {scores.data() + i * count, static_cast<size_t>(count)});
  });
  int64_t rows = 0;
  for (const auto &numbers : chosen)
    rows += static_cast<int64_t>(numbers.size());
  ArrayPointer result = Array::create({rows, 3});
  double *next = result->mutableData();
  for (int64_t i = 0; i < groups; ++i)
    for (int64_t number : chosen[i])
      for (int64_t part : {i / classes, i % classes, number})
        *next++ = static_cast<double>(part + 1);
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
