// Writes down what a run needed, so that the program runs again without a compiler: its image with
// the plans of its blocks, the object files of their kernels, and a table of these in C.
//
//   ObjectKeeper objects;
//   compilerOptions.keepObject = objects.sink();
//   ... run ...
//   writeAheadOfTime("out", {image, binding.plannedBlocks()}, objects);
//
//   out/program.image   out/kernels.c   out/cell_exp_sum_1.o ...
//
// Linked with tokamak_planned_program, kernels.c and the object files make a program that takes the
// path of program.image. It serves inputs for which the run made plans.
#ifndef TOKAMAK_EXEC_AHEADOFTIME_H
#define TOKAMAK_EXEC_AHEADOFTIME_H

#include "codegen/KernelCompiler.h"
#include "runtime/PlannedProgram.h"

#include <map>
#include <mutex>

namespace tokamak::exec {

// Keeps the object files of all kernels that are compiled, by name.
class ObjectKeeper {
public:
  // References the keeper; threads may call it at the same time.
  codegen::KernelCompilerOptions::Sink sink();
  // Empty where no kernel has the name.
  const std::string &object(const std::string &kernel) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
};

// Makes the folder if need be. Throws Error where a file can't be written.
void writeAheadOfTime(const std::string &folder, const runtime::PlannedProgram &program,
                      const ObjectKeeper &objects);

} // namespace tokamak::exec
#endif
