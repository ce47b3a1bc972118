// The machine model of this run: from a file given by the user, else the one measured on this
// machine, which the first run that needs it measures and stores in the user's cache folder. Where
// something else is in the place of that file, or it may not be read, it is the fixed model.
//
//   MachineModelCache cache(options.machineModel, MachineModelCache::Missing::Measured, options.warn);
//   const cost::MachineModel &model = cache.model();     // read or measured on first call
//
// What was measured on another processor does not count. What was measured while others used the
// processor counts for that run, and the next runs measure again and keep the best of it.
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
  // What to do where there is no model yet: a run without fusion chooses nothing by cost, so that
  // the fixed model serves.
  enum class Missing : uint8_t { Measured, Fixed };
  // `warn`, where given, is told once why the fixed model is used in place of a file.
  MachineModelCache(std::string file, Missing missing,
                    std::function<void(const std::string &)> warn = {})
      : file_(std::move(file)), warn_(std::move(warn)), missing_(missing) {}
  // Throws Error if the given file can't be read. A cache folder that can't be written is no error:
  // the model is measured again next time.
  // Threads may ask at the same time.
  const cost::MachineModel &model();
  // Whether the model is of this machine, or one given by the user.
  bool isFixed() const { return isFixed_; }

private:
  cost::MachineModel findOrMeasure();

  std::mutex mutex_;
  std::string file_;
  std::function<void(const std::string &)> warn_;
  Missing missing_;
  bool isFixed_ = false;
  std::optional<cost::MachineModel> model_;
};

// The stored model, if it was measured on this machine's processor.
std::optional<cost::ModelFile> storedMachineModel();
// Measures the machine and stores the result, joined with a disturbed one that is there already.
// A file that can't be written is no error.
cost::ModelFile measureMachine(int rounds);

} // namespace tokamak::exec
#endif
