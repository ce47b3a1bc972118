#include "codegen/TileFunction.h"

#include "abi/Kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static LLVM::LLVMFuncOp emitTileFunction(VectorBuilder &vectors, StringRef name, unsigned inputs,
                                         ArrayRef<unsigned> sparse, unsigned outputs,
                                         llvm::function_ref<void(const TileArguments &)> emitTile) {
  OpBuilder &builder = vectors.builder();
  unsigned readOnly = inputs + 2 * sparse.size(), pointers = readOnly + outputs + 4;
  SmallVector<Type> types(pointers, vectors.pointerType());
  types.append(2, builder.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto function = builder.create<LLVM::LLVMFuncOp>(builder.getUnknownLoc(), (name + "_tile").str(),
                                                   type, LLVM::Linkage::Internal);
  // Inlined, because one function compiles faster than two; inlining keeps the noalias facts.
  function.setPassthroughAttr(builder.getStrArrayAttr({"alwaysinline"}));
  for (unsigned i = 0; i < pointers; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  for (unsigned i = 0; i < readOnly; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());

  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto arguments = entry->getArguments();
  TileArguments tile;
  tile.inputs.assign(arguments.begin(), arguments.begin() + inputs);
  for (auto [number, input] : llvm::enumerate(sparse))
    tile.patterns[input] = {arguments[inputs + 2 * number], arguments[inputs + 2 * number + 1]};
  tile.outputs.assign(arguments.begin() + readOnly, arguments.begin() + readOnly + outputs);
  auto rest = arguments.drop_front(readOnly + outputs);
  tile.scalars = rest[0];
  tile.sizes = rest[1];
  tile.partials = rest[2];
  tile.scratch = rest[3];
  tile.begin = rest[4];
  tile.end = rest[5];
  emitTile(tile);
  builder.create<LLVM::ReturnOp>(builder.getUnknownLoc(), ValueRange());
  return function;
}

// A function of type TokKernel that does what is emitted and reports success.
static void emitEntryFunction(
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
                                  ArrayRef<unsigned> sparse, unsigned outputs,
                                  llvm::function_ref<void(const TileArguments &)> emitTile) {
  LLVM::LLVMFuncOp tile = emitTileFunction(vectors, name, inputs, sparse, outputs, emitTile);
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
    for (unsigned input : sparse) {
      Value arrays = vectors.pointerMember(arguments, offsetof(TokArguments, inputs));
      for (int64_t member : {offsetof(TokArray, rowOffsets), offsetof(TokArray, columnIndices)})
        operands.push_back(vectors.pointerMember(arrays, input * sizeof(TokArray) + member));
    }
    dataPointers(offsetof(TokArguments, outputs), outputs);
    operands.push_back(vectors.pointerMember(arguments, offsetof(TokArguments, scalars)));
    operands.push_back(vectors.pointerMember(arguments, offsetof(TokArguments, sizes)));
    operands.push_back(vectors.pointerMember(workspace, offsetof(TokWorkspace, partials)));
    operands.push_back(vectors.pointerMember(workspace, offsetof(TokWorkspace, scratch)));
    operands.push_back(vectors.integerMember(range, offsetof(TokTile, begin)));
    operands.push_back(vectors.integerMember(range, offsetof(TokTile, end)));
    vectors.builder().create<LLVM::CallOp>(vectors.builder().getUnknownLoc(), tile, operands);
  });
}
