// Measures this machine's figures for the machine model.
//
//   cost::Calibration found = cost::calibrate([&] { launchNothing(); });
//   if (!found.isDisturbed) keep(found.model);
#ifndef TOKAMAK_COST_CALIBRATION_H
#define TOKAMAK_COST_CALIBRATION_H

#include "cost/MachineModel.h"

#include <functional>

namespace tokamak::cost {

struct Calibration {
  MachineModel model;
  // Other programs used the processor meanwhile: the thread got too little processor time, or its
  // times vary too much. Then the figures are too slow.
  bool isDisturbed = false;
};

// Numbers of rounds. The quick calibration takes about 100 ms. There is a pause between rounds,
// because disturbances are often short.
inline constexpr int quickCalibration = 3, thoroughCalibration = 20;

// `launch` launches a kernel that does nothing; without it, launches are not measured.
Calibration calibrate(const std::function<void()> &launch = {}, int rounds = quickCalibration);

} // namespace tokamak::cost
#endif
