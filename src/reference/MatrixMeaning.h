// The reference semantics of matrix products and reorganisations.
//
//   matmul(x, transpose(x))
#ifndef TOKAMAK_REFERENCE_MATRIXMEANING_H
#define TOKAMAK_REFERENCE_MATRIXMEANING_H

#include "runtime/values/Value.h"

#include <span>

namespace tokamak::reference {

// m x k times k x n; each cell sums its products in the order of k.
runtime::Value matmul(const runtime::Value &lhs, const runtime::Value &rhs);
runtime::Value transpose(const runtime::Value &operand);
// Turns n x 1 into the n x n diagonal matrix, and n x n into its diagonal, n x 1.
runtime::Value diag(const runtime::Value &operand);
// The sum of the diagonal of a square matrix.
runtime::Value trace(const runtime::Value &operand);
// Rows in reverse order.
runtime::Value reverse(const runtime::Value &operand);
// Rotates the rows down by `shift`.
runtime::Value roll(const runtime::Value &operand, const runtime::Value &shift);
// The cells of a square matrix below (above) the diagonal, including it if `diagonal`, with their
// own values if `values`, else 1. The other cells are 0.
runtime::Value lowerTriangle(const runtime::Value &operand, const runtime::Value &diagonal,
                             const runtime::Value &values);
runtime::Value upperTriangle(const runtime::Value &operand, const runtime::Value &diagonal,
                             const runtime::Value &values);
// The same cells as a rows x columns matrix, read and written in row-major order, or column-major
// if not `byRow`.
runtime::Value reshape(const runtime::Value &operand, const runtime::Value &rows,
                       const runtime::Value &columns, const runtime::Value &byRow);

// Matrices side by side or below each other; a scalar counts as 1x1. A single list stands for its
// elements. A list followed by more values: appends them (appendToList). Only strings: joins them
// by newlines.
runtime::Value cbind(std::span<const runtime::Value> inputs);
runtime::Value rbind(std::span<const runtime::Value> inputs);

} // namespace tokamak::reference
#endif
