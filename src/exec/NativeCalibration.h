// Measures the natives that stand for others of their kind: products, convolutions, solving of the
// linear-algebra library, transposing for what moves cells, sorting.
//
//   cost::MachineModel model = cost::calibrate().model;
//   exec::measureNatives(model, 3);                       // in three rounds
#ifndef TOKAMAK_EXEC_NATIVECALIBRATION_H
#define TOKAMAK_EXEC_NATIVECALIBRATION_H

#include "cost/MachineModel.h"

namespace tokamak::exec {

// Sets the figures of the model that begin with "native" or "singleNative", and those of packed cells and
// of windows; uses the others.
void measureNatives(cost::MachineModel &model, int rounds);

} // namespace tokamak::exec
#endif
