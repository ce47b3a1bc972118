// Code for each of a few constants that a number may have at run time: loops of so many steps are unrolled, and what they carry stays
// in registers.
//
//   bool isDone = withConstantOf<2, 3, 4>(columns, [&]<int64_t constant>() { std::array<double, constant> sums; });
#ifndef TOKAMAK_BASE_CONSTANTOF_H
#define TOKAMAK_BASE_CONSTANTOF_H

#include <cstdint>

namespace tokamak {

// Calls body.operator()<constant>() for the constant that the number is; false if it is none of them. Inlined, so that a function
// that is compiled for several processors (WidestVectors.h) has its own.
template <int64_t... constants, typename Body>
[[gnu::always_inline]] inline bool withConstantOf(int64_t number, const Body &body) {
  return ((number == constants && (body.template operator()<constants>(), true)) || ...);
}

} // namespace tokamak

#endif
