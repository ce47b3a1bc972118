// The machine model of this run: from a file given by the user, else the one measured on this
// machine, which the first run that needs it measures and stores in the user's cache folder.
//
//   MachineModelCache cache(options.machineModel);
//   const cost::MachineModel &model = cache.model();     // read or measured on first call
#ifndef TOKAMAK_EXEC_MACHINEMODELCACHE_H
#define TOKAMAK_EXEC_MACHINEMODELCACHE_H

#include "cost/MachineModel.h"

#include <mutex>
#include <optional>
#include <string>

namespace tokamak::exec {

class MachineModelCache {
public:
  explicit MachineModelCache(std::string file) : file_(std::move(file)) {}
  // Throws Error if the given file can't be read. A cache folder that can't be written is no error:
  // the model is measured again next time.
  // Threads may ask at the same time.
  const cost::MachineModel &model();

private:
  const cost::MachineModel &findOrMeasure();

  std::mutex mutex_;
  std::string file_;
  std::optional<cost::MachineModel> model_;
};

} // namespace tokamak::exec
#endif
