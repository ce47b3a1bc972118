// Measures what depends on the code of kernels and of the linear-algebra library: functions of cells
// and products. Compiles small kernels for it, which takes some hundred milliseconds.
//
//   cost::MachineModel model = cost::calibrate().model;
//   exec::measureKernels(model, 2, 3);    // compiled by two threads, measured in three rounds
#ifndef TOKAMAK_EXEC_KERNELCALIBRATION_H
#define TOKAMAK_EXEC_KERNELCALIBRATION_H

#include "cost/Calibration.h"

namespace tokamak::exec {

// Sets the costs of cells and the rates of products; uses the other figures of the model.
void measureKernels(cost::MachineModel &model, int threads, int rounds);

} // namespace tokamak::exec
#endif
