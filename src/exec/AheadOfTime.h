// Writes the files with which a program runs again without a compiler: its image with the plans of
// its blocks, the object files of their kernels, and a table of the kernels in C.
//
//   ObjectKeeper objects;
//   codegen::KernelCompilerOptions compilerOptions{.keepObject = objects.sink()};
//   ...                                              // a run with these options makes the plans
//   writeAheadOfTime("out", {image, plans.plannedBlocks()}, objects);
//
// The files are program.image, kernels.c, and for each kernel one such as cell_exp_sum_1.o.
//
// Linked with tokamak_planned_program, kernels.c and the object files make an executable whose
// argument is the path of program.image. It handles inputs for which this run made plans.
#ifndef TOKAMAK_EXEC_AHEADOFTIME_H
#define TOKAMAK_EXEC_AHEADOFTIME_H

#include "codegen/KernelCompiler.h"
#include "runtime/image/PlannedProgram.h"

#include <map>
#include <mutex>

namespace tokamak::exec {

// Collects the object files of all compiled kernels by name.
class ObjectKeeper {
public:
  // A sink that stores object files here; it refers to the keeper. Thread-safe.
  codegen::KernelCompilerOptions::Sink sink();
  // Empty if there is no kernel of this name.
  const std::string &object(const std::string &kernel) const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
};

// Creates the folder if necessary. Throws Error if a file can't be written.
void writeAheadOfTime(const std::string &folder, const runtime::PlannedProgram &program,
                      const ObjectKeeper &objects);

} // namespace tokamak::exec
#endif
