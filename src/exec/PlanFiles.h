// Plans of blocks that earlier runs have made.
//
//   CompiledFiles files(userCacheFolder());
//   PlanFiles planFiles(files, kernels, sessionOptions);
//   std::string key = planFiles.keyOf(block, conditions, pipeline::UnknownSizes::Split, tier);
//   std::optional<pipeline::Specialization> plan = planFiles.find(key, blocks, number);
//   if (!plan) {
//     plan = session.specialize(blocks, number, conditions, pipeline::UnknownSizes::Split, tier);
//     planFiles.keep(key, *plan, blocks);
//   }
//
// A plan is kept under all that decides it: the block with the places of its operations, the conditions,
// and the session's options, for compiled kernels with the machine model. It names its kernels by their
// keys; they are kept on their own. What a session answers instead of a plan (cells to inspect, exact sizes
// needed) is kept, too. Statistics of rules and explanations are not.
#ifndef TOKAMAK_EXEC_PLANFILES_H
#define TOKAMAK_EXEC_PLANFILES_H

#include "exec/CompiledFiles.h"
#include "pipeline/CompileSession.h"

#include <mutex>

namespace tokamak::exec {

class PlanFiles {
public:
  // References must outlive the object.
  PlanFiles(CompiledFiles &files, codegen::KernelCompiler &kernels,
            const pipeline::SessionOptions &options);

  // Thread-safe. For compiled kernels it may measure the machine, as a session does.
  std::string keyOf(const pipeline::FrozenBlock &block, const runtime::PlanConditions &conditions,
                    pipeline::UnknownSizes unknownSizes, pipeline::Tier tier);
  // Like CompileSession::specialize for the block of this number. Thread-safe; does not fail.
  std::optional<pipeline::Specialization> find(std::string_view key, pipeline::FrozenBlocks &blocks,
                                               int32_t number);
  void keep(std::string_view key, const pipeline::Specialization &result,
            const pipeline::FrozenBlocks &blocks);

private:
  CompiledFiles &files_;
  codegen::KernelCompiler &kernels_;
  const pipeline::SessionOptions &options_;
  const std::string optionsText_; // without the machine
  std::once_flag machineAsked_;
  std::string machineText_;
};

} // namespace tokamak::exec
#endif
