// Random nodes of ONNX, each with operands that suit it.
//
//   for (int i = 0; i < 5; ++i)
//     addNode(graph);
//
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELNODES_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MODELNODES_H

#include "tokamak-fuzz/ModelGraph.h"

namespace tokamak::fuzz {

// Of any operator below.
void addNode(ModelGraph &graph);

void addCells(ModelGraph &graph); // one cell from one of each operand
void addReduction(
    ModelGraph &graph); // sums and extremes along dimensions, and what is made of them
void addRearrangement(ModelGraph &graph); // cells that stay as they are
void addSelection(ModelGraph &graph);     // cells at places, and places of cells
void addProduct(ModelGraph &graph);
void addImage(ModelGraph &graph); // windows of images, and images of other sizes
void addNormalisation(ModelGraph &graph);
void addQuantisation(ModelGraph &graph);
void addRecurrence(ModelGraph &graph);
void addControlFlow(ModelGraph &graph);

} // namespace tokamak::fuzz
#endif
