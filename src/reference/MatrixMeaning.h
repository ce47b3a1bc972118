// What products and reorganisations of matrices mean.
//
//   matmul(x, transpose(x))
#ifndef TOKAMAK_REFERENCE_MATRIXMEANING_H
#define TOKAMAK_REFERENCE_MATRIXMEANING_H

#include "runtime/Value.h"

#include <span>

namespace tokamak::reference {

// m x k times k x n; each cell adds up its products in the order of k.
runtime::Value matmul(const runtime::Value &lhs, const runtime::Value &rhs);
runtime::Value transpose(const runtime::Value &operand);
// n x 1 to the n x n diagonal matrix, n x n to its diagonal n x 1.
runtime::Value diag(const runtime::Value &operand);
// The sum of the diagonal of a square matrix.
runtime::Value trace(const runtime::Value &operand);
// Rows in reverse order.
runtime::Value reverse(const runtime::Value &operand);
// Rows moved down by `shift`, those that fall off the end back at the top.
runtime::Value roll(const runtime::Value &operand, const runtime::Value &shift);
// Of a square matrix the cells below (above) the diagonal, with it if `diagonal`; their own values
// if `values`, else 1. The others are 0.
runtime::Value lowerTriangle(const runtime::Value &operand, const runtime::Value &diagonal,
                             const runtime::Value &values);
runtime::Value upperTriangle(const runtime::Value &operand, const runtime::Value &diagonal,
                             const runtime::Value &values);
// The same cells in rows x columns, read and written by rows, or by columns if not `byRow`.
runtime::Value reshape(const runtime::Value &operand, const runtime::Value &rows,
                       const runtime::Value &columns, const runtime::Value &byRow);

// Matrices side by side, below each other; a scalar counts as 1x1. One list: its elements. A list
// and more values: a list with them appended, lists among them by their elements. Texts only:
// joined by newlines.
runtime::Value cbind(std::span<const runtime::Value> inputs);
runtime::Value rbind(std::span<const runtime::Value> inputs);

} // namespace tokamak::reference
#endif
