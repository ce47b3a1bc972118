// How long the natives of a block take, whatever is fused: sorts, random numbers, transposes. Only
// reports depend on it. Products, scans and natives that move rows, which kernels may replace, are priced
// by OperatorCost.
//
//   auto work = workOfNative(graph[3].operation, graph.facts(), machine);
#ifndef TOKAMAK_FUSION_SELECT_NATIVEPRICE_H
#define TOKAMAK_FUSION_SELECT_NATIVEPRICE_H

#include "cost/MachineModel.h"
#include "fusion/explore/BlockFacts.h"

#include <optional>

namespace tokamak::fusion {

// No work at all for one that makes a view of an array; nullopt for what is no native on arrays, is a product, or has effects.
std::optional<cost::Work> workOfNative(mlir::Operation *operation, const BlockFacts &facts,
                                       const cost::MachineModel &machine);

// The bytes that the native touches, each array counted once, of a part only what is moved; 0 if all of their sizes
// are known.
double bytesOfUnknownSize(mlir::Operation *native, const BlockFacts &facts);

} // namespace tokamak::fusion
#endif
