#include "codegen/TileFunction.h"

#include "abi/Kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static LLVM::LLVMFuncOp emitTileFunction(VectorBuilder &vectors, StringRef name, unsigned inputs,
                                         unsigned outputs,
                                         llvm::function_ref<void(const TileArguments &)> emitTile) {
  OpBuilder &builder = vectors.builder();
  unsigned pointers = inputs + outputs + 4;
  SmallVector<Type> types(pointers, vectors.pointerType());
  types.append(3, builder.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto function = builder.create<LLVM::LLVMFuncOp>(builder.getUnknownLoc(), (name + "_tile").str(),
                                                   type, LLVM::Linkage::Internal);
  // Inlined, because one function compiles faster than two; inlining keeps the noalias facts.
  function.setPassthroughAttr(builder.getStrArrayAttr({"alwaysinline"}));
  for (unsigned i = 0; i < pointers; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  for (unsigned i = 0; i < inputs; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());

  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto arguments = entry->getArguments();
  TileArguments tile;
  tile.inputs.assign(arguments.begin(), arguments.begin() + inputs);
  tile.outputs.assign(arguments.begin() + inputs, arguments.begin() + inputs + outputs);
  auto rest = arguments.drop_front(inputs + outputs);
  tile.scalars = rest[0];
  tile.sizes = rest[1];
  tile.partials = rest[2];
  tile.scratch = rest[3];
  tile.begin = rest[4];
  tile.end = rest[5];
  tile.columns = rest[6];
  emitTile(tile);
  builder.create<LLVM::ReturnOp>(builder.getUnknownLoc(), ValueRange());
  return function;
}

void codegen::emitEntryFunction(
    VectorBuilder &vectors, StringRef name,
    llvm::function_ref<void(Value arguments, Value range, Value workspace)> emitBody) {
  OpBuilder &builder = vectors.builder();
  Location location = builder.getUnknownLoc();
  Type pointer = vectors.pointerType();
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer, pointer});
  auto function = builder.create<LLVM::LLVMFuncOp>(location, name, type);
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  emitBody(entry->getArgument(0), entry->getArgument(1), entry->getArgument(2));
  Value status = builder.create<LLVM::ConstantOp>(location, builder.getI32Type(),
                                                  builder.getI32IntegerAttr(0));
  builder.create<LLVM::ReturnOp>(location, status);
}

void codegen::emitKernelFunctions(VectorBuilder &vectors, StringRef name, unsigned inputs,
                                  unsigned outputs,
                                  llvm::function_ref<void(const TileArguments &)> emitTile) {
  LLVM::LLVMFuncOp tile = emitTileFunction(vectors, name, inputs, outputs, emitTile);
  emitEntryFunction(vectors, name, [&](Value arguments, Value range, Value workspace) {
    SmallVector<Value> operands;
    auto dataPointers = [&](int64_t member, unsigned count) {
      if (count == 0)
        return;
      Value arrays = vectors.pointerMember(arguments, member);
      for (unsigned i = 0; i < count; ++i)
        operands.push_back(
            vectors.pointerMember(arrays, i * sizeof(TokArray) + offsetof(TokArray, data)));
    };
    dataPointers(offsetof(TokArguments, inputs), inputs);
    dataPointers(offsetof(TokArguments, outputs), outputs);
    operands.push_back(vectors.pointerMember(arguments, offsetof(TokArguments, scalars)));
    operands.push_back(vectors.pointerMember(arguments, offsetof(TokArguments, sizes)));
    operands.push_back(vectors.pointerMember(workspace, offsetof(TokWorkspace, partials)));
    operands.push_back(vectors.pointerMember(workspace, offsetof(TokWorkspace, scratch)));
    operands.push_back(vectors.integerMember(range, offsetof(TokTile, begin)));
    operands.push_back(vectors.integerMember(range, offsetof(TokTile, end)));
    operands.push_back(
        vectors.integerMember(arguments, offsetof(TokArguments, extents) + sizeof(int64_t)));
    vectors.builder().create<LLVM::CallOp>(vectors.builder().getUnknownLoc(), tile, operands);
  });
}
