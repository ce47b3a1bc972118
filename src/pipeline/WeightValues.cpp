#include "pipeline/WeightValues.h"

#include "ir/tok/TokDialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

func::FuncOp pipeline::functionOfWeights(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(tok::weightsAttributeName))
      return function;
  return nullptr;
}

ArrayRef<BlockArgument> pipeline::weightsOf(func::FuncOp function) {
  int64_t count = function->getAttrOfType<IntegerAttr>(tok::weightsAttributeName).getInt();
  return function.getArguments().take_back(count);
}

std::optional<SmallVector<int64_t>> pipeline::constantSizesOf(Value array,
                                                              analysis::FactsAnalysis &facts) {
  const tok::Facts known = facts.factsOf(array);
  ArrayRef<Size> sizes = known.dims;
  if (static_cast<int64_t>(sizes.size()) != cast<RankedTensorType>(array.getType()).getRank() ||
      !llvm::all_of(sizes, [](const Size &size) { return size.isConstant(); }))
    return std::nullopt;
  return llvm::map_to_vector(sizes, [](const Size &size) { return size.constantValue(); });
}

// The cells of all arrays among the values; none if they are not known before the run.
static std::optional<int64_t> cellsOf(ValueRange values, analysis::FactsAnalysis &facts) {
  int64_t sum = 0;
  for (Value value : values) {
    if (!tok::isArray(value.getType()))
      continue;
    std::optional<SmallVector<int64_t>> sizes = constantSizesOf(value, facts);
    if (!sizes)
      return std::nullopt;
    int64_t cells = 1;
    for (int64_t size : *sizes)
      if (llvm::MulOverflow(cells, size, cells))
        return std::nullopt;
    if (llvm::AddOverflow(sum, cells, sum))
      return std::nullopt;
  }
  return sum;
}

llvm::DenseSet<Value> pipeline::valuesOfWeights(func::FuncOp function,
                                                analysis::FactsAnalysis &facts) {
  ArrayRef<BlockArgument> weights = weightsOf(function);
  llvm::DenseSet<Value> known(weights.begin(), weights.end());
  auto isComputedFromKnown = [&](Operation &op) {
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
        !llvm::any_of(op.getOperandTypes(), tok::isArray) ||
        !llvm::all_of(op.getOperands(), [&](Value operand) { return known.contains(operand); }))
      return false;
    std::optional<int64_t> read = cellsOf(op.getOperands(), facts),
                           written = cellsOf(op.getResults(), facts);
    return read && written && *written <= *read;
  };
  for (Operation &op : function.front())
    if (isa<tok::ConstantOp, tok::LiteralOp>(op) || isComputedFromKnown(op))
      known.insert(op.result_begin(), op.result_end());
  return known;
}
