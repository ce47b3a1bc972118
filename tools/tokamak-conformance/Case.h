// One case of a conformance suite of ONNX: a folder with model.onnx and, in test_data_set_0, 1, …, the
// values that go in and those that must come out.
//
//   Outcome outcome = runCase("node/test_abs", resources);
//   if (outcome.kind != Outcome::Kind::Passed) fmt::print("{}\n", outcome.reason);
//
// Results may be off by 1e-7 + 1e-3 times the expected cell, cells of bf16 by two units in the last place, as in ONNX's
// own runner; or by a share of the largest expected cell, which is asked of whole models, whose cells near zero are
// differences of large ones.
#ifndef TOKAMAK_TOOLS_TOKAMAK_CONFORMANCE_CASE_H
#define TOKAMAK_TOOLS_TOKAMAK_CONFORMANCE_CASE_H

#include "codegen/KernelCompiler.h"
#include "runtime/parallel/TileScheduler.h"

#include <optional>
#include <string>

namespace tokamak::conformance {

struct Outcome {
  // Unsupported: the model was refused, with a reason, before anything ran.
  enum class Kind : uint8_t { Passed, Failed, Unsupported } kind = Kind::Passed;
  std::string reason;
};

// What all cases of a process share.
struct Resources {
  codegen::KernelCompiler kernels{{}};
  runtime::Scheduler one{1}, two{2};
};

// On both engines; the native one without fusion and with fusion by cost, on one and two threads. Never
// throws. `shareOfLargest`, if there is one, is what results may be off by.
Outcome runCase(const std::string &folder, Resources &resources,
                std::optional<double> shareOfLargest = {});

} // namespace tokamak::conformance
#endif
