// Machine models in files: fixed ones for tests, and the one that was measured on this machine, in
// the user's cache folder, with when and on which processor that was.
//
//   cost::ModelFile file = cost::readModelFile("machine-model.json");
//   if (file.measured && file.measured->processor != cost::processorName()) ...  // another machine
#ifndef TOKAMAK_COST_MODELFILE_H
#define TOKAMAK_COST_MODELFILE_H

#include "cost/MachineModel.h"

#include <optional>
#include <string>

namespace tokamak::cost {

// How a model was measured.
struct Measurement {
  std::string date; // UTC: 2026-01-31T14:03:11Z
  std::string processor;
  // Other programs used the processor meanwhile: the figures are too slow.
  bool isDisturbed = false;
  int attempts = 1; // measurements so far; of each figure the best is kept

  bool operator==(const Measurement &) const = default;
};

struct ModelFile {
  MachineModel model;
  std::optional<Measurement> measured = {}; // files written by hand have none
};

// Throws tokamak::Error naming the file where it is not a file that can be read, or has other
// contents.
ModelFile readModelFile(const std::string &path);
// Writes to a temporary name first, then renames; makes the folder. Throws tokamak::Error where
// that fails.
void writeModelFile(const ModelFile &file, const std::string &path);

// $XDG_CACHE_HOME/tokamak/machine-model.json, by default below ~/.cache; nullopt where neither
// variable is set.
std::optional<std::string> machineModelPath();

// What this machine's processor calls itself, such as "AMD EPYC 9B14"; "unknown" where the system
// does not say.
std::string processorName();

} // namespace tokamak::cost
#endif
