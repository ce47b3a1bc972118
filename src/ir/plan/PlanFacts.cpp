// The sizes of an operator's results from those of its operands. The symbols of an operator are its
// own: each stands for the dimensions of operands that are declared to be that symbol alone.
#include "ir/plan/PlanDialect.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;

namespace {

class OperatorSizes {
public:
  OperatorSizes(OperatorOp op, ArrayRef<tok::Facts> operands)
      : declared_(op.operandSizes()), operands_(operands) {
    forEachDimension([&](size_t, size_t, const Size &size, const Size &known) {
      if (size.isSymbol())
        symbols_.try_emplace(size.symbolId(), known);
    });
  }

  // Unknown if a symbol is.
  Size sizeOf(const Size &declared) const {
    return declared.substitute([&](int64_t id) {
      auto found = symbols_.find(id);
      return found == symbols_.end() ? Size::unknown() : found->second;
    });
  }
  bool knowsSymbolsOf(const Size &size) const {
    return size.everySymbol([&](int64_t id) { return symbols_.contains(id); });
  }

  // Calls visit(operand, dimension, the size that is declared, the one that is known).
  template <typename Visit> void forEachDimension(const Visit &visit) const {
    for (auto [operand, sizes] : llvm::enumerate(declared_))
      for (auto [dimension, size] : llvm::enumerate(sizes))
        visit(operand, dimension, size,
              operands_[operand].dims.size() == sizes.size() ? operands_[operand].dims[dimension]
                                                             : Size::unknown());
  }

private:
  SmallVector<SmallVector<Size>> declared_;
  ArrayRef<tok::Facts> operands_;
  llvm::DenseMap<int64_t, Size> symbols_;
};

} // namespace

void OperatorOp::inferFacts(ArrayRef<tok::Facts> operands, MutableArrayRef<tok::Facts> results) {
  OperatorSizes sizes(*this, operands);
  for (auto [facts, declared] : llvm::zip(results, resultSizes()))
    for (const Size &size : declared)
      facts.dims.push_back(sizes.sizeOf(size));
}

bool OperatorOp::hasSizes(ArrayRef<tok::Facts> operands) {
  OperatorSizes sizes(*this, operands);
  bool holds = true;
  sizes.forEachDimension([&](size_t, size_t, const Size &declared, const Size &known) {
    holds &= sizes.sizeOf(declared).provedEqual(known);
  });
  return holds;
}

LogicalResult OperatorOp::checkFacts(ArrayRef<tok::Facts> operands) {
  OperatorSizes sizes(*this, operands);
  for (const Size &size : axisSizes())
    if (!sizes.knowsSymbolsOf(size))
      return emitError("the size of an axis, ")
             << size.text() << ", has a symbol that is no size of an operand";
  LogicalResult result = success();
  sizes.forEachDimension(
      [&](size_t operand, size_t dimension, const Size &declared, const Size &known) {
        Size expected = sizes.sizeOf(declared);
        if (succeeded(result) && expected.provedDifferent(known))
          result = emitError("dimension ")
                   << dimension + 1 << " of operand " << operand + 1 << " has size " << known.text()
                   << " instead of " << expected.text();
      });
  return result;
}
