#include "ir/tok/Precision.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tokamak;

static Type singlePrecisionType(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  return array && array.getElementType().isF64() ? array.clone(Float32Type::get(type.getContext()))
                                                 : type;
}

static void roundLiteral(tok::LiteralOp op) {
  auto cells = dyn_cast<DenseFPElementsAttr>(op.getCells());
  if (!cells || !cells.getElementType().isF64())
    return;
  op.setCellsAttr(cells.mapValues(Float32Type::get(op.getContext()), [](const APFloat &cell) {
    APFloat single = cell;
    bool losesInfo = false;
    single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
    return single.bitcastToAPInt();
  }));
}

// An operator of the text states the types that it computes in; what it reads and gives is converted.
static void convertAround(Operation *fused) {
  OpBuilder builder(fused);
  Location location = fused->getLoc();
  for (auto [operand, argument] :
       llvm::zip(fused->getOpOperands(), fused->getRegion(0).getArguments()))
    if (operand.get().getType() != argument.getType())
      operand.set(
          builder.create<tok::CastOp>(location, argument.getType(), operand.get()).getResult());
  builder.setInsertionPointAfter(fused);
  for (OpResult result : fused->getResults()) {
    Type type = singlePrecisionType(result.getType());
    if (type == result.getType())
      continue;
    auto rounded = builder.create<tok::CastOp>(location, type, result);
    result.replaceAllUsesExcept(rounded.getResult(), rounded);
  }
}

void tok::useSinglePrecision(ModuleOp module) {
  SmallVector<Operation *> fused;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (tok::isFusedOperator(op)) {
      fused.push_back(op);
      return WalkResult::skip();
    }
    for (OpResult result : op->getResults())
      result.setType(singlePrecisionType(result.getType()));
    for (Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(singlePrecisionType(argument.getType()));
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      auto map = [](ArrayRef<Type> types) {
        return llvm::map_to_vector(types, singlePrecisionType);
      };
      function.setType(FunctionType::get(op->getContext(), map(function.getArgumentTypes()),
                                         map(function.getResultTypes())));
    }
    if (auto literal = dyn_cast<LiteralOp>(op))
      roundLiteral(literal);
    return WalkResult::advance();
  });
  for (Operation *op : fused)
    convertAround(op);
}
