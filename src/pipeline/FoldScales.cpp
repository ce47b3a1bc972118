#include "pipeline/FoldScales.h"

#include "ir/tok/TokDialect.h"
#include "pipeline/WeightValues.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

namespace {

class ScaleFolding {
public:
  ScaleFolding(func::FuncOp function, analysis::FactsAnalysis &facts)
      : function_(function), facts_(facts), ofWeights_(valuesOfWeights(function, facts)) {}

  bool run() {
    bool changed = false;
    // What depends on weights alone is computed once as it is. That nothing of it is erased keeps `ofWeights_` valid.
    for (auto product : llvm::make_early_inc_range(function_.front().getOps<tok::BinaryOp>()))
      if (product.getKind() == BinaryOperator::Mul && !ofWeights_.contains(product))
        changed |= fold(product, product.getLhs(), product.getRhs()) ||
                   fold(product, product.getRhs(), product.getLhs());
    return changed;
  }

private:
  static tok::CallNativeOp convolutionReadOnce(Value value) {
    auto native = value.getDefiningOp<tok::CallNativeOp>();
    return native && native.getNative() == "convolve" && value.hasOneUse() ? native : nullptr;
  }

  // The sum of a convolution and a bias that depends on weights alone, as {convolution, bias}.
  std::pair<tok::CallNativeOp, Value> biasedConvolution(Value value) {
    auto sum = value.getDefiningOp<tok::BinaryOp>();
    if (!sum || sum.getKind() != BinaryOperator::Add || !value.hasOneUse())
      return {};
    for (auto [one, other] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}})
      if (tok::CallNativeOp convolution = convolutionReadOnce(one);
          convolution && ofWeights_.contains(other))
        return {convolution, other};
    return {};
  }

  // Of [1, filters, 1, 1], of which dimensions of size 1 in front may be left out.
  bool isOneNumberForEachFilter(Value scale, Value filters) {
    auto type = dyn_cast<RankedTensorType>(scale.getType());
    auto ofFilters = cast<RankedTensorType>(filters.getType());
    if (!type || type.getElementType() != ofFilters.getElementType() ||
        type.getRank() < ofFilters.getRank() - 1 || type.getRank() > ofFilters.getRank())
      return false;
    std::optional<SmallVector<int64_t>> sizes = constantSizesOf(scale, facts_),
                                        filterSizes = constantSizesOf(filters, facts_);
    if (!sizes || !filterSizes)
      return false;
    SmallVector<int64_t> expected(type.getRank(), 1);
    expected[type.getRank() - (ofFilters.getRank() - 1)] = filterSizes->front();
    return *sizes == expected;
  }

  bool fold(tok::BinaryOp product, Value value, Value scale) {
    tok::CallNativeOp convolution = convolutionReadOnce(value);
    Value bias;
    if (!convolution)
      std::tie(convolution, bias) = biasedConvolution(value);
    if (!convolution || !ofWeights_.contains(scale))
      return false;
    Value filters = convolution.getOperand(1);
    if (!ofWeights_.contains(filters) || !isOneNumberForEachFilter(scale, filters))
      return false;

    OpBuilder builder(product);
    Location location = product.getLoc();
    SmallVector<Value> sizes(cast<RankedTensorType>(filters.getType()).getRank(),
                             builder.create<tok::ConstantOp>(location, int64_t(1)));
    sizes.front() = builder.create<tok::SizeOp>(location, builder.getI64Type(), filters, 1);
    Value column = builder.create<tok::ViewOp>(location, filters.getType(), scale, sizes);
    Value scaled = builder.create<tok::BinaryOp>(location, BinaryOperator::Mul, filters, column);
    Operation *folded = builder.clone(*convolution);
    folded->setOperand(1, scaled);
    Value result = folded->getResult(0);
    if (bias) {
      Value scaledBias = builder.create<tok::BinaryOp>(location, BinaryOperator::Mul, bias, scale);
      result = builder.create<tok::BinaryOp>(location, BinaryOperator::Add, result, scaledBias);
    }
    product.replaceAllUsesWith(result);
    product.erase();
    if (bias)
      value.getDefiningOp()->erase();
    convolution.erase();
    return true;
  }

  func::FuncOp function_;
  analysis::FactsAnalysis &facts_;
  const llvm::DenseSet<Value> ofWeights_;
};

} // namespace

bool pipeline::foldScales(ModuleOp module, analysis::FactsAnalysis &facts) {
  func::FuncOp function = functionOfWeights(module);
  return function && ScaleFolding(function, facts).run();
}
