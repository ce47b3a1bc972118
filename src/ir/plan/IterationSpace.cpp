#include "ir/plan/IterationSpace.h"

using namespace tokamak;
using namespace tokamak::plan;

Shape Shape::of(llvm::ArrayRef<Size> sizes) {
  Shape shape{Size::constant(1), Size::constant(1), {}};
  if (sizes.empty())
    return shape;
  shape.columns = sizes.back();
  for (const Size &size : sizes.drop_back())
    shape.rows = shape.rows * size;
  if (sizes.size() > 2)
    shape.outer.assign(sizes.begin(), sizes.end() - 1);
  return shape;
}

std::optional<Axes> plan::axesOf(const Shape &value, const Shape &space) {
  if (value == space)
    return Axes::Rows | Axes::Columns;
  if (value.hasOneColumn() && value.hasRowsOf(space))
    return Axes::Rows;
  if (value.hasOneRow() && value.columns == space.columns)
    return Axes::Columns;
  if (value.hasOneRow())
    return value.hasOneColumn() ? Axes() : Axes::Other;
  if (value.hasRowsOf(space))
    return Axes::Rows | Axes::Other;
  return std::nullopt;
}
