// Measures this machine's figures for the machine model.
//
//   cost::Calibration found = cost::calibrate({.plain = [&] { return launchNothing(); }, .threads = 2});
//   if (!found.isDisturbed) keep(found.model);
#ifndef TOKAMAK_COST_CALIBRATION_H
#define TOKAMAK_COST_CALIBRATION_H

#include "cost/MachineModel.h"

#include <chrono>
#include <functional>
#include <vector>

namespace tokamak::cost {

// Raise it whenever something else is measured, or in another way, here, in exec/KernelCalibration.h or in
// exec/NativeCalibration.h: figures that were saved by a program with another number are measured again.
inline constexpr int calibrationVersion = 10;

struct Calibration {
  MachineModel model;
  // Other programs used the processor meanwhile: the thread got too little processor time, or its
  // times vary too much. Then the figures are too slow.
  bool isDisturbed = false;
};

// Launches of kernels that do nothing; each gives the nanoseconds that it took. Those that are missing are not measured.
struct Launches {
  std::function<double()> plain = {};
  int arrays = 0;                          // that it reads and writes
  std::function<double()> withArrays = {}; // one with more arrays
  int additionalArrays = 1;                // how many more
  std::function<double()> inParallel = {}; // one of several tiles, on all threads
  int threads = 1;                         // that the process may use
};

// Numbers of rounds. The quick calibration takes some tenths of a second. There is a pause between rounds,
// because disturbances are often short.
inline constexpr int quickCalibration = 3, thoroughCalibration = 20;

Calibration calibrate(const Launches &launches = {}, int rounds = quickCalibration);

// Times of one measurement, repeated. The best one counts, because disturbances only make code slower;
// of what other threads take part in, the median.
class Samples {
public:
  template <typename Function> void measure(int repetitions, Function function) {
    for (int i = 0; i < repetitions; ++i) {
      auto begin = std::chrono::steady_clock::now();
      function();
      std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
      add(time.count());
    }
  }
  void add(double nanoseconds) { times_.push_back(std::max(nanoseconds, 1.0)); }
  void add(const Samples &others) {
    times_.insert(times_.end(), others.times_.begin(), others.times_.end());
  }
  bool areMissing() const { return times_.empty(); }
  double best() const { return *std::min_element(times_.begin(), times_.end()); }
  double median() const { return atQuantile(0.5); }
  double lowerQuartile() const { return atQuantile(0.25); }
  // The ratio of the median time to the best.
  double spread() const { return median() / best(); }

private:
  double atQuantile(double share) const {
    std::vector<double> sorted = times_;
    auto at = sorted.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(sorted.size()));
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }

  std::vector<double> times_;
};

} // namespace tokamak::cost
#endif
