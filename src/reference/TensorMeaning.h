// What operations mean on arrays of other ranks than 2, beyond what they mean for matrices.
//
//   Shape shape = *broadcastShape(x.shape(), y.shape());     // one is repeated where its size is 1
//   x.data()[broadcastCell(shape, x.shape(), i)]             // what goes with cell i of `shape`
#ifndef TOKAMAK_REFERENCE_TENSORMEANING_H
#define TOKAMAK_REFERENCE_TENSORMEANING_H

#include "runtime/Value.h"

#include <optional>
#include <span>

namespace tokamak::reference {

// The shape of what is computed of both, cell by cell: sizes are equal or one of them is 1. Nothing
// where they are neither, or the ranks differ.
std::optional<runtime::Shape> broadcastShape(const runtime::Shape &a, const runtime::Shape &b);
// Which cell of an array of shape `part` goes with a cell of one of shape `whole`; cells count from
// 0, the last dimension runs fastest.
int64_t broadcastCell(const runtime::Shape &whole, const runtime::Shape &part, int64_t cell);

// The same cells in another shape of as many.
runtime::Value view(const runtime::Value &operand, std::span<const runtime::Value> sizes);
// Repeated along dimensions of size 1, up to these sizes.
runtime::Value expand(const runtime::Value &operand, std::span<const runtime::Value> sizes);

// Arrays of more than two dimensions: the matrices in the last two of them, multiplied, transposed.
runtime::Value multiplyMatrices(const runtime::Array &lhs, const runtime::Array &rhs);
runtime::Value transposeMatrices(const runtime::Array &operand);

// The array with its cells rounded to f32, as doubles; other values as they are.
runtime::Value roundedToSingle(const runtime::Value &value);

} // namespace tokamak::reference
#endif
