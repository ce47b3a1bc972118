#include "ir/plan/PlanDialect.h"

#include "ir/tok/InferFacts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;

#include "PlanDialect.cpp.inc"
#define GET_OP_CLASSES
#include "PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "PlanOps.cpp.inc"
      >();
}

static constexpr StringRef templateNames[] = {"cell", "row", "multiagg", "outer"};

StringRef plan::name(FusionTemplate fusionTemplate) {
  return templateNames[static_cast<int>(fusionTemplate)];
}

FusionTemplate plan::templateOf(OperatorOp op) {
  for (size_t i = 0; i < std::size(templateNames); ++i)
    if (templateNames[i] == op.getFusionTemplate())
      return static_cast<FusionTemplate>(i);
  llvm_unreachable("verified");
}

llvm::DenseMap<Value, tok::Facts> plan::bodyFacts(OperatorOp op) {
  llvm::DenseMap<Value, tok::Facts> facts;
  Block &body = op.getBody().front();
  SmallVector<Size> sizes = op.operandSizes();
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    tok::Facts &known = facts[argument];
    if (!tok::isArray(argument.getType()))
      continue;
    known = tok::Facts::matrix(sizes[2 * index], sizes[2 * index + 1]);
    if (op.isCsrOperand(index))
      known.layout = tok::Layout::Csr;
  }
  for (Operation &operation : body) {
    SmallVector<tok::Facts> operands, results(operation.getNumResults());
    for (Value operand : operation.getOperands())
      operands.push_back(facts.lookup(operand));
    tok::inferFacts(&operation, operands, results);
    for (auto [result, fact] : llvm::zip(operation.getResults(), results))
      facts[result] = fact;
  }
  return facts;
}

SmallVector<Size> OperatorOp::operandSizes() { return *tok::sizesOf(getSizes()); }

LogicalResult OperatorOp::verify() {
  if (!llvm::is_contained(templateNames, getFusionTemplate()))
    return emitOpError("no template ") << getFusionTemplate();
  std::optional<SmallVector<Size>> sizes = tok::sizesOf(getSizes());
  if (!sizes || sizes->size() != 2 * getInputs().size())
    return emitOpError("sizes has rows and columns of every operand");
  auto areOperands = [&](ArrayRef<int64_t> numbers) {
    return llvm::all_of(numbers, [&](int64_t number) {
      return number >= 0 && number < getNumOperands() && tok::isArray(getOperand(number).getType());
    });
  };
  if (getCsr() && !areOperands(*getCsr()))
    return emitOpError("csr lists operands that are arrays");
  if (getDriver() && !isCsrOperand(*getDriver()))
    return emitOpError("the driver is a CSR operand");
  auto hasSizesOfDriver = [&](int64_t number) {
    ArrayRef<Size> all = *sizes;
    return all.slice(2 * number, 2) == all.slice(2 * *getDriver(), 2);
  };
  if (getUnited() && !(getDriver() && isUnitedOperand(*getDriver()) &&
                       llvm::all_of(*getUnited(), [&](int64_t number) {
                         return isCsrOperand(number) && hasSizesOfDriver(number);
                       })))
    return emitOpError("united lists the driver and CSR operands of its sizes");
  if (getCsrResults() && !getDriver())
    return emitOpError("a CSR result has the entries of the driver, and there is none");
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != getInputs().getTypes())
    return emitOpError("the body's arguments are the operands");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("the body yields the results");
  return success();
}

// A size is a number, a word like s0, or a string like "s0 + 1".
static ParseResult parseSizes(OpAsmParser &parser, ArrayAttr &sizes) {
  SmallVector<Size> all;
  auto parseSize = [&]() -> ParseResult {
    int64_t constant = 0;
    if (OptionalParseResult number = parser.parseOptionalInteger(constant); number.has_value()) {
      all.push_back(Size::constant(constant));
      return *number;
    }
    SMLoc place = parser.getCurrentLocation();
    std::string text;
    if (parser.parseKeywordOrString(&text))
      return failure();
    std::optional<Size> size = Size::parse(text);
    if (!size || size->isUnknown())
      return parser.emitError(place, "no size: ") << text;
    all.push_back(*size);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseSize))
    return failure();
  sizes = tok::sizesAttribute(parser.getContext(), all);
  return success();
}

static void printSizes(OpAsmPrinter &printer, ArrayRef<Size> sizes) {
  printer << '[';
  llvm::interleaveComma(sizes, printer, [&](const Size &size) {
    if (size.isConstant())
      printer << size.constantValue();
    else
      printer.printKeywordOrString(size.text());
  });
  printer << ']';
}

// Syntax: plan.operator row(%X, %v) sizes [..] : (types) -> types { body }
ParseResult OperatorOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  ArrayAttr sizes;
  FunctionType type;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword) ||
      parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("sizes") || parseSizes(parser, sizes) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), place, result.operands))
    return failure();
  result.addAttribute("fusionTemplate", parser.getBuilder().getStringAttr(keyword));
  result.addAttribute("sizes", sizes);
  result.addTypes(type.getResults());
  return parser.parseRegion(*result.addRegion());
}

void OperatorOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFusionTemplate() << '(' << getInputs() << ") sizes ";
  printSizes(printer, operandSizes());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"fusionTemplate", "sizes"});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion(getBody());
}
