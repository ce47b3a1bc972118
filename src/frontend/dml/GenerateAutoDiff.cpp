// autoDiff: derivatives of a product, whose operands come with a trace (TraceLineage.h).
#include "frontend/dml/FunctionGenerator.h"

namespace tokamak::frontend {

using mlir::Value;

// The derivatives of X %*% W + b, whose operands come with the trace of `lineage`.
Value FunctionGenerator::emitAutoDiff(BuiltinCall &call) {
  mlir::Location place = call.location;
  Value output = call.operands[0];
  auto nativeOf = [&](llvm::StringRef name, mlir::ValueRange operands) {
    return builder_.create<tok::CallNativeOp>(place, mlir::TypeRange(listType()), name, operands)
        .getResult(0);
  };
  Value affine = nativeOf("affine_operands", call.operands[1]);
  auto transposedOperand = [&](int64_t position) {
    Value element = nativeOf("list_slice", {affine, constant(position, place), none(place)});
    Value matrix = builder_.create<tok::CastOp>(place, matrixType(), element);
    return builder_.create<tok::TransposeOp>(place, matrixType(), matrix);
  };
  Value ofX = builder_.create<tok::MatmulOp>(place, matrixType(), output, transposedOperand(2));
  Value ofW = builder_.create<tok::MatmulOp>(place, matrixType(), transposedOperand(1), output);
  Value ofB = builder_.create<tok::AggregateOp>(place, AggregateKind::Sum,
                                                AggregateDirection::Column, output);
  Value names = builder_.create<tok::ConstantOp>(place, llvm::StringRef("dX,dW,dB"));
  Value all =
      builder_.create<tok::ListOp>(place, listType(), names, mlir::ValueRange{ofX, ofW, ofB});
  // Without b there is no dB.
  Value count = builder_.create<tok::LengthOp>(place, builder_.getI64Type(), affine);
  return nativeOf("list_slice", {all, constant(1, place), count});
}

} // namespace tokamak::frontend
