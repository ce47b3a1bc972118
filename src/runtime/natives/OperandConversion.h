// What a native is given, and what a program gets from it: arrays in the layout and of the element type that its
// row in base/Natives.def says.
//
//   convertOperands(row, operands, declared);       // before the native is called
//   convertResults(results, declared);              // and after
#ifndef TOKAMAK_RUNTIME_NATIVES_OPERANDCONVERSION_H
#define TOKAMAK_RUNTIME_NATIVES_OPERANDCONVERSION_H

#include "base/Natives.h"
#include "runtime/values/Value.h"

#include <span>

namespace tokamak::runtime {

// `result`: the element type that the program declares of the results. Throws Error if there is no memory.
void convertOperands(const NativeRow &native, std::span<Value> operands, ElementType result);
// To the element type that the program declares.
void convertResults(std::span<Value> results, ElementType declared);

} // namespace tokamak::runtime
#endif
