// Measures what depends on the code of kernels: functions of cells, loops and products. Compiles small kernels
// for it, which takes some hundred milliseconds.
//
//   cost::MachineModel model = cost::calibrate().model;
//   bool agree = exec::measureKernels(model, 2, 3);   // compiled by two threads, measured in three rounds
#ifndef TOKAMAK_EXEC_KERNELCALIBRATION_H
#define TOKAMAK_EXEC_KERNELCALIBRATION_H

#include "cost/Calibration.h"

namespace tokamak::exec {

// Sets the costs of cells, loops and products; uses the other figures of the model. False if the samples
// of one kernel differ much: then other programs used the processor meanwhile.
bool measureKernels(cost::MachineModel &model, int threads, int rounds);

} // namespace tokamak::exec
#endif
