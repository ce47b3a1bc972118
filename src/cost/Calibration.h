// Measures this machine for the machine model.
//
//   cost::Calibration found = cost::calibrate([] { launchNothing(); });
//   if (!found.isDisturbed) keep(found.model);
#ifndef TOKAMAK_COST_CALIBRATION_H
#define TOKAMAK_COST_CALIBRATION_H

#include "cost/MachineModel.h"

#include <functional>

namespace tokamak::cost {

struct Calibration {
  MachineModel model;
  // Others used the processor meanwhile: the thread got too little of its time, or its times vary
  // too much. The figures are too slow then.
  bool isDisturbed = false;
};

// A few rounds take about 100 ms; between rounds it waits, since what disturbs often passes.
inline constexpr int quickCalibration = 3, thoroughCalibration = 20;

// `launch`, where given, launches a kernel that does nothing.
Calibration calibrate(const std::function<void()> &launch = {}, int rounds = quickCalibration);

} // namespace tokamak::cost
#endif
