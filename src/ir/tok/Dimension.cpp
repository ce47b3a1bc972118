// Products of sizes. A product of symbols is itself a symbol whose id encodes its sorted factors,
// so that the same product has the same id wherever it is computed:
//
//   bit 62 | 14 bits: constant factor | 4 x 12 bits: factors, largest first, each its id + 1
#include "ir/tok/Facts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tokamak::tok;

namespace {

struct SymbolProduct {
  static constexpr int64_t marker = Dimension::firstProduct;
  static constexpr int factorBits = 12, coefficientBits = 14, mostFactors = 4;
  static constexpr int64_t factorMask = (int64_t{1} << factorBits) - 1;

  int64_t coefficient = 1;
  llvm::SmallVector<int64_t, 8> factors; // ids of symbols + 1

  // Multiplies by a constant or a symbol that may be a product; false if the product can't be
  // represented.
  bool multiply(Dimension dimension) {
    if (dimension.isUnknown())
      return false;
    if (dimension.isConstant())
      return !llvm::MulOverflow(coefficient, dimension.constantValue(), coefficient);
    int64_t id = dimension.symbolId();
    if ((id & marker) == 0) {
      factors.push_back(id + 1);
      return id < factorMask;
    }
    for (int i = 0; i < mostFactors; ++i)
      if (int64_t factor = id >> (i * factorBits) & factorMask)
        factors.push_back(factor);
    int64_t constant = (id & ~marker) >> (mostFactors * factorBits);
    return !llvm::MulOverflow(coefficient, constant, coefficient);
  }

  Dimension dimension(int64_t estimate) {
    if (coefficient == 0)
      return Dimension::constant(0);
    if (factors.empty())
      return Dimension::constant(coefficient);
    if (factors.size() == 1 && coefficient == 1)
      return Dimension::symbol(factors.front() - 1, estimate);
    if (factors.size() > mostFactors || coefficient >= int64_t{1} << coefficientBits)
      return Dimension::unknown();
    llvm::sort(factors);
    int64_t id = marker | coefficient << (mostFactors * factorBits);
    for (auto [i, factor] : llvm::enumerate(factors))
      id |= factor << (static_cast<int>(i) * factorBits);
    return Dimension::symbol(id, estimate);
  }
};

} // namespace

Dimension Dimension::product(Dimension a, Dimension b) {
  SymbolProduct product;
  if (a.isConstant(0) || b.isConstant(0))
    return constant(0);
  if (a.isConstant(1))
    return b;
  if (b.isConstant(1))
    return a;
  if (!product.multiply(a) || !product.multiply(b))
    return unknown();
  int64_t left = a.isConstant() ? a.constantValue() : a.estimate(-1);
  int64_t right = b.isConstant() ? b.constantValue() : b.estimate(-1);
  int64_t estimate = -1;
  if (left < 0 || right < 0 || llvm::MulOverflow(left, right, estimate))
    estimate = -1;
  return product.dimension(estimate);
}
