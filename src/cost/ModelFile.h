// Machine models in files: fixed ones for tests, and in the user's cache folder the one that was
// measured on this machine, with what the measurement holds for.
//
//   cost::ModelFile file = cost::readModelFile("machine-model.json");
//   if (file.measured && file.measured->processor != cost::processorName()) ...  // another machine
#ifndef TOKAMAK_COST_MODELFILE_H
#define TOKAMAK_COST_MODELFILE_H

#include "cost/MachineModel.h"

#include <optional>
#include <string>

namespace tokamak::cost {

// When and how a model was measured.
struct Measurement {
  std::string date; // UTC: 2026-01-31T14:03:11Z
  std::string processor;
  int threads = 1; // that the process could use
  int version = 0; // `calibrationVersion` of the program that measured (Calibration.h)
  // Why the machine was measured, and not a model taken that was saved before.
  std::string reason;
  // Other programs used the processor in all measurements: the figures are too slow.
  bool isDisturbed = false;
  int attempts = 1; // number of measurements so far; the model has the best value of each figure

  bool operator==(const Measurement &) const = default;
};

struct ModelFile {
  MachineModel model;
  std::optional<Measurement> measured = {}; // files written by hand have none
};

// Throws tokamak::Error with the file's name if it is no readable regular file or if its contents
// are no model.
ModelFile readModelFile(const std::string &path);
// Writes to a temporary file first, then renames it; creates the folder. Throws
// tokamak::Error on failure.
void writeModelFile(const ModelFile &file, const std::string &path);

// $XDG_CACHE_HOME/tokamak/machine-model.json, in $HOME/.cache if that isn't an absolute path; nullopt if
// neither variable is set.
std::optional<std::string> machineModelPath();

// The name of this machine's processor, such as "AMD EPYC 9B14"; "unknown" if the system has none.
std::string processorName();

} // namespace tokamak::cost
#endif
