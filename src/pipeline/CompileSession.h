// A compile session specialises blocks for the facts of their inputs: facts bound, rewritten,
// fused, compiled. It has its own MLIR context, so that what MLIR never frees (types, attributes)
// goes away with the session.
//
//   CompileSession session(options, kernels);
//   Specialization result =
//       session.specialize(blocks, block, inputs, /*narrowLimit=*/64, UnknownSizes::Split);
#ifndef TOKAMAK_PIPELINE_COMPILESESSION_H
#define TOKAMAK_PIPELINE_COMPILESESSION_H

#include "codegen/KernelCompiler.h"
#include "cost/MachineModel.h"
#include "fusion/explore/WantedCells.h"
#include "fusion/select/FuseBlock.h"
#include "ir/tok/TokDialect.h"
#include "rewrite/BlockRules.h"
#include "runtime/Image.h"
#include "runtime/PlanConditions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <functional>
#include <shared_mutex>

namespace tokamak::pipeline {

// An outlined block as the program keeps it: immutable, independent of any context.
struct FrozenBlock {
  std::string name;
  std::string bytecode;   // a module with the one function
  std::vector<bool> bind; // scalars that may be bound to their values
  std::vector<int64_t>
      literals; // integer literals of the block: sizes equal to one are bound exactly
  SourcePlace place;
};

// All blocks of a program; specialisation may add continuations. References stay valid; threads may
// use the object at the same time.
class FrozenBlocks {
public:
  int32_t add(mlir::func::FuncOp function);
  const FrozenBlock &operator[](int32_t block) const;
  int32_t numberOf(llvm::StringRef name) const;
  size_t size() const;
  // A name that no block has, for one that is about to be added.
  std::string newName(const std::string &origin);

private:
  mutable std::shared_mutex mutex_;
  std::deque<FrozenBlock> blocks_;
  llvm::StringMap<int32_t> numbers_; // of blocks by name
  size_t namesGiven_ = 0;            // not yet added
};

// What a plan may rely on about one input.
struct InputFacts {
  llvm::SmallVector<tok::Dimension, 2> dims;                // of an array
  std::optional<double> csrDensity;                         // of a CSR array: share of entries
  tok::Dimension integer = tok::Dimension::unknown();       // of an integer scalar
  std::optional<std::variant<bool, int64_t, double>> bound; // the value of a bound scalar
  // Of its cells, or of a number that is not bound: what was wanted (Specialization), and whether
  // it holds.
  std::optional<runtime::CellCondition> cells;
};

struct SessionOptions {
  fusion::Selector selector = fusion::Selector::Cost;
  // Asked for only when plans are chosen by cost: the first call may measure the machine.
  std::function<const cost::MachineModel &()> machine;
  llvm::StringSet<> disabled; // block rules and passes by name
  bool explainFusion = false;
  ZeroRule zeroRule = ZeroRule::Sparse;
};

struct Specialization {
  std::shared_ptr<const runtime::Image> image; // null: something has to be known first
  // Of inputs whose cells are to be looked at before a plan is made. None, and no image: the
  // symbols given do not decide how sizes relate; exact ones do.
  llvm::SmallVector<fusion::WantedCells::Input> wantedCells;
  std::string explanation;
  std::vector<rewrite::RuleRun> rules; // what each block rule did
  // Operators that take a zero of a sparse matrix times something that may be infinite or NaN for
  // zero.
  std::vector<SourcePlace> zeroRuleUses;
};

// What to do when a size inside of the block does not follow from the inputs' symbols.
enum class UnknownSizes : uint8_t {
  Reject, // return no image: the caller tries again with exact sizes
  Split,  // the operations that depend on it become a block of their own, planned when it is known
};

class CompileSession {
public:
  CompileSession(const SessionOptions &options, codegen::KernelCompiler &kernels);
  // `narrowLimit`: symbols of the inputs stand for sizes above it. Throws Error if the block is
  // wrong for these facts (sizes that do not agree); internal errors as ErrorKind::Internal.
  Specialization specialize(FrozenBlocks &blocks, int32_t block, llvm::ArrayRef<InputFacts> inputs,
                            int64_t narrowLimit, UnknownSizes unknownSizes);
  // Specialisations so far: sessions are replaced after some.
  int64_t specializations() const { return specializations_; }

private:
  const SessionOptions &options_;
  codegen::KernelCompiler &kernels_;
  mlir::MLIRContext context_;
  int64_t specializations_ = 0;
};

} // namespace tokamak::pipeline
#endif
