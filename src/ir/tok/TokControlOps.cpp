// Structured control flow of the `tok` dialect: interfaces, verifiers, textual form.
#include "ir/tok/TokDialect.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

//===- if ------------------------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  for (Region *region : {&getThenRegion(), &getElseRegion()}) {
    auto yield = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!yield || yield.getOperandTypes() != getResultTypes())
      return emitOpError("both branches must yield the types of the results");
  }
  return success();
}

void IfOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent()) {
    regions.push_back(RegionSuccessor(getResults()));
    return;
  }
  regions.push_back(RegionSuccessor(&getThenRegion()));
  regions.push_back(RegionSuccessor(&getElseRegion()));
}

void IfOp::getEntrySuccessorRegions(ArrayRef<Attribute> operands,
                                    SmallVectorImpl<RegionSuccessor> &regions) {
  auto condition = dyn_cast_or_null<IntegerAttr>(operands.front());
  if (!condition || condition.getValue().getBoolValue())
    regions.push_back(RegionSuccessor(&getThenRegion()));
  if (!condition || !condition.getValue().getBoolValue())
    regions.push_back(RegionSuccessor(&getElseRegion()));
}

void IfOp::getRegionInvocationBounds(ArrayRef<Attribute> operands,
                                     SmallVectorImpl<InvocationBounds> &bounds) {
  auto condition = dyn_cast_or_null<IntegerAttr>(operands.front());
  bool known = condition != nullptr;
  bool value = known && condition.getValue().getBoolValue();
  bounds.emplace_back(known && value ? 1 : 0, known && !value ? 0 : 1);
  bounds.emplace_back(known && !value ? 1 : 0, known && value ? 0 : 1);
}

namespace {

// Replaces an `if` with a constant condition by the branch taken.
struct TakeConstantBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    auto condition = op.getCondition().getDefiningOp<ConstantOp>();
    if (!condition)
      return failure();
    bool taken = cast<IntegerAttr>(condition.getValue()).getValue().getBoolValue();
    Block &block = (taken ? op.getThenRegion() : op.getElseRegion()).front();
    Operation *yield = block.getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.inlineBlockBefore(&block, op);
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TakeConstantBranch>(context);
}

//===- while ---------------------------------------------------------------------------------===//

MutableOperandRange ConditionOp::getMutableSuccessorOperands(RegionBranchPoint) {
  return getInputsMutable();
}

void ConditionOp::getSuccessorRegions(ArrayRef<Attribute> operands,
                                      SmallVectorImpl<RegionSuccessor> &regions) {
  auto loop = cast<WhileOp>((*this)->getParentOp());
  auto condition = dyn_cast_or_null<IntegerAttr>(operands.front());
  if (!condition || condition.getValue().getBoolValue())
    regions.push_back(RegionSuccessor(&loop.getBodyRegion(), loop.getBodyRegion().getArguments()));
  if (!condition || !condition.getValue().getBoolValue())
    regions.push_back(RegionSuccessor(loop.getResults()));
}

OperandRange WhileOp::getEntrySuccessorOperands(RegionBranchPoint) { return getInits(); }

void WhileOp::getSuccessorRegions(RegionBranchPoint point,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent() || point == getBodyRegion()) {
    regions.push_back(RegionSuccessor(&getConditionRegion(), getConditionRegion().getArguments()));
    return;
  }
  regions.push_back(RegionSuccessor(&getBodyRegion(), getBodyRegion().getArguments()));
  regions.push_back(RegionSuccessor(getResults()));
}

SmallVector<Region *> WhileOp::getLoopRegions() {
  return {&getConditionRegion(), &getBodyRegion()};
}
Block::BlockArgListType WhileOp::getRegionIterArgs() { return getConditionRegion().getArguments(); }
std::optional<MutableArrayRef<OpOperand>> WhileOp::getYieldedValuesMutable() {
  return getBodyRegion().front().getTerminator()->getOpOperands();
}
std::optional<ResultRange> WhileOp::getLoopResults() { return getResults(); }

LogicalResult WhileOp::verify() {
  auto condition = dyn_cast<ConditionOp>(getConditionRegion().front().getTerminator());
  auto yield = dyn_cast<YieldOp>(getBodyRegion().front().getTerminator());
  TypeRange types = getInits().getTypes();
  if (!condition || condition.getInputs().getTypes() != types || !yield ||
      yield.getOperandTypes() != types || getResultTypes() != types ||
      getConditionRegion().getArgumentTypes() != types ||
      getBodyRegion().getArgumentTypes() != types)
    return emitOpError("the carried values must have the same types everywhere");
  return success();
}

// Parses the carried values: `(%a = %init, ...) : (types)`.
static ParseResult parseCarried(OpAsmParser &parser, OperationState &result,
                                SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  if (parser.parseAssignmentList(arguments, inits) || parser.parseColonTypeList(result.types))
    return failure();
  if (arguments.size() != result.types.size())
    return parser.emitError(parser.getNameLoc(), "as many types as carried values expected");
  for (auto [argument, type] : llvm::zip(arguments, result.types))
    argument.type = type;
  return parser.resolveOperands(inits, result.types, parser.getNameLoc(), result.operands);
}

static void printCarried(OpAsmPrinter &printer, ValueRange arguments, ValueRange inits) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(arguments, inits), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
  printer << " : " << inits.getTypes();
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  Region *condition = result.addRegion();
  Region *body = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("carrying")))
    if (parseCarried(parser, result, arguments))
      return failure();
  if (parser.parseRegion(*condition, arguments) || parser.parseKeyword("do") ||
      parser.parseRegion(*body, arguments))
    return failure();
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void WhileOp::print(OpAsmPrinter &printer) {
  if (!getInits().empty()) {
    printer << " carrying ";
    printCarried(printer, getConditionRegion().getArguments(), getInits());
  }
  printer << ' ';
  printer.printRegion(getConditionRegion(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.shadowRegionArgs(getBodyRegion(), getConditionRegion().getArguments());
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
}

//===- for, parfor ---------------------------------------------------------------------------===//

OperandRange ForOp::getEntrySuccessorOperands(RegionBranchPoint) { return getInits(); }
OperandRange ParForOp::getEntrySuccessorOperands(RegionBranchPoint) { return getInits(); }

template <typename Loop>
static void loopSuccessors(Loop loop, SmallVectorImpl<RegionSuccessor> &regions) {
  regions.push_back(
      RegionSuccessor(&loop.getBodyRegion(), loop.getBodyRegion().getArguments().drop_front()));
  regions.push_back(RegionSuccessor(loop.getResults()));
}
void ForOp::getSuccessorRegions(RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  loopSuccessors(*this, regions);
}
void ParForOp::getSuccessorRegions(RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &regions) {
  loopSuccessors(*this, regions);
}
SmallVector<Region *> ForOp::getLoopRegions() { return {&getBodyRegion()}; }
SmallVector<Region *> ParForOp::getLoopRegions() { return {&getBodyRegion()}; }
Block::BlockArgListType ForOp::getRegionIterArgs() {
  return getBodyRegion().getArguments().drop_front();
}
Block::BlockArgListType ParForOp::getRegionIterArgs() {
  return getBodyRegion().getArguments().drop_front();
}
std::optional<MutableArrayRef<OpOperand>> ForOp::getYieldedValuesMutable() {
  return getBodyRegion().front().getTerminator()->getOpOperands();
}
std::optional<MutableArrayRef<OpOperand>> ParForOp::getYieldedValuesMutable() {
  return getBodyRegion().front().getTerminator()->getOpOperands();
}
std::optional<ResultRange> ForOp::getLoopResults() { return getResults(); }
std::optional<ResultRange> ParForOp::getLoopResults() { return getResults(); }

template <typename Loop> static LogicalResult verifyLoop(Loop loop) {
  TypeRange types = loop.getInits().getTypes();
  Region &body = loop.getBodyRegion();
  auto yield = dyn_cast<YieldOp>(body.front().getTerminator());
  if (body.getNumArguments() != types.size() + 1 || !body.getArgument(0).getType().isInteger(64))
    return loop.emitOpError("the body takes the counter (i64) and the carried values");
  if (!yield || yield.getOperandTypes() != types || loop.getResultTypes() != types ||
      TypeRange(body.getArgumentTypes()).drop_front() != types)
    return loop.emitOpError("the carried values must have the same types everywhere");
  return success();
}
LogicalResult ForOp::verify() { return verifyLoop(*this); }
LogicalResult ParForOp::verify() { return verifyLoop(*this); }

// Parses `%i = %from to %to step %step carrying (%a = %init) : type { ... }`.
static ParseResult parseLoop(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments(1);
  OpAsmParser::UnresolvedOperand from, to, step;
  Type i64 = parser.getBuilder().getI64Type();
  if (parser.parseArgument(arguments[0]) || parser.parseEqual() || parser.parseOperand(from) ||
      parser.parseKeyword("to") || parser.parseOperand(to) || parser.parseKeyword("step") ||
      parser.parseOperand(step) || parser.resolveOperands({from, to, step}, i64, result.operands))
    return failure();
  arguments[0].type = i64;
  SmallVector<OpAsmParser::Argument> carried;
  if (succeeded(parser.parseOptionalKeyword("carrying")))
    if (parseCarried(parser, result, carried))
      return failure();
  llvm::append_range(arguments, carried);
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

template <typename Loop> static void printLoop(OpAsmPrinter &printer, Loop loop) {
  auto arguments = loop.getBodyRegion().getArguments();
  printer << ' ' << arguments[0] << " = " << loop.getFrom() << " to " << loop.getTo() << " step "
          << loop.getStep();
  if (!loop.getInits().empty()) {
    printer << " carrying ";
    printCarried(printer, arguments.drop_front(), loop.getInits());
  }
  printer << ' ';
  printer.printRegion(loop.getBodyRegion(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDictWithKeyword(loop->getAttrs());
}
ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseLoop(parser, result);
}
ParseResult ParForOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseLoop(parser, result);
}
void ForOp::print(OpAsmPrinter &printer) { printLoop(printer, *this); }
void ParForOp::print(OpAsmPrinter &printer) { printLoop(printer, *this); }

//===- call, execute -------------------------------------------------------------------------===//

static LogicalResult verifyCallee(Operation *op, FlatSymbolRefAttr name,
                                  SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(op, name);
  if (!function)
    return op->emitOpError("no function ") << name;
  if (function.getArgumentTypes() != op->getOperandTypes() ||
      function.getResultTypes() != op->getResultTypes())
    return op->emitOpError("operand and result types differ from those of ") << name;
  return success();
}
Operation::operand_range CallOp::getArgOperands() { return getInputs(); }
MutableOperandRange CallOp::getArgOperandsMutable() { return getInputsMutable(); }
CallInterfaceCallable CallOp::getCallableForCallee() { return getCalleeAttr(); }
void CallOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setCalleeAttr(cast<FlatSymbolRefAttr>(callee.get<SymbolRefAttr>()));
}
LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCalleeAttr(), symbols);
}
LogicalResult ExecuteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getBlockAttr(), symbols);
}
