#include "ir/tok/RunnableProgram.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/TokDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

// The maximum rank of arrays in the runtime.
static constexpr int64_t mostDimensions = 8;

// Why a type can't run; empty if it can.
static std::string complaintAbout(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array)
    return isScalar(type) || isa<ListType, FrameType, NoneType>(type) ? ""
                                                                      : "no type of a tok program";
  if (!elementTypeOf(array))
    return "arrays run with elements of type f64, f32, f16, bf16, i8 to i64, ui8 to ui64 or i1";
  if (array.getRank() < 1 || array.getRank() > mostDimensions)
    return "arrays have one to " + std::to_string(mostDimensions) + " dimensions";
  for (int64_t size : array.getShape())
    if (!ShapedType::isDynamic(size))
      return "sizes are facts, not part of the type: write ? for each, and tok.assume to state one";
  return "";
}

static LogicalResult verifyTypes(Operation *op) {
  auto check = [op](Type type) -> LogicalResult {
    std::string complaint = complaintAbout(type);
    return complaint.empty() ? success() : op->emitError() << type << ": " << complaint;
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  for (Region &region : op->getRegions())
    for (mlir::Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(check(argument.getType())))
          return failure();
  return success();
}

// The runtime converts the arrays that a native gives to one element type.
static LogicalResult verifyOneElementType(Operation *op) {
  std::optional<ElementType> type;
  for (Type result : op->getResultTypes()) {
    if (!isArray(result))
      continue;
    if (type && type != elementTypeOf(result))
      return op->emitError("all arrays that a native gives have the same element type");
    type = elementTypeOf(result);
  }
  return success();
}

static LogicalResult verifyOperation(Operation *op) {
  if (isa<ExecuteOp>(op))
    return op->emitError("tok.execute is what the compiler makes of a block; call functions by "
                         "tok.call");
  bool isProgram = isa<ModuleOp, FunctionOpInterface>(op) ||
                   isa_and_present<TokDialect>(op->getDialect()) || isFusedOperator(op) ||
                   op->getName().getStringRef() == "func.return";
  if (!isProgram)
    return op->emitError("a program consists of tok operations, plan.operator, func.func and "
                         "return, not of '")
           << op->getName().getStringRef() << "'";
  if (failed(verifyTypes(op)))
    return failure();
  if (!isa<NativeOpInterface>(op))
    return success();
  if (failed(verifyNative(op)) || failed(verifyOneElementType(op)))
    return failure();
  if (nativeRowOf(op)->ranks == NativeRanks::Matrices)
    for (auto types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      if (auto tensor = llvm::find_if(types, isTensor); tensor != types.end())
        return op->emitError() << op->getName().getStringRef() << " is of matrices, not of "
                               << *tensor << "; tok.view shows an array as a matrix";
  return success();
}

LogicalResult tok::verifyRunnable(ModuleOp module) {
  auto main = module.lookupSymbol<FunctionOpInterface>("main");
  if (!main)
    return module.emitError("a program begins in `func.func @main()`, and there is none");
  if (main.getNumArguments() != 0 || main.getNumResults() != 0 || main.isExternal())
    return main.emitError("@main has a body, and neither parameters nor results");
  bool wrong = false;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    wrong |= failed(verifyOperation(op));
    return isFusedOperator(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(wrong);
}
