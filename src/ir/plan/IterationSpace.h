// Which axes of an operator a value runs over. An operator iterates over the rows and columns of its
// iteration space; beside them there may be axes of other lengths, such as the columns of an m×k
// value beside rows of length n.
//
//   Shape space{m, n};
//   axesOf({m, Size::constant(1)}, space)       // Axes::Rows
//   axesOf({m, k}, space)                       // Axes::Rows | Axes::Other
//   axesOf({n, m}, space)                       // nullopt: such a value is no part of the operator
#ifndef TOKAMAK_IR_PLAN_ITERATIONSPACE_H
#define TOKAMAK_IR_PLAN_ITERATIONSPACE_H

#include "base/Size.h"

#include "mlir/IR/AffineExpr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitmaskEnum.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tokamak::plan {

// An array as rows × columns: of higher ranks the last dimension is the columns, the product of the
// others the rows. Sizes that are not proved equal are treated as different, and those that are not
// constant as neither 0 nor 1.
struct Shape {
  Size rows = Size::constant(0), columns = Size::constant(0);
  llvm::SmallVector<Size, 0> outer = {}; // all dimensions but the last, of ranks above 2

  static Shape of(llvm::ArrayRef<Size> sizes);
  bool hasRowsOf(const Shape &other) const { return rows == other.rows && outer == other.outer; }
  // Whether each dimension but the last is as long as that of `other`, or 1: [1,b,n] beside [a,b,m].
  bool repeatsAlongRowsOf(const Shape &other) const;
  bool hasOneRow() const { return rows.isConstant(1); }
  bool hasOneColumn() const { return columns.isConstant(1); }
  bool operator==(const Shape &other) const = default;
};

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

// A set of axes: Axes::Rows | Axes::Other. Axes() is the empty one.
enum class Axes : uint8_t { Rows = 1, Columns = 2, Other = 4, LLVM_MARK_AS_BITMASK_ENUM(Other) };
// Whether all of `axes` are in the set.
constexpr bool has(Axes set, Axes axes) { return (set & axes) == axes; }

// Widths other than the main one of an operator are constants of at most this. A limit of the
// language of bodies, the same on every machine: explore judges by it, code generation relies on it.
inline constexpr int64_t mostNarrowColumns = 64;

// Kernels for rows of a known length keep column aggregates of at most so many columns in registers,
// so that plans are made for each size up to it.
inline constexpr int64_t mostColumnsInRegisters = 128;

// Rows of a constant length of at most this are computed eight or sixteen at a time, a column of these as
// a vector; longer ones in vectors along the row.
inline constexpr int64_t mostColumnsAcross = 16;
// Whether loops over axes of these sizes have so few places that little code is made for them: neither
// unrolled nor over blocks of rows.
bool hasFewPlaces(llvm::ArrayRef<Size> axes);
// Of such loops over narrow rows, rows are computed one by one if there are at most so many, or if none
// of their operators is expensive, or a product of rows.
inline constexpr int64_t mostCompactRows = 128;

// How much further a place in an array is for the next place along the axis; nullopt if that differs.
std::optional<int64_t> stepAlong(mlir::AffineExpr place, unsigned axis);

// The axes that a value of this shape runs over in an operator over `space`; nullopt if it is
// neither repeated along rows or columns nor as long as they are.
std::optional<Axes> axesOf(const Shape &value, const Shape &space);

} // namespace tokamak::plan
#endif
