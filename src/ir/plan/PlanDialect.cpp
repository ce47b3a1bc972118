// The types of the dialect, and the text of operators: which operands, axes and results they have.
#include "ir/plan/PlanDialect.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/OperatorNames.h"
#include "ir/tok/SizesAttribute.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;
using tok::parseAggregateName, tok::parseBinaryName, tok::parseUnaryName;
using tok::printAggregateName, tok::printBinaryName, tok::printUnaryName;

//===- maps and axes in the text of operations -----------------------------------------------===//

static ParseResult parseMap(OpAsmParser &parser, AffineMapAttr &attribute) {
  AffineMap map;
  if (parser.parseAffineMap(map))
    return failure();
  attribute = AffineMapAttr::get(map);
  return success();
}
static void printMap(OpAsmPrinter &printer, Operation *, AffineMapAttr attribute) {
  printer << attribute.getValue();
}

// "[d0, d2]" of aggregates, "(d0, d2)" of cells.
template <typename Axis>
static ParseResult parseAxes(AsmParser &parser, AsmParser::Delimiter delimiter,
                             SmallVectorImpl<Axis> &axes) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    StringRef keyword;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    if (!keyword.consume_front("d") || keyword.getAsInteger(10, axes.emplace_back()))
      return parser.emitError(place, "expected an axis: d0, d1, ...");
    return success();
  });
}
template <typename Axis> static void printAxes(AsmPrinter &printer, ArrayRef<Axis> axes) {
  llvm::interleaveComma(axes, printer, [&](Axis axis) { printer << 'd' << axis; });
}

static ParseResult parseAxes(OpAsmParser &parser, DenseI64ArrayAttr &attribute) {
  SmallVector<int64_t> axes;
  if (parseAxes(parser, AsmParser::Delimiter::Square, axes))
    return failure();
  attribute = parser.getBuilder().getDenseI64ArrayAttr(axes);
  return success();
}
static void printAxes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr attribute) {
  printer << '[';
  printAxes(printer, attribute.asArrayRef());
  printer << ']';
}

static ParseResult parseCellAxes(AsmParser &parser, SmallVector<unsigned> &axes) {
  return parseAxes(parser, AsmParser::Delimiter::Paren, axes);
}
static void printCellAxes(AsmPrinter &printer, ArrayRef<unsigned> axes) {
  printer << '(';
  printAxes(printer, axes);
  printer << ')';
}

#include "PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "PlanTypes.cpp.inc"
#define GET_OP_CLASSES
#include "PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "PlanOps.cpp.inc"
      >();
}

//===- !plan.cell<(d0, d1) -> f64> -----------------------------------------------------------===//

LogicalResult CellType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<unsigned> axes, Type element) {
  if (std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<unsigned>()) != axes.end())
    return emitError() << "axes of a cell are in ascending order";
  if (!tok::elementTypeOf(element))
    return emitError() << "a cell has an element type of arrays, not " << element;
  return success();
}

ElementType plan::cellsOf(Value cell) {
  return *tok::elementTypeOf(cast<CellType>(cell.getType()).getElement());
}

Type plan::cellsOfOperand(Type operand) {
  bool isOfItself = tok::isArray(operand) || operand.isInteger(64);
  return isOfItself ? getElementTypeOrSelf(operand) : Float64Type::get(operand.getContext());
}

//===- plan.operator -------------------------------------------------------------------------===//

SmallVector<Size> OperatorOp::axisSizes() { return *tok::sizesOf(getAxisSizesAttr()); }

static SmallVector<SmallVector<Size>> listsOf(ArrayAttr lists) {
  SmallVector<SmallVector<Size>> all;
  for (Attribute list : lists)
    all.push_back(*tok::sizesOf(list));
  return all;
}
SmallVector<SmallVector<Size>> OperatorOp::operandSizes() { return listsOf(getOperandSizesAttr()); }
SmallVector<SmallVector<Size>> OperatorOp::resultSizes() { return listsOf(getResultSizesAttr()); }

static StringRef wordOf(AxisKind kind) {
  static constexpr StringRef names[] = {"parallel", "reduced", "scanned"};
  return names[static_cast<int>(kind)];
}

static AxisKind kindIn(Block &body, int64_t axis) {
  auto isOver = [&](auto aggregation) { return llvm::is_contained(aggregation.getOver(), axis); };
  if (llvm::any_of(body.getOps<ScanOp>(), isOver))
    return AxisKind::Scanned;
  return llvm::any_of(body.getOps<ReduceOp>(), isOver) ? AxisKind::Reduced : AxisKind::Parallel;
}

AxisKind OperatorOp::axisKind(unsigned axis) { return kindIn(getBody().front(), axis); }

// A size is a number, a word like s0, or a string like "s0 + 1".
static ParseResult parseSize(OpAsmParser &parser, Size &size) {
  int64_t constant = 0;
  if (OptionalParseResult number = parser.parseOptionalInteger(constant); number.has_value()) {
    size = Size::constant(constant);
    return *number;
  }
  SMLoc place = parser.getCurrentLocation();
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  std::optional<Size> parsed = Size::parse(text);
  if (!parsed || parsed->isUnknown())
    return parser.emitError(place, "no size: ") << text;
  size = *parsed;
  return success();
}

static void printSize(OpAsmPrinter &printer, const Size &size) {
  if (size.isConstant())
    printer << size.constantValue();
  else
    printer.printKeywordOrString(size.text());
}

// [s0, "s0 + 1"], nothing for scalars.
static ParseResult parseSizes(OpAsmParser &parser, SmallVectorImpl<Attribute> &lists) {
  SmallVector<Size> sizes;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalSquare,
                                     [&] { return parseSize(parser, sizes.emplace_back()); }))
    return failure();
  lists.push_back(tok::sizesAttribute(parser.getContext(), sizes));
  return success();
}

static void printSizes(OpAsmPrinter &printer, ArrayRef<Size> sizes) {
  if (sizes.empty())
    return;
  printer << " [";
  llvm::interleaveComma(sizes, printer, [&](const Size &size) { printSize(printer, size); });
  printer << ']';
}

ParseResult OperatorOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Attribute> operandSizes, resultSizes;
  SmallVector<Size> axes;
  SmallVector<std::pair<AxisKind, SMLoc>> kinds;
  SmallVector<int64_t> sparse, drivers, sparseResults;
  auto parseInput = [&]() -> ParseResult {
    int64_t number = inputs.size();
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(inputs.emplace_back()))
      return failure();
    bool isDriver = succeeded(parser.parseOptionalKeyword("driver"));
    if (isDriver)
      drivers.push_back(number);
    if (isDriver || succeeded(parser.parseOptionalKeyword("sparse")))
      sparse.push_back(number);
    return parseSizes(parser, operandSizes);
  };
  auto parseAxisSize = [&]() -> ParseResult {
    kinds.push_back({AxisKind::Parallel, parser.getCurrentLocation()});
    if (parseSize(parser, axes.emplace_back()))
      return failure();
    for (AxisKind kind : {AxisKind::Reduced, AxisKind::Scanned})
      if (succeeded(parser.parseOptionalKeyword(wordOf(kind))))
        kinds.back().first = kind;
    return success();
  };
  auto parseResult = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("sparse")))
      sparseResults.push_back(resultSizes.size());
    else if (succeeded(parser.parseOptionalKeyword("scalar"))) {
      resultSizes.push_back(builder.getArrayAttr({}));
      return success();
    }
    return parseSizes(parser, resultSizes);
  };
  FunctionType type;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput) ||
      parser.parseKeyword("axes") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseAxisSize) ||
      parser.parseArrow() || parser.parseCommaSeparatedList(parseResult) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), place, result.operands))
    return failure();
  for (auto [argument, input] : llvm::zip(arguments, type.getInputs()))
    argument.type = input;
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.operand_sizes = builder.getArrayAttr(operandSizes);
  properties.result_sizes = builder.getArrayAttr(resultSizes);
  properties.axis_sizes = tok::sizesAttribute(parser.getContext(), axes);
  properties.sparse = builder.getDenseI64ArrayAttr(sparse);
  properties.drivers = builder.getDenseI64ArrayAttr(drivers);
  properties.sparse_results = builder.getDenseI64ArrayAttr(sparseResults);
  result.addTypes(type.getResults());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  // What the body does along an axis is stated for people who read it.
  for (auto [axis, stated] : llvm::enumerate(kinds))
    if (AxisKind kind = body->empty() ? stated.first : kindIn(body->front(), axis);
        kind != stated.first)
      return parser.emitError(stated.second)
             << "axis d" << axis << " is " << wordOf(kind) << ", not " << wordOf(stated.first);
  return success();
}

void OperatorOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(
      llvm::enumerate(getBody().getArguments(), getInputs(), operandSizes()), printer,
      [&](const auto &operand) {
        auto [number, argument, input, sizes] = operand;
        printer << argument << " = " << input;
        printer << (isDriver(number) ? " driver" : isSparseOperand(number) ? " sparse" : "");
        printSizes(printer, sizes);
      });
  printer << ") axes [";
  llvm::interleaveComma(llvm::enumerate(axisSizes()), printer, [&](const auto &size) {
    printSize(printer, size.value());
    if (AxisKind kind = axisKind(size.index()); kind != AxisKind::Parallel)
      printer << ' ' << wordOf(kind);
  });
  printer << "] ->";
  llvm::interleave(
      llvm::enumerate(resultSizes()),
      [&](const auto &result) {
        auto [number, sizes] = result;
        printer << (sizes.empty() ? " scalar" : isSparseResult(number) ? " sparse" : "");
        printSizes(printer, sizes);
      },
      [&] { printer << ','; });
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operand_sizes", "result_sizes", "axis_sizes",
                                                      "sparse", "drivers", "sparse_results"});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===- what a body is called -----------------------------------------------------------------===//

BinaryOp plan::productIn(ReduceOp reduce) {
  auto product = reduce.getOperand().getDefiningOp<BinaryOp>();
  bool fuses = product && reduce.getKind() == AggregateKind::Sum &&
               product.getKind() == BinaryOperator::Mul &&
               product.getType().getElement() == reduce.getAccumulator();
  return fuses ? product : BinaryOp();
}

bool plan::isSpread(ReadOp factor, ReduceOp sum) {
  ArrayRef<AffineExpr> places = factor.getMap().getResults();
  auto isReduced = [&](AffineExpr place) {
    return llvm::any_of(sum.getOver(), [&](int64_t axis) { return place.isFunctionOfDim(axis); });
  };
  return places.size() >= 2 && (llvm::any_of(places.drop_back(2), isReduced) ||
                                (!isa<AffineDimExpr>(places.back()) && isReduced(places.back())));
}

StringRef plan::nameOfBody(OperatorOp op) {
  SmallVector<Size> sizes = op.axisSizes();
  auto longAxes = [&](Value cell) {
    return llvm::count_if(cast<CellType>(cell.getType()).getAxes(),
                          [&](unsigned axis) { return !sizes[axis].isConstant(1); });
  };
  ReadOp driver;
  int64_t most = 0;
  for (ReadOp read : op.getBody().getOps<ReadOp>()) {
    most = std::max<int64_t>(most, longAxes(read.getCell()));
    if (!driver && op.isDriver(read.getNumber()))
      driver = read;
  }
  bool isRow = false, isAggregate = op.getNumResults() > 1;
  for (Operation &operation : op.getBody().front()) {
    auto reduce = dyn_cast<ReduceOp>(operation);
    if (reduce && driver && productIn(reduce) &&
        reduce.getType().getAxes() == driver.getType().getAxes())
      return "outer";
    if (auto write = dyn_cast<WriteOp>(operation)) {
      isAggregate &= write.getCell().getDefiningOp<ReduceOp>() && longAxes(write.getCell()) == 0;
      continue;
    }
    int64_t count = longAxes(operation.getResult(0));
    isRow |= !isa<ReadOp>(operation) && count > 0 && (reduce || count < most);
  }
  return isRow ? "row" : isAggregate ? "multiagg" : "cell";
}
