#include "codegen/EntryAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static Location locationOf(VectorBuilder &vectors) { return vectors.builder().getUnknownLoc(); }

static Value element(VectorBuilder &vectors, Value pointer, Value position, Type type) {
  return vectors.builder().create<LLVM::GEPOp>(locationOf(vectors), vectors.pointerType(), type,
                                               pointer, position, /*inbounds=*/true);
}

Value codegen::loadIndices(VectorBuilder &vectors, Value pointer, Value position, Value mask) {
  OpBuilder &builder = vectors.builder();
  Location location = locationOf(vectors);
  Type integer = builder.getI32Type();
  auto type = VectorType::get(VectorBuilder::lanes, integer);
  Value address = element(vectors, pointer, position, integer), indices;
  constexpr unsigned alignment = 4;
  if (mask) {
    Value none = builder.create<arith::ConstantOp>(
        location, DenseElementsAttr::get(type, builder.getI32IntegerAttr(0)));
    indices = builder.create<LLVM::MaskedLoadOp>(location, type, address, mask, none, alignment);
  } else {
    indices = builder.create<LLVM::LoadOp>(location, type, address, alignment);
  }
  return builder.create<arith::ExtUIOp>(location, type.clone(builder.getI64Type()), indices);
}

Value codegen::loadIndex(VectorBuilder &vectors, Value pointer, Value position) {
  OpBuilder &builder = vectors.builder();
  Type integer = builder.getI32Type();
  Value index = builder.create<LLVM::LoadOp>(locationOf(vectors), integer,
                                             element(vectors, pointer, position, integer), 4);
  return builder.create<arith::ExtUIOp>(locationOf(vectors), builder.getI64Type(), index);
}

Value codegen::loadOffset(VectorBuilder &vectors, Value pointer, Value position) {
  OpBuilder &builder = vectors.builder();
  Type integer = builder.getI64Type();
  return builder.create<LLVM::LoadOp>(locationOf(vectors), integer,
                                      element(vectors, pointer, position, integer), 8);
}

Value codegen::gather(VectorBuilder &vectors, Value pointer, Value indices, Value mask,
                      Type cells) {
  OpBuilder &builder = vectors.builder();
  Location location = locationOf(vectors);
  auto pointers = LLVM::LLVMFixedVectorType::get(vectors.pointerType(), VectorBuilder::lanes);
  Value addresses = builder.create<LLVM::GEPOp>(location, pointers, cells, pointer, indices,
                                                /*inbounds=*/true);
  if (!mask)
    mask = vectors.maskBelow(VectorBuilder::lanes);
  Value none = vectors.number(0, cells);
  return builder.create<LLVM::masked_gather>(location, none.getType(), addresses, mask, none,
                                             cells.isF32() ? 4 : 8);
}

Value codegen::minimum(VectorBuilder &vectors, Value a, Value b) {
  return vectors.builder().create<arith::MinSIOp>(locationOf(vectors), a, b);
}

Value codegen::samePattern(VectorBuilder &vectors, Pattern a, Pattern b) {
  OpBuilder &builder = vectors.builder();
  Location location = locationOf(vectors);
  auto equal = [&](Value x, Value y) {
    return builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::eq, x, y);
  };
  return builder.create<arith::AndIOp>(location, equal(a.offsets, b.offsets),
                                       equal(a.indices, b.indices));
}

Value codegen::negate(VectorBuilder &vectors, Value condition) {
  OpBuilder &builder = vectors.builder();
  Value always = builder.create<arith::ConstantOp>(locationOf(vectors), builder.getBoolAttr(true));
  return builder.create<arith::XOrIOp>(locationOf(vectors), condition, always);
}
