#include "ir/tok/Precision.h"

#include "ir/tok/TokDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tokamak;

static Type inSinglePrecision(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  return array && array.getElementType().isF64() ? array.clone(Float32Type::get(type.getContext()))
                                                 : type;
}

static void roundLiteral(tok::LiteralOp op) {
  auto cells = cast<DenseFPElementsAttr>(op.getCells());
  op.setCellsAttr(cells.mapValues(Float32Type::get(op.getContext()), [](const APFloat &cell) {
    APFloat single = cell;
    bool losesInfo = false;
    single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
    return single.bitcastToAPInt();
  }));
}

void tok::useSinglePrecision(ModuleOp module) {
  module.walk([](Operation *op) {
    for (OpResult result : op->getResults())
      result.setType(inSinglePrecision(result.getType()));
    for (Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(inSinglePrecision(argument.getType()));
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      auto map = [](ArrayRef<Type> types) { return llvm::map_to_vector(types, inSinglePrecision); };
      function.setType(FunctionType::get(op->getContext(), map(function.getArgumentTypes()),
                                         map(function.getResultTypes())));
    }
    if (auto literal = dyn_cast<LiteralOp>(op))
      roundLiteral(literal);
  });
}
