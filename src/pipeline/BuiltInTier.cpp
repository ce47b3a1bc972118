#include "pipeline/BuiltInTier.h"

#include "fusion/explore/BlockFacts.h"
#include "fusion/select/BuildOperators.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

// What an operation adds to the time in which its block is planned and its kernels are compiled, in round numbers; a
// product has many plans, and tiles of registers in its kernels. If it is wrong by a factor, so is the time that may be
// lost.
static constexpr double nanosecondsForOperation = 500'000, nanosecondsForProduct = 5'000'000;
// What compiling the kernel of one operation takes.
static constexpr double nanosecondsForKernel = 5'000'000;

static bool isOnArrays(Operation &op) {
  return op.getNumResults() > 0 && (tok::isArray(op.getResult(0).getType()) ||
                                    llvm::any_of(op.getOperandTypes(), tok::isArray));
}

const cost::MachineModel &pipeline::fixedMachine() {
  static const cost::MachineModel machine;
  return machine;
}

double pipeline::compilingNanoseconds(func::FuncOp block) {
  double sum = 0;
  for (Operation &op : block.getBody().front())
    if (isOnArrays(op))
      sum += isa<tok::MatmulOp>(op) ? nanosecondsForProduct : nanosecondsForOperation;
  return sum;
}

double pipeline::touchingNanoseconds(func::FuncOp block,
                                     llvm::function_ref<const tok::Facts &(Value)> factsOf) {
  double bytes = 0;
  for (Operation &op : block.getBody().front())
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      const tok::Facts &facts = factsOf(result);
      double cells = facts.isSparse() ? std::max(facts.density, 0.0) : 1;
      for (const Size &size : facts.dims)
        cells *= fusion::BlockFacts::estimate(size);
      bytes += cells * type.getElementTypeBitWidth() / 8;
    }
  return bytes / fixedMachine().nearestReadBytesPerNanosecond;
}

std::optional<BuiltInRun> pipeline::builtInRun(func::FuncOp block,
                                               const codegen::KernelCompiler &kernels,
                                               double compiling, bool mayCompile) {
  BuiltInRun run{0, compiling};
  llvm::StringSet<> missing;
  bool hasOperators = false;
  for (auto op : block.getOps<plan::OperatorOp>()) {
    hasOperators = true;
    run.ofOneExecution += fusion::predictionOf(op).nanoseconds;
    if (std::string key = codegen::KernelCompiler::keyOf(op); !kernels.hasBuiltIn(key))
      missing.insert(key);
  }
  double first = run.ofOneExecution + nanosecondsForKernel * missing.size();
  bool isPossible = hasOperators && (mayCompile || missing.empty());
  return isPossible && first <= compiling ? std::optional(run) : std::nullopt;
}
