#include "codegen/loops/SymmetricSums.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

// A cell as it is seen from the operator's axes: the place along each of the cell's own axes.
struct View {
  Value cell;
  SmallVector<AffineExpr> place;
};

Type elementOf(Value cell) { return cast<plan::CellType>(cell.getType()).getElement(); }

// What a map of the cell's axes gives, from the operator's axes.
SmallVector<AffineExpr> placesOf(AffineMap map, const View &view) {
  SmallVector<AffineExpr> dims;
  for (unsigned axis = 0; axis < map.getNumDims(); ++axis)
    dims.push_back(getAffineDimExpr(axis, map.getContext()));
  for (auto [axis, expression] :
       llvm::zip(cast<plan::CellType>(view.cell.getType()).getAxes(), view.place))
    dims[axis] = expression;
  return llvm::map_to_vector(map.getResults(),
                             [&](AffineExpr expression) { return expression.replaceDims(dims); });
}

// What is behind changes of axes.
View resolved(View view) {
  while (auto reindex = view.cell.getDefiningOp<plan::ReindexOp>())
    view = {reindex.getOperand(), placesOf(reindex.getMap(), view)};
  return view;
}

View viewOf(Value cell) {
  auto type = cast<plan::CellType>(cell.getType());
  return resolved({cell, llvm::map_to_vector(type.getAxes(), [&](unsigned axis) {
                     return getAffineDimExpr(axis, cell.getContext());
                   })});
}

// The operand of an operation, from the same axes.
View operandOf(const View &view, Value operand) {
  SmallVector<AffineExpr> place;
  ArrayRef<unsigned> axes = cast<plan::CellType>(view.cell.getType()).getAxes();
  for (unsigned axis : cast<plan::CellType>(operand.getType()).getAxes())
    place.push_back(view.place[llvm::find(axes, axis) - axes.begin()]);
  return resolved({operand, std::move(place)});
}

class Exchange {
public:
  Exchange(unsigned x, unsigned y) : x_(x), y_(y) {}

  AffineExpr of(AffineExpr expression) const {
    MLIRContext *context = expression.getContext();
    AffineExpr x = getAffineDimExpr(x_, context), y = getAffineDimExpr(y_, context);
    return expression.replace({{x, y}, {y, x}});
  }

  // Whether the first becomes the second.
  bool makes(const View &from, const View &to) const {
    if (from.cell == to.cell)
      return llvm::all_of(llvm::zip(from.place, to.place),
                          [&](auto pair) { return of(std::get<0>(pair)) == std::get<1>(pair); });
    Operation *a = from.cell.getDefiningOp(), *b = to.cell.getDefiningOp();
    if (!a || !b || a->getName() != b->getName() || a->getNumRegions() > 0)
      return false;
    if (auto read = dyn_cast<plan::ReadOp>(a))
      return readsTheSame(read, cast<plan::ReadOp>(b), from, to);
    return isa<plan::UnaryOp, plan::BinaryOp, plan::CastOp>(a) &&
           a->getAttrDictionary() == b->getAttrDictionary() &&
           elementOf(from.cell) == elementOf(to.cell) &&
           llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()), [&](auto pair) {
             return makes(operandOf(from, std::get<0>(pair)), operandOf(to, std::get<1>(pair)));
           });
  }

private:
  bool makes(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) const {
    return llvm::all_of(llvm::zip(from, to),
                        [&](auto pair) { return of(std::get<0>(pair)) == std::get<1>(pair); });
  }

  bool readsTheSame(plan::ReadOp a, plan::ReadOp b, const View &from, const View &to) const {
    if (a.getOperand() != b.getOperand() || !a.getIndices().empty() || !b.getIndices().empty() ||
        a.getOutside() != b.getOutside())
      return false;
    return makes(placesOf(a.getMap(), from), placesOf(b.getMap(), to));
  }

  unsigned x_, y_;
};

bool runsOver(const View &view, unsigned axis) {
  return llvm::any_of(view.place,
                      [&](AffineExpr expression) { return expression.isFunctionOfDim(axis); });
}

void collectFactors(const View &view, SmallVectorImpl<View> &factors) {
  auto product = view.cell.getDefiningOp<plan::BinaryOp>();
  if (!product || product.getKind() != BinaryOperator::Mul) {
    factors.push_back(view);
    return;
  }
  collectFactors(operandOf(view, product.getLhs()), factors);
  collectFactors(operandOf(view, product.getRhs()), factors);
}

} // namespace

bool codegen::isSymmetric(plan::ReduceOp reduce, unsigned x, unsigned y) {
  if (reduce.getKind() != AggregateKind::Sum)
    return false;
  SmallVector<View> factors, ofX, ofY;
  collectFactors(viewOf(reduce.getOperand()), factors);
  for (const View &factor : factors) {
    if (runsOver(factor, x) && runsOver(factor, y))
      return false;
    if (runsOver(factor, x))
      ofX.push_back(factor);
    else if (runsOver(factor, y))
      ofY.push_back(factor);
  }
  Exchange exchange(x, y);
  for (const View &factor : ofX) {
    auto *mirrored =
        llvm::find_if(ofY, [&](const View &other) { return exchange.makes(factor, other); });
    if (mirrored == ofY.end())
      return false;
    ofY.erase(mirrored);
  }
  return ofY.empty();
}
