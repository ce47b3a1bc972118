#include "pipeline/LiteralScalars.h"

#include "ir/tok/TokDialect.h"

using namespace mlir;
using namespace tokamak;

// The number if the value is a literal of one cell of f64 or f32, shown with any rank.
static std::optional<double> numberOf(Value value) {
  while (auto view = value.getDefiningOp<tok::ViewOp>())
    value = view.getOperand();
  auto literal = value.getDefiningOp<tok::LiteralOp>();
  auto cells = literal ? dyn_cast<DenseFPElementsAttr>(literal.getCells()) : DenseFPElementsAttr();
  if (!cells || cells.getNumElements() != 1 ||
      !(cells.getElementType().isF64() || cells.getElementType().isF32()))
    return {};
  return (*cells.begin()).convertToDouble();
}

static void replaceLiterals(Operation *op, MutableArrayRef<OpOperand> values) {
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  for (OpOperand &literal : values) {
    std::optional<double> number = result ? numberOf(literal.get()) : std::nullopt;
    if (!number)
      continue;
    Type cells = cast<RankedTensorType>(literal.get().getType()).getElementType();
    bool isBesideArray = llvm::any_of(values, [&](OpOperand &other) {
      auto array = dyn_cast<RankedTensorType>(other.get().getType());
      return &other != &literal && array && array.getRank() == result.getRank() &&
             array.getElementType() == cells;
    });
    if (!isBesideArray)
      continue;
    OpBuilder builder(op);
    literal.set(builder.create<tok::ConstantOp>(op->getLoc(), *number));
  }
}

void pipeline::useLiteralsAsScalars(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto binary = dyn_cast<tok::BinaryOp>(op)) {
      replaceLiterals(op, op->getOpOperands());
      if (!tok::isArray(binary.getLhs().getType()) || !tok::isArray(binary.getRhs().getType()))
        binary.setOneRepeated(false);
    } else if (isa<tok::IfElseOp>(op))
      replaceLiterals(op, op->getOpOperands().drop_front());
  });
}
