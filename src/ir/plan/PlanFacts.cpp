// The sizes of an operator's results from those of its operands. The symbols of an operator are its
// own: each stands for the dimensions of operands that are declared to be that symbol alone.
#include "ir/plan/PlanDialect.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;

namespace {

struct OperatorSizes {
  struct Dimension {
    size_t operand, number;
    Size declared, known;
  };

  OperatorSizes(OperatorOp op, ArrayRef<tok::Facts> operands) {
    for (auto [operand, sizes] : llvm::enumerate(op.operandSizes()))
      for (auto [number, declared] : llvm::enumerate(sizes)) {
        const auto &dims = operands[operand].dims;
        Size known = dims.size() == sizes.size() ? dims[number] : Size::unknown();
        dimensions.push_back({operand, number, declared, known});
        if (declared.isSymbol())
          symbols.try_emplace(declared.symbolId(), known);
      }
  }

  // Unknown if a symbol is.
  Size sizeOf(const Size &declared) const {
    return declared.substitute([&](int64_t id) { return symbols.lookup(id); });
  }

  SmallVector<Dimension> dimensions;
  llvm::DenseMap<int64_t, Size> symbols;
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
  return llvm::all_of(sizes.dimensions, [&](const OperatorSizes::Dimension &dimension) {
    return sizes.sizeOf(dimension.declared).provedEqual(dimension.known);
  });
}

LogicalResult OperatorOp::checkFacts(ArrayRef<tok::Facts> operands) {
  OperatorSizes sizes(*this, operands);
  for (const Size &size : axisSizes())
    if (!size.everySymbol([&](int64_t id) { return sizes.symbols.contains(id); }))
      return emitError("the size of an axis, ")
             << size.text() << ", has a symbol that is no size of an operand";
  for (const auto &[operand, number, declared, known] : sizes.dimensions)
    if (Size expected = sizes.sizeOf(declared); expected.provedDifferent(known))
      return emitError("dimension ") << number + 1 << " of operand " << operand + 1 << " has size "
                                     << known.text() << " instead of " << expected.text();
  return success();
}
