// How a program is compiled and run: what its caller may choose.
//
//   ProgramOptions options;
//   options.selector = fusion::Selector::None; // every operation is a kernel
//   options.threads = 2;
#ifndef TOKAMAK_EXEC_PROGRAMOPTIONS_H
#define TOKAMAK_EXEC_PROGRAMOPTIONS_H

#include "base/SparseSafety.h"
#include "fusion/select/FuseBlock.h"
#include "pipeline/Tier.h"
#include "schedule/ScheduleFile.h"

#include "llvm/ADT/StringSet.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace tokamak::codegen {
class KernelCompiler;
}

namespace tokamak::exec {

class BuiltInKernels;
class PlanRecord;

// What --explain shows; any combination.
struct Explanations {
  bool program = false, image = false, fusion = false, schedule = false, loops = false,
       llvm = false, assembly = false, recompile = false;
};

struct ProgramOptions {
  fusion::Selector selector = fusion::Selector::Cost;
  // With what blocks begin. Without effect where kernels are shown or scheduled by
  // hand, and with other selectors than `Cost`.
  pipeline::Tier firstTier = pipeline::Tier::Compiled;
  int64_t expectedCalls = 1;  // LateBindingOptions::expectedCalls
  llvm::StringSet<> disabled; // passes and rules by name
  Explanations explain;
  std::ostream *explanations = nullptr; // destination; required if any is requested
  PlanRecord *record = nullptr;         // receives every plan that is made; may be null
  // Receives warnings that do not stop the program; may be empty.
  std::function<void(const std::string &)> warn;
  std::string machineModel; // file; empty: the model measured on this machine
  int threads = 1;          // that compile the kernels of one block at the same time
  codegen::KernelCompiler *kernels = nullptr; // may be shared by programs; null: an own one
  ZeroRule zeroRule = ZeroRule::Sparse;
  // Of some kernels, read from `scheduleFile`, at whose lines wrong ones are reported.
  schedule::GivenSchedules schedules;
  std::string scheduleFile;
  // Loops of scalars are compiled after so many iterations; without fusion, never.
  int64_t iterationsBeforeCompiling = 10'000;
  // Folder with what earlier runs have compiled (CacheFolder.h); empty: none. Not for `kernels`.
  std::string cacheFolder;
  // Identifies the program there, with what decides its plans: what it uses is also kept in one piece.
  // Empty: it isn't.
  std::string collection;
  const BuiltInKernels *builtInKernels = nullptr; // null: there are none
};

} // namespace tokamak::exec
#endif
