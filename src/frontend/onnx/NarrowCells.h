// Arrays of cells of 2 to 8 bits that Tokamak doesn't have: they hold the same numbers in a wider type
// (heldElementTypeOf), and only operators that move or convert cells take them.
//
//   mlir::Value numbers = narrowed(graph, x, DataType::Float8E4M3FN, {});   // f16, each a number of the narrow type
//   narrowUseOf("Reshape") == NarrowUse::Moves
//
#ifndef TOKAMAK_FRONTEND_ONNX_NARROWCELLS_H
#define TOKAMAK_FRONTEND_ONNX_NARROWCELLS_H

#include "frontend/onnx/GraphBuilder.h"
#include "frontend/onnx/file/DataType.h"

namespace tokamak::onnx {

// What an operator does with narrow cells: nothing, since it computes with numbers; moves them, so that its results
// have the same type; or a conversion, whose rule knows the types.
enum class NarrowUse : uint8_t { None, Moves, Converts };
NarrowUse narrowUseOf(llvm::StringRef opType);

struct Narrowing {
  // Floats of 8 bits: what is too large becomes the largest number, else infinity or NaN, whichever the type has.
  bool saturates = true;
  // Of float8e8m0: "up", "down" or "nearest".
  llvm::StringRef rounding = "up";
};

// The cells of an array as those of a narrow type, in the type that holds them. Floats go to the nearest number and from
// halves to the even one; of numbers that become integers, the lowest bits of the whole part are kept, as the standard's
// Cast has it.
mlir::Value narrowed(GraphBuilder &graph, mlir::Value array, DataType type,
                     const Narrowing &narrowing);

// The least and the largest number of a narrow type of integers.
int64_t leastNarrowInteger(DataType type);
int64_t largestNarrowInteger(DataType type);
bool isNarrowInteger(DataType type);

} // namespace tokamak::onnx
#endif
