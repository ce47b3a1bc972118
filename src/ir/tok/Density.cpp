#include "ir/tok/Density.h"

#include "ir/tok/CellFacts.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

// The runtime's rule for when natives return sparse arrays (runtime/values/Array.h; a test compares the two).
static constexpr double sparseDensityLimit = 0.25;
static constexpr double sparseLeastCells = 256;
// The size assumed where there is no estimate.
static constexpr int64_t guessedSize = 1000;

static double sizeOf(const Size &size) { return static_cast<double>(size.estimate(guessedSize)); }
static double cellsOf(const Facts &facts) {
  return facts.isMatrix() ? sizeOf(facts.rows()) * sizeOf(facts.columns()) : 0;
}

// 1 if unknown: any cell may be non-zero.
static double densityOf(const Facts &facts) { return facts.density < 0 ? 1 : facts.density; }

static void setDensity(Facts &result, double density) {
  result.density = density < 1 ? std::max(density, 0.0) : -1;
}

// For natives that return the better of the two layouts.
static void setBestLayout(Facts &result) {
  bool better = result.isMatrix() && !result.columns().isConstant(1) &&
                cellsOf(result) >= sparseLeastCells && result.density >= 0 &&
                result.density < sparseDensityLimit;
  result.layout = better ? Layout::Sparse : Layout::Dense;
}

// A result cell is zero where the operator maps zeros on the left, on the right, or on both sides
// to zero.
static void inferBinary(BinaryOp op, ArrayRef<Facts> operands, Facts &result) {
  auto isArrayAt = [&](int operand) { return isArray(op->getOperand(operand).getType()); };
  // For the estimate, cells that aren't zero are taken to be numbers, not NaN, so that 0 divided by
  // them is 0.
  auto fact = [&](int operand, bool zero) -> CellFact {
    if (zero && isArrayAt(operand))
      return CellFact::withoutEntry();
    return isArrayAt(operand) ? CellFact::nonZeroNumber() : numberOf(operands[operand]);
  };
  auto isZeroFor = [&](bool left, bool right) {
    return factAt(op.getKind(), fact(0, left), fact(1, right), ZeroRule::Sparse).isZero();
  };
  double left = isArrayAt(0) ? densityOf(operands[0]) : 1,
         right = isArrayAt(1) ? densityOf(operands[1]) : 1;
  bool zeroLeft = isArrayAt(0) && isZeroFor(true, false),
       zeroRight = isArrayAt(1) && isZeroFor(false, true);
  if (zeroLeft && zeroRight)
    setDensity(result, left * right);
  else if (zeroLeft || zeroRight)
    setDensity(result, zeroLeft ? left : right);
  else if (isArrayAt(0) && isArrayAt(1) && isZeroFor(true, true))
    setDensity(result, 1 - (1 - left) * (1 - right));
}

// For concatenated matrices: the average of their densities, weighted by their numbers of cells.
static void inferAppended(ArrayRef<Facts> operands, Facts &result) {
  double cells = 0, filled = 0;
  bool sparse = false;
  for (const Facts &facts : operands) {
    cells += cellsOf(facts);
    filled += cellsOf(facts) * densityOf(facts);
    sparse |= facts.isSparse();
  }
  if (cells > 0)
    setDensity(result, filled / cells);
  if (sparse)
    setBestLayout(result);
}

static void inferProduct(const Facts &left, const Facts &right, Facts &result) {
  double both = densityOf(left) * densityOf(right);
  if (!left.isMatrix() || both >= 1)
    return;
  setDensity(result, 1 - std::pow(1 - both, sizeOf(left.columns())));
  if (left.isSparse() && right.isSparse())
    setBestLayout(result);
}

void tok::inferDensity(Operation *operation, ArrayRef<Facts> operands,
                       MutableArrayRef<Facts> results) {
  if (results.size() != 1 || !isArray(operation->getResult(0).getType()) || results[0].isSparse() ||
      results[0].dims.size() != 2)
    return;
  Facts &result = results[0];
  auto keep = [&](bool layout) {
    result.density = operands[0].density;
    if (layout && operands[0].isSparse())
      setBestLayout(result);
  };
  if (isa<TransposeOp>(operation)) {
    result.layout = operands[0].layout;
    result.density = operands[0].density;
  } else if (isa<FillOp>(operation)) {
    if (auto value = dyn_cast_or_null<FloatAttr>(operands[0].value))
      result.density = value.getValue().isZero() ? 0 : 1;
  } else if (auto unary = dyn_cast<UnaryOp>(operation)) {
    if (factAt(unary.getKind(), CellFact(0.0)).isZero())
      result.density = operands[0].density;
  } else if (auto binary = dyn_cast<BinaryOp>(operation)) {
    inferBinary(binary, operands, result);
  } else if (isa<MatmulOp>(operation)) {
    inferProduct(operands[0], operands[1], result);
  } else if (isa<SliceOp, ReshapeOp, RemoveEmptyOp>(operation)) {
    keep(/*layout=*/true);
  } else if (auto replace = dyn_cast<ReplaceOp>(operation)) {
    if (!numberOf(operands[1]).mayBeZero)
      keep(/*layout=*/true);
  } else if (isa<InsertOp>(operation)) {
    keep(/*layout=*/false);
  } else if (isa<CbindOp, RbindOp>(operation)) {
    inferAppended(operands, result);
  } else if (isa<RandOp>(operation)) {
    if (std::optional<double> sparsity = numberOf(operands[4]).constant())
      setDensity(result, *sparsity);
    setBestLayout(result);
  } else if (isa<TableOp>(operation)) {
    if (double cells = cellsOf(result); cells > 0 && operands[0].isMatrix())
      setDensity(result, sizeOf(operands[0].rows()) / cells);
    setBestLayout(result);
  } else if (isa<DiagOp>(operation)) {
    if (operands[0].isColumnVector())
      setDensity(result, 1 / std::max(sizeOf(operands[0].rows()), 1.0));
    setBestLayout(result);
  }
}
