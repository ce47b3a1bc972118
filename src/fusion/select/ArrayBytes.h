// How much memory arrays of a block take, in the layout that they have there.
//
//   double bytes = bytesOf(facts, array);
#ifndef TOKAMAK_FUSION_SELECT_ARRAYBYTES_H
#define TOKAMAK_FUSION_SELECT_ARRAYBYTES_H

#include "fusion/explore/BlockFacts.h"

namespace tokamak::fusion {

double bytesPerCell(mlir::Value array);
// In a sparse array an entry also has a column index.
double bytesPerEntry(mlir::Value array);

double bytesOf(const BlockFacts &facts, mlir::Value array);
// The same if it is dense.
double denseBytesOf(const BlockFacts &facts, mlir::Value array);

// The bytes of all arrays among the values, each counted once; 0 if all of their sizes are known.
double bytesOfUnknownSize(llvm::ArrayRef<mlir::Value> values, const BlockFacts &facts);

} // namespace tokamak::fusion
#endif
