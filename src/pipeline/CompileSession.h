// A compile session specialises blocks for the facts of their inputs: it binds the facts, rewrites,
// fuses and compiles. It has its own MLIR context, because MLIR frees types and attributes only
// with their context.
//
//   CompileSession session(options, kernels);
//   Specialization result =
//       session.specialize(blocks, block, conditions, UnknownSizes::Split, Tier::Compiled);
#ifndef TOKAMAK_PIPELINE_COMPILESESSION_H
#define TOKAMAK_PIPELINE_COMPILESESSION_H

#include "base/SparseSafety.h"
#include "codegen/KernelCompiler.h"
#include "cost/MachineModel.h"
#include "fusion/select/FuseBlock.h"
#include "ir/tok/TokDialect.h"
#include "pipeline/BuiltInTier.h"
#include "rewrite/BlockRules.h"
#include "runtime/image/ImageFile.h"
#include "runtime/image/PlanConditions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <functional>
#include <map>
#include <shared_mutex>

namespace tokamak::pipeline {

// An outlined block in the form the program keeps: immutable and independent of MLIR contexts.
struct FrozenBlock {
  std::string name;
  std::string bytecode;   // of a module with just this function, named `blockFunctionName`
  std::vector<bool> bind; // scalars that may be bound to their values
  std::vector<int64_t>
      literals; // integer literals of the block: a size equal to one of them is bound exactly
  bool hasManySizes = false; // manySizesAttributeName
  // Those of expectedSizesAttributeName of all inputs together: the dimensions of each array, and each integer.
  // Empty if they are not known.
  std::vector<Size> expectedSizes;
  SourcePlace place;

  void write(runtime::ByteWriter &writer) const;
  // Throws Error if the bytes are damaged.
  static FrozenBlock read(runtime::ByteReader &reader);
};

// The same for all blocks, so that a block's bytecode is no different because others came before it.
inline constexpr llvm::StringLiteral blockFunctionName = "block";

// All blocks of a program; specialisation may add blocks that it splits off. Thread-safe;
// references to blocks stay valid.
class FrozenBlocks {
public:
  int32_t add(mlir::func::FuncOp function);
  // A block that has a new name.
  int32_t add(FrozenBlock block);
  const FrozenBlock &operator[](int32_t block) const;
  int32_t numberOf(llvm::StringRef name) const;
  size_t size() const;
  // A unique name for a block that is about to be added.
  std::string newName(const std::string &origin);

private:
  mutable std::shared_mutex mutex_;
  std::deque<FrozenBlock> blocks_;
  llvm::StringMap<int32_t> numbers_; // of blocks by name
  size_t namesGiven_ = 0;            // by newName
};

struct SessionOptions {
  fusion::Selector selector = fusion::Selector::Cost;
  // Called only if plans are chosen by cost, because the first call may measure the machine.
  std::function<const cost::MachineModel &()> machine;
  llvm::StringSet<> disabled; // block rules and passes by name
  bool explainFusion = false;
  bool collectFacts = false;     // Specialization::facts
  std::string scheduleFile = {}; // written by the user, with schedules of kernels
  ZeroRule zeroRule = ZeroRule::Sparse;
};

struct Specialization {
  std::shared_ptr<const runtime::Image> image; // null: more facts are needed
  // The inputs whose cells must be checked before a plan is made. If empty and there is no image,
  // the given symbols don't decide all comparisons of sizes: call again with exact sizes.
  std::map<unsigned, CellFact> wantedCells;
  // Blocks that were split off: all that the image executes.
  std::vector<int32_t> newBlocks;
  // codegen::KernelCompiler::keyOf by the names of the image's kernels.
  llvm::StringMap<std::string> kernelKeys;
  bool isLoaded = false; // made by an earlier run
  // With Tier::BuiltIn: all kernels are built in, and it pays to begin with them; or it doesn't pay.
  std::optional<BuiltInRun> builtIn;
  bool compiledPays = false;
  std::string explanation;
  // If requested: fusion/select/FusionFacts.h, and the names of kernels by the numbers of operators.
  std::string facts;
  std::map<int64_t, std::string> kernels;
  std::vector<rewrite::RuleRun> rules; // statistics of each block rule
  // The operators that treat a zero of a sparse matrix times a value that may be infinite or NaN as
  // zero.
  std::vector<SourcePlace> zeroRuleUses;
};

// What to do if a size inside the block does not follow from the inputs' symbols.
enum class UnknownSizes : uint8_t {
  Reject, // return no image: the caller tries again with exact sizes
  Split,  // operations that depend on it become a block of their own, planned once it is known
  Apart, // each operation that needs kernels becomes a block of its own: the plan is right for all sizes
};

class CompileSession {
public:
  CompileSession(const SessionOptions &options, codegen::KernelCompiler &kernels);
  // The plan may rely on the conditions. With Tier::BuiltIn it has built-in kernels where that pays, and
  // compiled ones elsewhere. Throws Error if the block is wrong under them (mismatched
  // sizes), with ErrorKind::Internal for internal errors.
  Specialization specialize(FrozenBlocks &blocks, int32_t block,
                            const runtime::PlanConditions &conditions, UnknownSizes unknownSizes,
                            Tier tier);
  // The number of specialisations so far. The caller replaces sessions after a number of them.
  int64_t specializations() const { return specializations_; }

private:
  const SessionOptions &options_;
  codegen::KernelCompiler &kernels_;
  mlir::MLIRContext context_;
  int64_t specializations_ = 0;
};

} // namespace tokamak::pipeline
#endif
