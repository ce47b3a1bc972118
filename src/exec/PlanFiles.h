// Plans of blocks that earlier runs have made.
//
//   CompiledFiles files(userCacheFolder());
//   PlanFiles planFiles(files, kernels, textOf(sessionOptions));
//   std::string key = planFiles.keyOf(block, conditions, pipeline::UnknownSizes::Split);
//   std::optional<pipeline::Specialization> plan = planFiles.find(key, blocks, number);
//   if (!plan) {
//     plan = session.specialize(blocks, number, conditions, pipeline::UnknownSizes::Split);
//     planFiles.keep(key, *plan, blocks);
//   }
//
// A plan is kept under all that decides it: the block with the places of its operations, the conditions,
// and the session's options with the machine model. It names its kernels by their keys; they are kept
// on their own. What a session answers instead of a plan (cells to inspect, exact sizes needed) is
// kept, too. Statistics of rules and explanations are not.
#ifndef TOKAMAK_EXEC_PLANFILES_H
#define TOKAMAK_EXEC_PLANFILES_H

#include "exec/CompiledFiles.h"
#include "pipeline/CompileSession.h"

namespace tokamak::exec {

// All options that decide plans, as text. It may measure the machine, as a session does.
std::string textOf(const pipeline::SessionOptions &options);

class PlanFiles {
public:
  // References must outlive the object. `options` is the beginning of each key.
  PlanFiles(CompiledFiles &files, codegen::KernelCompiler &kernels, std::string options)
      : files_(files), kernels_(kernels), options_(std::move(options)) {}

  std::string keyOf(const pipeline::FrozenBlock &block, const runtime::PlanConditions &conditions,
                    pipeline::UnknownSizes unknownSizes) const;
  // Like CompileSession::specialize for the block of this number. Thread-safe; does not fail.
  std::optional<pipeline::Specialization> find(std::string_view key, pipeline::FrozenBlocks &blocks,
                                               int32_t number);
  void keep(std::string_view key, const pipeline::Specialization &result,
            const pipeline::FrozenBlocks &blocks);

private:
  CompiledFiles &files_;
  codegen::KernelCompiler &kernels_;
  std::string options_;
};

} // namespace tokamak::exec
#endif
