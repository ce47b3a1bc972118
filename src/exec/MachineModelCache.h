// The machine model of this run: from a file given by the user, else the model measured on this
// machine. The first run that needs it measures it and stores it in the user's cache folder. If the
// path is no regular file, or may not be read, or if the run may not use as much memory as measuring takes, it uses the
// fixed model of a typical machine.
//
//   MachineModelCache cache(options.machineModel, MachineModelCache::Missing::Measured,
//                           options.warn);
//   const cost::MachineModel &model = cache.model();     // read or measured on first call
//
// A model measured on another processor, with another number of threads that the process may use
// (affinity, cgroup) or by another version of the calibration is ignored. A model measured while other
// programs used the processor serves that run only: the next runs measure again and keep the best figures.
#ifndef TOKAMAK_EXEC_MACHINEMODELCACHE_H
#define TOKAMAK_EXEC_MACHINEMODELCACHE_H

#include "cost/ModelFile.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace tokamak::exec {

class MachineModelCache {
public:
  // What to do if there is no model yet. Fixed is for runs without fusion:
  // these choose nothing by cost.
  enum class Missing : uint8_t { Measured, Fixed };
  // `warn`, if given, is called once with the reason why the fixed model replaces an unusable file.
  MachineModelCache(std::string file, Missing missing,
                    std::function<void(const std::string &)> warn = {})
      : file_(std::move(file)), warn_(std::move(warn)), missing_(missing) {}
  // Throws Error if the file given by the user can't be read. It is no error if the cache folder
  // can't be written: the next run measures again. Thread-safe.
  const cost::MachineModel &model();
  // Whether the fixed model is used: neither one of this machine nor one given by the user.
  bool isFixed() const {
    std::lock_guard lock(mutex_);
    return isFixed_;
  }
  // Why model() has measured the machine, such as "no run before needed it"; empty if it has not.
  std::string reasonOfMeasuring() const {
    std::lock_guard lock(mutex_);
    return reasonOfMeasuring_;
  }

private:
  cost::MachineModel findOrMeasure();

  mutable std::mutex mutex_; // guards isFixed_, reasonOfMeasuring_ and model_
  std::string file_;
  std::function<void(const std::string &)> warn_;
  Missing missing_;
  bool isFixed_ = false;
  std::string reasonOfMeasuring_;
  std::optional<cost::MachineModel> model_;
};

struct StoredModel {
  std::optional<cost::ModelFile> file; // if it was measured on this machine as the process finds it
  std::string reason; // why to measure the machine; empty if `file` needs no better
};
StoredModel storedMachineModel();
// Measures the machine for this reason and stores the result; of figures that were stored in the last ten minutes, or were all
// disturbed, the faster ones are kept. It is no error if the file can't be written.
cost::ModelFile measureMachine(int rounds, const std::string &reason);

} // namespace tokamak::exec
#endif
