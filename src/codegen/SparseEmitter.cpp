#include "codegen/SparseEmitter.h"

#include "codegen/LaunchSizes.h"

#include "codegen/SparseTile.h"
#include "codegen/TileFunction.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static unsigned arrayOutputs(const SparseBody &body) {
  return llvm::count_if(
      body.roots(), [](const SparseRoot &root) { return root.kind == SparseRoot::Kind::Array; });
}

static SmallVector<BlockArgument> arrayInputs(const SparseBody &body) {
  SmallVector<BlockArgument> inputs;
  for (BlockArgument argument : body.op().getBody().getArguments())
    if (tok::isArray(argument.getType()))
      inputs.push_back(argument);
  return inputs;
}

// Visits the pointers and sizes that name_tile takes, in the order of its parameters.
static void forEachArgument(const SparseBody &body, SparseArguments &arguments,
                            llvm::function_ref<void(Value &)> pointer,
                            llvm::function_ref<void(Value &)> size) {
  for (auto [argument, input] : llvm::zip(arrayInputs(body), arguments.inputs)) {
    pointer(input.data);
    if (body.op().isSparseOperand(argument.getArgNumber())) {
      pointer(input.offsets);
      pointer(input.indices);
    }
  }
  for (Value &output : arguments.outputs)
    pointer(output);
  for (Value *rest : {&arguments.scalars, &arguments.partials, &arguments.scratch})
    pointer(*rest);
  for (Value *row : {&arguments.begin, &arguments.end})
    size(*row);
  for (SparseInput &input : arguments.inputs)
    size(input.columns);
}

static SparseArguments emptyArguments(const SparseBody &body) {
  SparseArguments arguments;
  arguments.inputs.resize(body.arrayCount());
  arguments.outputs.resize(arrayOutputs(body));
  return arguments;
}

static LLVM::LLVMFuncOp emitTileFunction(const SparseBody &body, StringRef name,
                                         VectorBuilder &vectors, abi::KernelPlan &plan) {
  OpBuilder &builder = vectors.builder();
  SparseArguments arguments = emptyArguments(body);
  SmallVector<Type> types;
  forEachArgument(
      body, arguments, [&](Value &) { types.push_back(vectors.pointerType()); },
      [&](Value &) { types.push_back(builder.getI64Type()); });
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto function = builder.create<LLVM::LLVMFuncOp>(builder.getUnknownLoc(), (name + "_tile").str(),
                                                   type, LLVM::Linkage::Internal);
  // Inlined, because one function compiles faster than two; inlining keeps the noalias facts.
  function.setPassthroughAttr(builder.getStrArrayAttr({"alwaysinline"}));
  for (auto [number, parameter] : llvm::enumerate(types))
    if (parameter == vectors.pointerType())
      function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());

  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  unsigned number = 0;
  auto take = [&](Value &value) { value = entry->getArgument(number++); };
  forEachArgument(body, arguments, take, take);
  SmallVector<SmallVector<Size>> sizes = body.op().operandSizes();
  for (auto [argument, input] : llvm::zip(arrayInputs(body), arguments.inputs)) {
    input.cells = vectors.registerType(*tok::elementTypeOf(argument.getType()));
    if (Size columns = sizes[argument.getArgNumber()].back(); columns.isConstant())
      input.columns = vectors.integer(columns.constantValue());
  }
  SparseTile(body, vectors, std::move(arguments)).emit(plan);
  builder.create<LLVM::ReturnOp>(builder.getUnknownLoc(), ValueRange());
  return function;
}

static int64_t memberOfInput(int64_t input, int64_t member) {
  return input * static_cast<int64_t>(sizeof(TokArray)) + member;
}

// Calls the tile function with what the kernel is given.
static void emitCall(const SparseBody &body, VectorBuilder &vectors, LLVM::LLVMFuncOp tile,
                     Value packed, Value range, Value workspace) {
  SparseArguments arguments = emptyArguments(body);
  Value inputs = vectors.pointerMember(packed, offsetof(TokArguments, inputs));
  for (auto [number, argument] : llvm::enumerate(arrayInputs(body))) {
    SparseInput &input = arguments.inputs[number];
    auto member = [&](int64_t offset) {
      return vectors.pointerMember(inputs, memberOfInput(number, offset));
    };
    input.data = member(offsetof(TokArray, data));
    if (body.op().isSparseOperand(argument.getArgNumber())) {
      input.offsets = member(offsetof(TokArray, rowOffsets));
      input.indices = member(offsetof(TokArray, columnIndices));
    }
    input.columns = vectors.integerMember(
        inputs, memberOfInput(number, offsetof(TokArray, dims) + sizeof(int64_t)));
  }
  if (!arguments.outputs.empty()) {
    Value outputs = vectors.pointerMember(packed, offsetof(TokArguments, outputs));
    for (auto [number, output] : llvm::enumerate(arguments.outputs))
      output = vectors.pointerMember(outputs, memberOfInput(number, offsetof(TokArray, data)));
  }
  arguments.scalars = vectors.pointerMember(packed, offsetof(TokArguments, scalars));
  arguments.partials = vectors.pointerMember(workspace, offsetof(TokWorkspace, partials));
  arguments.scratch = vectors.pointerMember(workspace, offsetof(TokWorkspace, scratch));
  arguments.begin = vectors.integerMember(range, offsetof(TokTile, begin));
  arguments.end = vectors.integerMember(range, offsetof(TokTile, end));
  SmallVector<Value> operands;
  auto give = [&](Value &value) { operands.push_back(value); };
  forEachArgument(body, arguments, give, give);
  vectors.builder().create<LLVM::CallOp>(vectors.builder().getUnknownLoc(), tile, operands);
}

static void emitMergeFunction(const SparseBody &body, StringRef name, VectorBuilder &vectors) {
  OpBuilder &builder = vectors.builder();
  Location location = builder.getUnknownLoc();
  Type pointer = vectors.pointerType();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                          {pointer, pointer, pointer});
  auto function = builder.create<LLVM::LLVMFuncOp>(location, (name + "_merge").str(), type);
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value into = entry->getArgument(1), from = entry->getArgument(2);
  Value inputs = vectors.pointerMember(entry->getArgument(0), offsetof(TokArguments, inputs));
  auto valueOf = [&](const Size &dimension) {
    return sizeValue(vectors, sizeAtLaunch(body.op(), dimension), [&](int64_t input, int number) {
      return vectors.integerMember(
          inputs, memberOfInput(input, offsetof(TokArray, dims) +
                                           number * static_cast<int64_t>(sizeof(int64_t))));
    });
  };
  for (const SparseRoot &root : body.roots()) {
    if (root.kind == SparseRoot::Kind::Array)
      continue;
    Value size = sparsePartialSize(vectors, body, root, valueOf);
    vectors.forLoop(vectors.integer(0), size, VectorBuilder::lanes, [&](Value i) {
      Value target = vectors.offset(into, i);
      vectors.store(combine(vectors, root.aggregate, vectors.load(target, {}),
                            vectors.load(vectors.offset(from, i), {})),
                    target, {});
    });
    into = vectors.offset(into, size);
    from = vectors.offset(from, size);
  }
  builder.create<LLVM::ReturnOp>(location, ValueRange());
}

OwningOpRef<ModuleOp> codegen::emitSparseKernel(const SparseBody &body, StringRef name,
                                                MLIRContext *context, abi::KernelPlan &plan) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context), name);
  VectorBuilder vectors(*module);
  LLVM::LLVMFuncOp tile = emitTileFunction(body, name, vectors, plan);
  emitEntryFunction(vectors, name, [&](Value packed, Value range, Value workspace) {
    emitCall(body, vectors, tile, packed, range, workspace);
  });
  if (arrayOutputs(body) != body.roots().size())
    emitMergeFunction(body, name, vectors);
  return module;
}
