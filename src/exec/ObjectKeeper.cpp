#include "exec/ObjectKeeper.h"

using namespace tokamak;
using namespace tokamak::exec;

codegen::KernelCompilerOptions::Sink ObjectKeeper::sink() {
  return [this](const std::string &kernel, const std::string &object) {
    std::lock_guard lock(mutex_);
    objects_[kernel] = object;
  };
}

const std::string &ObjectKeeper::object(const std::string &kernel) const {
  static const std::string none;
  std::lock_guard lock(mutex_);
  auto found = objects_.find(kernel);
  return found == objects_.end() ? none : found->second;
}
