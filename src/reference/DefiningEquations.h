// The reference has no way of its own to decompose matrices and to solve equations: it calls the
// runtime's natives. What they give is judged by the equation that defines it, multiplied by fixed
// vectors, within a bound: of an algorithm that is backward stable a result solves an equation
// whose numbers differ in the last digits only (Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd edition, chapters 9, 10, 19).
//
//   Value operands[] = {a}, results[] = {p, l, u};
//   std::optional<std::string> wrong = violationOf(NativeKind::Lu, operands, results);   // nullopt
//
// The equations, as a table:
//
//   solve     A %*% x = b, or t(A) %*% A %*% x = t(A) %*% b if A is not square
//   inv       A %*% X = I
//   cholesky  L %*% t(L) = A, L lower triangular
//   lu        P %*% A = L %*% U, L unit lower and U upper triangular
//   qr        the reflections of H applied to A give R, which is upper triangular
//   eigen     A %*% V = V %*% diag(values)
//   svd       A = U %*% S %*% t(V), columns of U and V orthonormal, S descending
#ifndef TOKAMAK_REFERENCE_DEFININGEQUATIONS_H
#define TOKAMAK_REFERENCE_DEFININGEQUATIONS_H

#include "base/Natives.h"
#include "runtime/values/Value.h"

#include <optional>
#include <span>
#include <string>

namespace tokamak::reference {

// What does not hold; nullopt for right results, for other natives, and where numbers are not
// finite. Takes time in the number of cells of the matrices.
std::optional<std::string> violationOf(NativeKind native, std::span<const runtime::Value> operands,
                                       std::span<const runtime::Value> results);

} // namespace tokamak::reference
#endif
