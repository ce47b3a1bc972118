// Panels of windows: the part of an array that the windows of some places read, copied so that neighbouring windows
// share its cells, and that vectors need no masks where windows are partly outside of the array.
#include "codegen/loops/LoopValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

Size LoopValues::stepIn(const WindowLoop &loop, const Access::Dimension &dimension, unsigned axis) {
  return loop.axes.size() > 1 ? dimension.place.factors[axis] : Size::constant(1);
}

// In each dimension of the array, axes of windows reach a range of places, of which the panel has each once. The
// places of a row that vectors run along in steps of 2 or more are copied for each place of the window instead, so
// that vectors are contiguous.
void LoopValues::layOutWindows(Value value) {
  const schedule::Schedule &schedule = body_.schedule();
  unsigned last = body_.lastAxis(), along = schedule.vectors.front();
  auto read = value.getDefiningOp<plan::ReadOp>();
  const Access &access = body_.accessOf(read);
  auto countOf = [&](unsigned axis) {
    if (axis == last)
      return Size::constant(placesOfWindows);
    if (axis != along)
      return body_.axes()[axis];
    return schedule.vectorsOutside ? Size::constant(schedule.unroll * schedule.lanes)
                                   : roundedUp(body_.axes()[along], schedule.lanes);
  };
  Panel panel{{}, LinearFunction(body_.axes().size())};
  for (auto [number, dimension] : llvm::enumerate(access.dimensions)) {
    SmallVector<unsigned> axes;
    for (unsigned axis = 0; axis < body_.axes().size(); ++axis)
      if (dimension.place.dependsOn(axis) && (axis == last || !schedule.isParallel(axis)) &&
          axis != along)
        axes.push_back(axis);
    if (dimension.place.dependsOn(along))
      axes.push_back(along);
    bool isContiguous =
        !dimension.place.dependsOn(along) || dimension.place.factors[along].isConstant(1);
    if (axes.size() > 1 && isContiguous) {
      Size length = Size::constant(1);
      for (unsigned axis : axes)
        length = length + dimension.place.factors[axis] * (countOf(axis) - 1);
      panel.windows.push_back({static_cast<unsigned>(number), axes, Size::constant(1), length, {}});
    } else {
      for (unsigned axis : axes)
        panel.windows.push_back({static_cast<unsigned>(number),
                                 {axis},
                                 dimension.place.factors[axis],
                                 countOf(axis),
                                 {}});
    }
  }
  Size cells = Size::constant(1);
  for (WindowLoop &loop : llvm::reverse(panel.windows)) {
    loop.cells = cells;
    for (unsigned axis : loop.axes)
      panel.cell.factors[axis] =
          panel.cell.factors[axis] + stepIn(loop, access.dimensions[loop.dimension], axis) * cells;
    cells = cells * loop.length;
  }
  // A sum of products alone is computed of windows.
  Value sum = value;
  while (sum.hasOneUse() && isa<plan::BinaryOp, plan::CastOp>(*sum.user_begin()))
    sum = sum.user_begin()->getResult(0);
  auto reduce = sum.hasOneUse() ? dyn_cast<plan::ReduceOp>(*sum.user_begin()) : plan::ReduceOp();
  if (reduce) {
    panel.summed.assign(reduce.getOver().begin(), reduce.getOver().end());
    schedule.sort(panel.summed);
    if (!isUnrolled(panel.summed))
      panel.distances = scratch(placesAlong(panel.summed));
  }
  // Rows are written in whole vectors, of which the last one may go beyond.
  int64_t bytes = byteSize(plan::cellsOf(value));
  panel.base = scratch(floorDivide(bytes * (cells + schedule.lanes) + 7, Size::constant(8)));
  panels_.try_emplace(value, std::move(panel));
}

void LoopValues::beginWindows(Value value) {
  const Panel &panel = panels_.find(value)->second;
  if (!panel.distances)
    return;
  LinearFunction distance(body_.axes().size()), number(body_.axes().size());
  Size places = Size::constant(1);
  for (unsigned axis : llvm::reverse(panel.summed)) {
    distance.factors[axis] = panel.cell.factors[axis];
    number.factors[axis] = places;
    places = places * body_.axes()[axis];
  }
  forAxes(panel.summed, [&] {
    vectors_.storeScalar(valueOf(distance, 0, 0),
                         vectors_.offset(panel.distances, valueOf(number, 0, 0)));
  });
}

void LoopValues::copyWindows(Value value, Range places) {
  const schedule::Schedule &schedule = body_.schedule();
  auto read = value.getDefiningOp<plan::ReadOp>();
  const Access &access = body_.accessOf(read);
  Panel &panel = panels_.find(value)->second;
  panel.firsts.clear();
  if (runsOver(value, body_.lastAxis()))
    panel.firsts.emplace_back(body_.lastAxis(), places.first);
  if (schedule.vectorsOutside)
    panel.firsts.emplace_back(schedule.vectors.front(), index(schedule.vectors.front()));
  SmallVector<std::pair<unsigned, Value>> begin = panel.firsts;
  for (unsigned axis : body_.tileAxes().drop_back())
    begin.emplace_back(axis, index(axis));
  auto atBegin = [&](const LinearFunction &sum) {
    Value total = size(sum.constant);
    for (auto [axis, first] : begin)
      if (sum.dependsOn(axis))
        total = vectors_.add(total, vectors_.multiply(first, size(sum.factors[axis])));
    return total;
  };
  WindowCopy copy{
      access, panel, places, arrayOf(read), {}, atBegin(access.cell), vectors_.integer(0), {}};
  for (auto [number, dimension] : llvm::enumerate(access.dimensions)) {
    copy.at.push_back(atBegin(dimension.place));
    bool isOnePlace = llvm::none_of(panel.windows, [&, number = number](const WindowLoop &loop) {
      return loop.dimension == number;
    });
    if (dimension.isChecked && isOnePlace)
      copy.inside = both(copy.inside, isBelow(copy.at.back(), dimension.size));
  }
  copyWindowsFrom(0, copy);
}

void LoopValues::copyWindowsFrom(size_t number, const WindowCopy &copy) {
  const WindowLoop &loop = copy.panel.windows[number];
  const Access::Dimension &dimension = copy.access.dimensions[loop.dimension];
  if (number + 1 == copy.panel.windows.size())
    return copyRow(loop, copy);
  Value length = size(loop.length);
  unsigned last = body_.lastAxis();
  if (llvm::is_contained(loop.axes, last)) { // there may be fewer places than the panel is made for
    Value missing = vectors_.subtract(vectors_.integer(placesOfWindows),
                                      vectors_.subtract(copy.places.second, copy.places.first));
    length =
        vectors_.subtract(length, vectors_.multiply(missing, size(stepIn(loop, dimension, last))));
  }
  bool isComplete = copy.panel.windows[number + 1].dimension != loop.dimension &&
                    loop.dimension + 1 != copy.access.dimensions.size();
  vectors_.forLoop(vectors_.integer(0), length, 1, [&](Value index) {
    auto moved = [&](Value from, const Size &step) {
      return vectors_.add(from, vectors_.multiply(index, size(step)));
    };
    WindowCopy inner = copy;
    inner.at[loop.dimension] = moved(copy.at[loop.dimension], loop.step);
    inner.from = moved(copy.from, loop.step * dimension.cells);
    inner.to = moved(copy.to, loop.cells);
    if (dimension.isChecked && isComplete)
      inner.inside = both(inner.inside, isBelow(inner.at[loop.dimension], dimension.size));
    copyWindowsFrom(number + 1, inner);
  });
}

// What is outside before and behind the array's row, and the cells between, of which the last vector may repeat some. All
// vectors are written as a whole, and may go beyond what is theirs: that is written later.
void LoopValues::copyRow(const WindowLoop &loop, const WindowCopy &copy) {
  const Access::Dimension &dimension = copy.access.dimensions[loop.dimension];
  int64_t width = vectors_.width(), step = loop.step.constantValue();
  Value zero = vectors_.integer(0), length = size(loop.length), outside = outsideLanes(copy.array);
  ElementType cells = copy.array.cells;
  auto fill = [&](Value begin, Value end) {
    vectors_.forLoop(begin, end, width, [&](Value index) {
      vectors_.storeCells(outside, copy.panel.base, vectors_.add(copy.to, index), {}, cells);
    });
  };
  // How many places before the end are in the first so many of the array's row.
  auto placesOf = [&](Value arrayPlaces) {
    Value some = vectors_.maximum(arrayPlaces, zero);
    Value count = vectors_.create<arith::DivUIOp>(vectors_.add(some, vectors_.integer(step - 1)),
                                                  vectors_.integer(step));
    return vectors_.minimum(count, length);
  };
  auto copyCells = [&] {
    Value place = copy.at[loop.dimension],
          begin = dimension.isChecked ? placesOf(vectors_.subtract(zero, place)) : zero,
          end = vectors_.maximum(begin, placesOf(vectors_.subtract(size(dimension.size), place)));
    auto copyVector = [&](Value index, Value mask) {
      Value from = vectors_.add(copy.from, vectors_.multiply(index, vectors_.integer(step)));
      Value vector = loadSteps(copy.array, from, step, mask);
      vectors_.storeCells(vector, copy.panel.base, vectors_.add(copy.to, index), {}, cells);
    };
    fill(zero, begin);
    Value lastVector = vectors_.subtract(end, vectors_.integer(width));
    vectors_.ifElse(
        vectors_.less(lastVector, begin),
        [&] { copyVector(begin, vectors_.maskBelow(vectors_.subtract(end, begin))); },
        [&] {
          vectors_.forLoop(begin, lastVector, width, [&](Value index) { copyVector(index, {}); });
          copyVector(lastVector, {});
        });
    fill(end, length);
  };
  if (!copy.inside)
    return copyCells();
  vectors_.ifElse(copy.inside, copyCells, [&] { fill(zero, length); });
}

// Cells from number `from` on, of which neighbours are `step` apart.
Value LoopValues::loadSteps(const Memory &array, Value from, int64_t step, Value mask) {
  if (step == 1)
    return vectors_.loadCells(array.base, from, mask, array.cells);
  int64_t width = vectors_.width();
  if (step != 2 || mask) {
    Value numbers = vectors_.multiply(vectors_.laneNumbers(), vectors_.integers(step));
    return vectors_.gatherCells(array.base, vectors_.add(numbers, vectors_.splat(from)), mask,
                                array.cells);
  }
  // The second vector begins one cell earlier, so that it ends with the last one that is wanted.
  Value first = vectors_.loadCells(array.base, from, {}, array.cells),
        second = vectors_.loadCells(array.base, vectors_.add(from, vectors_.integer(width - 1)), {},
                                    array.cells);
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < width; ++lane)
    lanes.push_back(lane < width / 2 ? 2 * lane : 2 * lane + 1);
  return vectors_.shuffle(first, second, lanes);
}
