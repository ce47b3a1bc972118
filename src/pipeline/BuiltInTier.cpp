#include "pipeline/BuiltInTier.h"

#include "fusion/explore/BlockFacts.h"
#include "fusion/select/BuildOperators.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

// What an operation adds to the time in which the kernels of its block are compiled, in round numbers. If it
// is wrong by a factor, so is the time that may be lost.
static constexpr double nanosecondsForOperation = 500'000;

static bool isOnArrays(Operation &op) {
  return op.getNumResults() > 0 && (tok::isArray(op.getResult(0).getType()) ||
                                    llvm::any_of(op.getOperandTypes(), tok::isArray));
}

const cost::MachineModel &pipeline::fixedMachine() {
  static const cost::MachineModel machine;
  return machine;
}

double pipeline::compilingNanoseconds(func::FuncOp block) {
  return nanosecondsForOperation *
         static_cast<double>(llvm::count_if(block.getBody().front(), isOnArrays));
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

std::optional<double> pipeline::builtInNanoseconds(func::FuncOp block,
                                                   const codegen::KernelCompiler &kernels) {
  std::optional<double> sum;
  for (auto op : block.getOps<plan::OperatorOp>()) {
    if (!kernels.hasBuiltIn(codegen::KernelCompiler::keyOf(op)))
      return {};
    sum = sum.value_or(0) + fusion::predictionOf(op).nanoseconds;
  }
  return sum;
}
