// The machine model of this run: from a file given by the user, else the one measured on this
// machine, which the first run that needs it measures and stores in the user's cache folder. Where
// something else is in the place of that file, or it may not be read, it is the fixed model.
//
//   MachineModelCache cache(options.machineModel, options.warn);
//   const cost::MachineModel &model = cache.model();     // read or measured on first call
#ifndef TOKAMAK_EXEC_MACHINEMODELCACHE_H
#define TOKAMAK_EXEC_MACHINEMODELCACHE_H

#include "cost/MachineModel.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace tokamak::exec {

class MachineModelCache {
public:
  // `warn`, where given, is told once why the fixed model is used.
  explicit MachineModelCache(std::string file, std::function<void(const std::string &)> warn = {})
      : file_(std::move(file)), warn_(std::move(warn)) {}
  // Throws Error if the given file can't be read. A cache folder that can't be written is no error:
  // the model is measured again next time.
  // Threads may ask at the same time.
  const cost::MachineModel &model();

private:
  const cost::MachineModel &findOrMeasure();

  std::mutex mutex_;
  std::string file_;
  std::function<void(const std::string &)> warn_;
  std::optional<cost::MachineModel> model_;
};

} // namespace tokamak::exec
#endif
