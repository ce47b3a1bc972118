// What the operations of a block compute for each cell, or for each multiplication of a product, in
// additions of doubles (cost/CellCost.h).
//
//   double additions = additionsOf(graph[node], graph.facts(), machine);
#ifndef TOKAMAK_FUSION_SELECT_CELLWORK_H
#define TOKAMAK_FUSION_SELECT_CELLWORK_H

#include "cost/MachineModel.h"
#include "fusion/explore/BlockGraph.h"

namespace tokamak::fusion {

double additionsOf(const Node &node, const BlockFacts &facts, const cost::MachineModel &machine);

// Whether t(left) %*% right is a symmetric matrix because both have the same factors but for numbers of rows, as in
// t(X) %*% (w * X): kernels over rows compute half of it (codegen/loops/SymmetricSums.h).
bool isSymmetricProduct(const Node &product, const BlockFacts &facts);

// Whether each filter has one channel: of a convolution by channel, or of an image that has one.
bool hasFiltersOfOneChannel(const Node &convolution, const BlockFacts &facts);
// Each cell of the result is a sum over one filter.
double multiplicationsOfConvolution(mlir::Operation *convolution, const BlockFacts &facts);
// Of the runtime's convolution: it writes down the windows, and multiplies them with the filters.
double flopsOfNativeConvolution(mlir::Operation *convolution, ElementType cells,
                                const BlockFacts &facts, const cost::MachineModel &machine);

} // namespace tokamak::fusion
#endif
