#include "fusion/select/CellWork.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static double additionsOfCell(const Node &node, const BlockFacts &facts,
                              const cost::CellCosts &costs) {
  if (auto unary = dyn_cast<tok::UnaryOp>(node.operation))
    return cost::additionsOf(unary.getKind(), node.cells, costs);
  auto binary = dyn_cast<tok::BinaryOp>(node.operation);
  // x^2 is computed by one multiplication.
  bool isSquare = binary && binary.getKind() == BinaryOperator::Pow &&
                  binary.getRhs().getDefiningOp<tok::ConstantOp>() &&
                  facts.everywhere(binary.getRhs()).constant() == 2.0;
  return binary && !isSquare ? cost::additionsOf(binary.getKind(), node.cells, costs)
                             : cost::additionsOf(node.cells);
}

// All that is multiplied but numbers of rows, and numbers that are the same for all.
static void collectFactors(Value value, const BlockFacts &facts, SmallVectorImpl<Value> &factors) {
  if (auto product = value.getDefiningOp<tok::BinaryOp>();
      product && product.getKind() == BinaryOperator::Mul) {
    collectFactors(product.getLhs(), facts, factors);
    collectFactors(product.getRhs(), facts, factors);
  } else if (tok::isArray(value.getType()) && !facts.shapeOf(value).hasOneColumn()) {
    factors.push_back(value);
  }
}

bool fusion::isSymmetricProduct(const Node &product, const BlockFacts &facts) {
  if (product.kind != NodeKind::TransposedProduct)
    return false;
  Value left = product.operands[0], right = product.operands[1];
  if (!facts.shapeOf(left).columns.provedEqual(facts.shapeOf(right).columns))
    return false;
  SmallVector<Value> ofLeft, ofRight;
  collectFactors(left, facts, ofLeft);
  collectFactors(right, facts, ofRight);
  return ofLeft.size() == ofRight.size() &&
         std::is_permutation(ofLeft.begin(), ofLeft.end(), ofRight.begin());
}

bool fusion::hasFiltersOfOneChannel(const Node &convolution, const BlockFacts &facts) {
  return facts.sizesOf(convolution.operands[1])[1].isConstant(1);
}

double fusion::multiplicationsOfConvolution(Operation *convolution, const BlockFacts &facts) {
  Value weights = convolution->getOperand(1);
  double filters = std::max(1.0, BlockFacts::estimate(facts.sizesOf(weights).front()));
  return BlockFacts::cells(facts.shapeOf(convolution->getResult(0))) *
         BlockFacts::cells(facts.shapeOf(weights)) / filters;
}

double fusion::flopsOfNativeConvolution(Operation *convolution, ElementType cells,
                                        const BlockFacts &facts,
                                        const cost::MachineModel &machine) {
  double multiplied = multiplicationsOfConvolution(convolution, facts);
  double filters =
      std::max(1.0, BlockFacts::estimate(facts.sizesOf(convolution->getOperand(1)).front()));
  double rate = cells == ElementType::F32 ? machine.singleNativeConvolutionsPerNanosecond
                                          : machine.nativeConvolutionsPerNanosecond;
  double ofWindows =
      machine.windowCellNanoseconds * cost::additionsOf(cells) * multiplied / filters;
  return machine.flopsPerNanosecond * (multiplied / rate + ofWindows);
}

// Multiplications in a nanosecond.
static double rateOfProduct(const Node &node, const BlockFacts &facts,
                            const cost::MachineModel &machine) {
  constexpr double lanes = 16; // of f32
  if (node.cells != ElementType::F32)
    return machine.productsPerNanosecond;
  bool isNarrow = BlockFacts::estimate(facts.sizesOf(node.result()).back()) <= lanes;
  return isNarrow ? machine.narrowSingleProductsPerNanosecond : machine.singleProductsPerNanosecond;
}

double fusion::additionsOf(const Node &node, const BlockFacts &facts,
                           const cost::MachineModel &machine) {
  switch (node.kind) {
  case NodeKind::Elementwise:
    return additionsOfCell(node, facts, machine.cells);
  case NodeKind::Aggregate: {
    AggregateKind kind = node.aggregation();
    return (isIndex(kind) ? 2 : 1) * cost::additionsOfAggregating(kind, node.cells);
  }
  case NodeKind::Product:
  case NodeKind::TransposedProduct:
    return machine.flopsPerNanosecond / rateOfProduct(node, facts, machine);
  case NodeKind::Convolution:
    if (hasFiltersOfOneChannel(node, facts)) // for each place a cell is read
      return 3 * cost::additionsOf(node.cells);
    return machine.flopsPerNanosecond / (node.cells == ElementType::F32
                                             ? machine.singleConvolutionsPerNanosecond
                                             : machine.convolutionsPerNanosecond);
  default:
    return 1;
  }
}
