// Collects the object files of all kernels that a compiler makes, for programs that other programs link.
//
//   ObjectKeeper objects;
//   codegen::KernelCompiler kernels({.target = &target, .cacheCapacity = SIZE_MAX, .keepObject = objects.sink()});
//   ...
//   const std::string &object = objects.object("cell_exp_sum_1");
#ifndef TOKAMAK_EXEC_OBJECTKEEPER_H
#define TOKAMAK_EXEC_OBJECTKEEPER_H

#include "codegen/KernelCompiler.h"

#include <map>
#include <mutex>

namespace tokamak::exec {

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

} // namespace tokamak::exec
#endif
