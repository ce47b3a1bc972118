#include "ir/plan/IterationSpace.h"

#include "llvm/ADT/STLExtras.h"

using namespace tokamak;
using namespace tokamak::plan;

// Compact loops take at most about 0.06 ns longer for each place: with so many of them 4 us for each
// launch, where compiling takes about 4 ms less. So they pay up to a thousand launches.
static constexpr int64_t fewPlaces = 65536;
// Each row takes up to 8 ns longer if it fills no vector: as long as so many places.
static constexpr int64_t placesOfNarrowRow = 128;
// A plan holds for sizes in ranges, in whose upper part it may have more places than estimated.
static constexpr int64_t mostPlaces = 16 * fewPlaces;

bool plan::hasFewPlaces(llvm::ArrayRef<Size> axes) {
  Size places = Size::constant(1);
  for (auto [number, axis] : llvm::enumerate(axes)) {
    bool isNarrow = axes.size() == 2 && number == 1 && axis.isConstant() &&
                    axis.constantValue() <= mostColumnsAcross;
    places = places * (isNarrow ? Size::constant(placesOfNarrowRow) : axis);
  }
  return !places.isUnknown() && places.range().high <= mostPlaces &&
         places.estimate(mostPlaces) <= fewPlaces;
}

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

bool Shape::repeatsAlongRowsOf(const Shape &other) const {
  return hasOneRow() || hasRowsOf(other) ||
         (!outer.empty() && outer.size() == other.outer.size() &&
          llvm::all_of_zip(outer, other.outer, [](const Size &own, const Size &size) {
            return own.isConstant(1) || own == size;
          }));
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

std::optional<int64_t> plan::stepAlong(mlir::AffineExpr place, unsigned axis) {
  mlir::AffineExpr along = mlir::getAffineDimExpr(axis, place.getContext());
  unsigned axes = axis + 1, indices = 0;
  place.walk([&](mlir::AffineExpr part) {
    if (auto other = mlir::dyn_cast<mlir::AffineDimExpr>(part))
      axes = std::max(axes, other.getPosition() + 1);
    if (auto index = mlir::dyn_cast<mlir::AffineSymbolExpr>(part))
      indices = std::max(indices, index.getPosition() + 1);
  });
  auto step = mlir::dyn_cast<mlir::AffineConstantExpr>(
      mlir::simplifyAffineExpr(place.replace(along, along + 1) - place, axes, indices));
  return step ? std::optional(step.getValue()) : std::nullopt;
}
