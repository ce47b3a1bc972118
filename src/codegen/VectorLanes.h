// What VectorMath.cpp and SinglePrecisionMath.cpp have in common: vectors of some number of cells
// and the arithmetic on them that C++ has no operators for. Only these two files include it: they
// become the bitcode that kernels link.
//
//   Lanes<float, 16> y = fma(x, x, x);
#ifndef TOKAMAK_CODEGEN_VECTORLANES_H
#define TOKAMAK_CODEGEN_VECTORLANES_H

#define TOKAMAK_INLINE static inline __attribute__((always_inline))
#define TOKAMAK_INLINED_KERNEL extern "C" __attribute__((always_inline))
#define TOKAMAK_CALLED_KERNEL extern "C" __attribute__((noinline))

template <typename Cell, int count> using Lanes = Cell __attribute__((ext_vector_type(count)));

template <typename Cells> TOKAMAK_INLINE Cells fma(Cells a, Cells b, Cells c) {
  return __builtin_elementwise_fma(a, b, c);
}
template <typename Cells> TOKAMAK_INLINE Cells absolute(Cells x) {
  return __builtin_elementwise_abs(x);
}
template <typename Cells> TOKAMAK_INLINE Cells copySign(Cells magnitude, Cells sign) {
  return __builtin_elementwise_copysign(magnitude, sign);
}
// A mask is a vector of integers as wide as the cells, all bits of a lane equal: what comparisons
// give.
template <typename Mask, typename Cells>
TOKAMAK_INLINE Cells select(Mask mask, Cells yes, Cells no) {
  return mask ? yes : no;
}
template <typename Mask> TOKAMAK_INLINE bool any(Mask mask) {
  return __builtin_reduce_or(mask) != 0;
}

static constexpr double infinity = __builtin_inf();

#endif
