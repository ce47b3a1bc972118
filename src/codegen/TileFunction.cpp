#include "codegen/TileFunction.h"

#include "abi/Kernel.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <cstddef>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

// Loads what a function of type TokKernel is called with.
static TileArguments unpack(VectorBuilder &vectors, Block &entry, const abi::KernelPlan &plan) {
  Value arguments = entry.getArgument(0), range = entry.getArgument(1),
        workspace = entry.getArgument(2);
  auto memberOfArray = [&](Value arrays, size_t number, size_t member) {
    return vectors.pointerMember(arrays, static_cast<int64_t>(number * sizeof(TokArray) + member));
  };
  TileArguments tile;
  Value arrays = vectors.pointerMember(arguments, offsetof(TokArguments, inputs));
  for (size_t number = 0; number < plan.inputs.size(); ++number)
    tile.inputs.push_back(memberOfArray(arrays, number, offsetof(TokArray, data)));
  for (auto [number, input] : llvm::enumerate(plan.inputs))
    if (input.layout == TOK_CSR)
      tile.patterns[number] = {memberOfArray(arrays, number, offsetof(TokArray, rowOffsets)),
                               memberOfArray(arrays, number, offsetof(TokArray, columnIndices))};
  arrays = vectors.pointerMember(arguments, offsetof(TokArguments, outputs));
  size_t written = 0;
  for (const abi::KernelOutput &output : plan.outputs) {
    bool isArray = output.kind == abi::KernelOutput::Kind::Array;
    auto member =
        static_cast<int64_t>(written * sizeof(TokArray) + offsetof(TokArray, bypassesCaches));
    Type byte = vectors.builder().getI8Type();
    tile.bypassing.push_back(isArray ? vectors.loadMember(arrays, member, byte) : Value());
    tile.outputs.push_back(isArray ? memberOfArray(arrays, written++, offsetof(TokArray, data))
                                   : Value());
  }
  tile.scalars = vectors.pointerMember(arguments, offsetof(TokArguments, scalars));
  tile.sizes = vectors.pointerMember(arguments, offsetof(TokArguments, sizes));
  tile.partials = vectors.pointerMember(workspace, offsetof(TokWorkspace, partials));
  tile.scratch = vectors.pointerMember(workspace, offsetof(TokWorkspace, scratch));
  tile.begin = vectors.integerMember(range, offsetof(TokTile, begin));
  tile.end = vectors.integerMember(range, offsetof(TokTile, end));
  return tile;
}

// The parameters of name_tile in their order; what is only read comes first.
static SmallVector<Value *> parametersOf(TileArguments &tile) {
  SmallVector<Value *> parameters;
  for (Value &input : tile.inputs)
    parameters.push_back(&input);
  for (auto &[input, pattern] : tile.patterns)
    parameters.append({&pattern.offsets, &pattern.indices});
  for (auto *results : {&tile.outputs, &tile.bypassing})
    for (Value &result : *results)
      if (result)
        parameters.push_back(&result);
  parameters.append(
      {&tile.scalars, &tile.sizes, &tile.partials, &tile.scratch, &tile.begin, &tile.end});
  return parameters;
}

void codegen::emitKernelFunctions(VectorBuilder &vectors, StringRef name,
                                  const abi::KernelPlan &plan,
                                  llvm::function_ref<void(const TileArguments &)> emitTile) {
  OpBuilder &builder = vectors.builder();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> pointers(3, vectors.pointerType());
  auto kernel = vectors.create<LLVM::LLVMFuncOp>(
      name, LLVM::LLVMFunctionType::get(builder.getI32Type(), pointers));
  Block *entry = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  TileArguments tile = unpack(vectors, *entry, plan);
  SmallVector<Value *> parameters = parametersOf(tile);
  auto operands = llvm::map_to_vector(parameters, [](Value *parameter) { return *parameter; });
  std::string tileName = (name + "_tile").str();
  vectors.create<LLVM::CallOp>(TypeRange(), tileName, operands);
  Value success = vectors.create<LLVM::ConstantOp>(builder.getI32IntegerAttr(0));
  vectors.create<LLVM::ReturnOp>(success);

  builder.setInsertionPoint(kernel);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                          llvm::to_vector(TypeRange(ValueRange(operands))));
  auto function = vectors.create<LLVM::LLVMFuncOp>(tileName, type, LLVM::Linkage::Internal);
  // Inlined, because one function compiles faster than two; inlining keeps the noalias facts.
  function.setPassthroughAttr(builder.getStrArrayAttr({"alwaysinline"}));
  for (auto [number, operand] : llvm::enumerate(operands)) {
    if (operand.getType() == vectors.pointerType())
      function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    if (number < tile.inputs.size() + 2 * tile.patterns.size())
      function.setArgAttr(number, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
  }
  Block *body = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  for (auto [parameter, argument] : llvm::zip_equal(parameters, body->getArguments()))
    *parameter = argument;
  emitTile(tile);
  vectors.create<LLVM::ReturnOp>(ValueRange());
}
