// The reference semantics of operations on arrays of ranks other than 2, beyond those on matrices.
//
//   runtime::Shape shape = *broadcastShape(x.shape(), y.shape());   // dimensions of 1 are repeated
//   x.data()[broadcastCell(shape, x.shape(), i)]             // the cell for cell i of `shape`
#ifndef TOKAMAK_REFERENCE_TENSORMEANING_H
#define TOKAMAK_REFERENCE_TENSORMEANING_H

#include "runtime/values/Value.h"

#include <optional>
#include <span>

namespace tokamak::reference {

// The shape of an elementwise result of the two, as NumPy has it: dimensions are aligned at the
// last one, a missing dimension counts as one of size 1; in each the sizes are equal or one of them
// is 1. Nothing if they are incompatible.
std::optional<runtime::Shape> broadcastShape(const runtime::Shape &a, const runtime::Shape &b);
// The cell of an array of shape `part` that is broadcast to `cell` of an array of shape `whole`,
// which has at least as many dimensions. Cells count from 0 in row-major order.
int64_t broadcastCell(const runtime::Shape &whole, const runtime::Shape &part, int64_t cell);

// The same cells in another shape with the same number of cells.
runtime::Value view(const runtime::Value &operand, std::span<const runtime::Value> sizes);
// Repeats the array along its dimensions of size 1, up to these sizes.
runtime::Value expand(const runtime::Value &operand, std::span<const runtime::Value> sizes);
// The dimensions in another order: dimension i of the result is the one that `order` names there.
// Dimensions and places along them count from 1, here and below.
runtime::Value permute(const runtime::Value &operand, std::span<const runtime::Value> order);
// For each dimension three numbers: the first place, how many places, and the distance from one to
// the next, which may be negative.
runtime::Value stridedSlice(const runtime::Value &operand, std::span<const runtime::Value> numbers);
// For each cell of `indices`, what the operand has at this place along the dimension.
runtime::Value take(const runtime::Value &operand, const runtime::Value &indices,
                    const runtime::Value &dimension);
// The arrays, one behind the other along the dimension.
runtime::Value join(const runtime::Value &dimension, std::span<const runtime::Value> parts);

// The product of the matrices in the last two dimensions: the sum over k < inner of the cells
// `left + k` and `right + k * columns` of the factors is one cell of the result.
struct MatrixProduct {
  runtime::Shape leftPlaces, rightPlaces, places; // the leading dimensions
  int64_t rows = 0, inner = 0, columns = 0;

  // Throws Error unless the sizes agree.
  MatrixProduct(const runtime::Shape &lhs, const runtime::Shape &rhs);
  runtime::Shape result() const;
  struct Factors {
    int64_t left, right;
  };
  Factors factorsOf(int64_t cell) const;
};

// For arrays of more than two dimensions: multiplies or transposes the matrices in the last two.
runtime::Value multiplyMatrices(const runtime::Array &lhs, const runtime::Array &rhs);
runtime::Value transposeMatrices(const runtime::Array &operand);
// Of the square matrices in the last two dimensions, which the result has not.
runtime::Value determinants(const runtime::Value &operand);

} // namespace tokamak::reference
#endif
