// The element types of arrays (base/ElementType.h), from MLIR's types.
//
//   std::optional<ElementType> cells = elementTypeOf(array.getType());   // nullopt: no such type
#ifndef TOKAMAK_IR_TOK_ELEMENTTYPES_H
#define TOKAMAK_IR_TOK_ELEMENTTYPES_H

#include "base/ElementType.h"

#include "mlir/IR/Types.h"

namespace tokamak::tok {

// Of an array or of its elements; nullopt for types that are no element type. Integers without a
// sign count as signed, as the scalar i64 does.
std::optional<ElementType> elementTypeOf(mlir::Type type);

// For arrays of integers and of i1.
bool isArrayOfIntegers(mlir::Type type);

} // namespace tokamak::tok
#endif
