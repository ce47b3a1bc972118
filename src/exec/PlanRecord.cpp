#include "exec/PlanRecord.h"

#include "exec/LateBinding.h"

using namespace tokamak;
using namespace tokamak::exec;

void PlanRecord::add(const SpecializationEvent &event) {
  std::lock_guard lock(mutex_);
  plans_.push_back({event.block, event.place, event.inputs, event.reason, event.milliseconds,
                    event.facts, event.kernels});
}

codegen::KernelCompilerOptions::Sink PlanRecord::sinkOf(std::string Kernel::*text) {
  return [this, text](const std::string &kernel, const std::string &shown) {
    std::lock_guard lock(mutex_);
    kernels_[kernel].*text = shown;
  };
}
