// Divisions of many vectors by one divisor, such as those of a row by its sum. A divider takes as
// long for a vector as a dozen of multiplications; these divisions multiply by the reciprocal and
// correct what they get, to the same bits:
//
//   InvariantDivisor divisor = prepareDivision(vectors, sum); // once: divides 1 by it
//   State quotients = emitQuotients(vectors, {row0, row1}, {divisor, divisor});
//
// Peter Markstein ("Computation of elementary functions on the IBM RISC System/6000 processor", IBM
// J. Res. Dev. 34, 1990) proved: if r is 1/b correctly rounded and q is one of the two numbers around
// a/b, then q + (a - q*b) * r is a/b correctly rounded, with a fused multiply-add each. q is a*r
// plus a times what r lacks. All steps are exact or round once as long as nothing overflows or
// underflows. An overflow ends as a NaN. Vectors with a NaN or with cells of small exponents are
// looked at again, and divided unless the small ones are zeros.
#ifndef TOKAMAK_CODEGEN_INVARIANTDIVISION_H
#define TOKAMAK_CODEGEN_INVARIANTDIVISION_H

#include "codegen/VectorBuilder.h"

namespace tokamak::codegen {

// Vectors of f64 or f32, a divisor in each lane.
struct InvariantDivisor {
  mlir::Value divisor;
  // Their sum is 1/divisor to about twice the bits of one; NaN for divisors of extreme exponents.
  mlir::Value reciprocal, rest;
};

InvariantDivisor prepareDivision(VectorBuilder &vectors, mlir::Value divisor);
// The same divisor in all lanes: that of one lane.
InvariantDivisor splatLane(VectorBuilder &vectors, const InvariantDivisor &divisor, int64_t lane);

// How many vectors are best divided at a time: they share one branch.
inline constexpr unsigned divisionsTogether = 4;

// The quotients of as many dividends as divisors.
State emitQuotients(VectorBuilder &vectors, llvm::ArrayRef<mlir::Value> dividends,
                    llvm::ArrayRef<InvariantDivisor> divisors);

} // namespace tokamak::codegen
#endif
