#include "codegen/KernelEmitter.h"

#include "codegen/CellEmission.h"
#include "codegen/RowSchedule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

Reduction codegen::reductionOf(const Root &root) { return {root.aggregate, cellsOf(root.value)}; }

unsigned KernelContext::outputIndex(const Root &root) const {
  unsigned index = 0;
  for (const Root *other = body.roots().begin(); other != &root; ++other)
    index += other->kind == Root::Kind::Array;
  return index;
}

static Value partialSize(VectorBuilder &vectors, const KernelBody &body, const Root &root,
                         Value columns) {
  auto width = [&](Value value) {
    auto constant = constantWidth(body, value);
    return constant ? vectors.integer(*constant) : columns;
  };
  if (root.kind == Root::Kind::FullAggregate)
    return vectors.integer(VectorBuilder::lanes);
  Value cells = width(root.value);
  if (root.kind == Root::Kind::TransposedProduct)
    cells = vectors.multiply(cells, width(root.factor));
  return vectors.roundDownToLanes(vectors.add(cells, vectors.integer(VectorBuilder::lanes - 1)));
}

Value KernelContext::partialSize(const Root &root) {
  return ::partialSize(vectors, body, root, tile.columns);
}

Value KernelContext::partialPointer(const Root &root) {
  Value pointer = tile.partials;
  for (const Root *other = body.roots().begin(); other != &root; ++other)
    if (other->kind != Root::Kind::Array)
      pointer = vectors.offset(pointer, partialSize(*other));
  return pointer;
}

Contribution KernelContext::contribution(Value value, AggregateKind kind,
                                         llvm::function_ref<Value(Value)> valueOf) const {
  if (plan::BinaryOp product = productInSum(kind, value))
    return {valueOf(product.getLhs()), valueOf(product.getRhs())};
  return {valueOf(value), {}};
}

static Value columnsOf(VectorBuilder &vectors, const KernelBody &body, Value arguments) {
  if (auto columns = body.constantColumns())
    return vectors.integer(*columns);
  return vectors.integerMember(arguments, offsetof(TokArguments, extents) + sizeof(int64_t));
}

// Emits uniform values (scalars, 1×1 arrays, literals and their combinations) once, at the
// beginning of the tile function.
static void emitUniformValues(KernelContext &kernel) {
  VectorBuilder &vectors = kernel.vectors;
  for (Operation &operation : kernel.body.block()) {
    auto read = dyn_cast<plan::ReadOp>(operation);
    if ((!read && !isCell(&operation)) ||
        kernel.body.extentOf(operation.getResult(0)) != Extent::Uniform)
      continue;
    Value &uniform = kernel.uniform[operation.getResult(0)];
    if (read) {
      unsigned index = kernel.body.inputIndex(read);
      uniform = tok::isArray(read.getOperand().getType())
                    ? vectors.splat(vectors.loadCell(kernel.tile.inputs[index], {}, cellsOf(read)))
                    : emitScalar(vectors, kernel.tile.scalars, index, cellsOf(read));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : operation.getOperands())
      operands.push_back(kernel.uniform.lookup(operand));
    kernel.uniform[operation.getResult(0)] = emitCell(vectors, &operation, operands);
  }
}

static unsigned arrayOutputs(const KernelBody &body) {
  return llvm::count_if(body.roots(),
                        [](const Root &root) { return root.kind == Root::Kind::Array; });
}

// Emits what computes a tile; returns the scratch memory that it needs.
static ScratchSize emitTile(const KernelBody &body, VectorBuilder &vectors,
                            const TileArguments &tile) {
  KernelContext kernel{body, vectors, tile, llvm::DenseMap<Value, Value>()};
  if (body.constantColumns())
    kernel.tile.columns = vectors.integer(*body.constantColumns());
  emitUniformValues(kernel);
  if (!body.isFlat())
    return emitRowTile(kernel);
  emitFlatTile(kernel);
  return {};
}

static void emitMergeFunction(const KernelBody &body, StringRef name, VectorBuilder &vectors) {
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
  Value columns = columnsOf(vectors, body, entry->getArgument(0));
  for (const Root &root : body.roots()) {
    if (root.kind == Root::Kind::Array)
      continue;
    Value size = partialSize(vectors, body, root, columns);
    State none;
    vectors.forLoop(vectors.integer(0), size, VectorBuilder::lanes, none, [&](Value i, State &) {
      Value target = vectors.offset(into, i);
      Reduction reduction = reductionOf(root);
      Value merged = combine(vectors, reduction, loadPartials(vectors, reduction, target),
                             loadPartials(vectors, reduction, vectors.offset(from, i)));
      vectors.store(merged, target, {});
    });
    into = vectors.offset(into, size);
    from = vectors.offset(from, size);
  }
  builder.create<LLVM::ReturnOp>(location, ValueRange());
}

OwningOpRef<ModuleOp> codegen::emitKernel(const KernelBody &body, StringRef name,
                                          MLIRContext *context, abi::KernelPlan &plan) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context), name);
  VectorBuilder vectors(*module);
  ScratchSize scratch;
  emitKernelFunctions(vectors, name, body.arrayCount(), arrayOutputs(body),
                      [&](const TileArguments &tile) { scratch = emitTile(body, vectors, tile); });
  if (arrayOutputs(body) != body.roots().size())
    emitMergeFunction(body, name, vectors);
  plan.scratchDoublesPerColumn = scratch.lines;
  plan.scratchDoubles = scratch.doubles;
  return module;
}
