// `tokamak doctor`: what this machine offers, and whether all that a run needs is in order.
#include "tokamak/Commands.h"

#include "cost/MachineModel.h"
#include "runtime/Blas.h"
#include "runtime/TileScheduler.h"

#include "llvm/TargetParser/Host.h"

#include <filesystem>
#include <fmt/format.h>
#include <iostream>

int tokamak::doctorCommand() {
  std::cout << "tokamak " TOKAMAK_VERSION "\n";
  std::cout << "processor:      " << llvm::sys::getHostCPUName().str() << "\n";
  std::cout << "threads:        " << runtime::Scheduler(0).threads() << "\n";
  std::cout << "OpenBLAS:       " << runtime::blasDescription() << "\n";
  std::optional<std::string> path = cost::machineModelPath();
  if (!path)
    std::cout
        << "machine model:  measured in every run, as neither HOME nor XDG_CACHE_HOME is set\n";
  else if (std::filesystem::exists(*path))
    std::cout << "machine model:  " << *path << "\n"
              << cost::toJson(cost::loadMachineModel(*path)) << "\n";
  else
    std::cout << "machine model:  will be measured by the first run, to " << *path << "\n";
  return Success;
}
