// A function of a compiled model as it runs: its program, read from the model's object file, and its weights.
//
//   const LoadedEntry &program = LoadedEntry::of(model, entry);     // read at the first call
//   PlanTable plans(program.program);
#ifndef TOKAMAK_RUNTIME_MODEL_LOADEDENTRY_H
#define TOKAMAK_RUNTIME_MODEL_LOADEDENTRY_H

#include "abi/CompiledModel.h"
#include "runtime/image/PlannedProgram.h"

#include <deque>

namespace tokamak::runtime {

struct LoadedEntry {
  std::deque<Native> natives; // to which the images refer
  PlannedProgram program;
  std::vector<Value> weights; // the last arguments of the program's function

  // It is kept for as long as the process runs, as the model is. Thread-safe. Throws Error if the processor lacks what the code
  // needs, or if the model is one for another version of the runtime.
  static const LoadedEntry &of(const TokModel &model, TokModelEntry &entry);

private:
  LoadedEntry(const TokModel &model, const TokModelEntry &entry);
  void prepareWeights(size_t function);
};

} // namespace tokamak::runtime
#endif
