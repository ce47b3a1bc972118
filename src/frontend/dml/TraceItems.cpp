#include "frontend/dml/TraceItems.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tokamak::frontend {

using llvm::StringRef;
using mlir::Value;

namespace {

constexpr StringRef ofInteger = "\u00b7SCALAR\u00b7INT64\u00b7true";

// What follows the value of a literal.
StringRef suffixOf(mlir::Type type) {
  if (type.isInteger(64))
    return ofInteger;
  if (type.isF64())
    return "\u00b7SCALAR\u00b7FP64\u00b7true";
  if (type.isInteger(1))
    return "\u00b7SCALAR\u00b7BOOLEAN\u00b7true";
  return "\u00b7SCALAR\u00b7STRING\u00b7true";
}

// The names that differ from those in the IR.
StringRef nameOf(StringRef mnemonic) {
  return llvm::StringSwitch<StringRef>(mnemonic)
      .Case("transpose", "r'")
      .Case("matmul", "ba+*")
      .Case("slice", "rightIndex")
      .Case("list_slice", "rightIndex")
      .Case("insert", "leftIndex")
      .Case("list_insert", "leftIndex")
      .Case("diag", "rdiag")
      .Case("reshape", "rshape")
      .Case("order", "rsort")
      .Case("remove_empty", "rmempty")
      .Case("table", "ctable")
      .Case("inv", "inverse")
      .Case("parse_matrix", "sinit")
      .Case("concat", "+")
      .Case("trace", "uaktrace")
      .Case("cumsum", "ucumk+")
      .Case("cumprod", "ucum*")
      .Case("cummin", "ucummin")
      .Case("cummax", "ucummax")
      .Default(mnemonic);
}

bool isTwo(Value value) {
  auto constant = value.getDefiningOp<tok::ConstantOp>();
  if (!constant)
    return false;
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
    return integer.getType().isInteger(64) && integer.getInt() == 2;
  auto number = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue());
  return number && number.getValueAsDouble() == 2;
}

} // namespace

Value TraceItems::text(StringRef constant) {
  return builder_.create<tok::ConstantOp>(builder_.getUnknownLoc(), constant);
}

Value TraceItems::item(Value text, llvm::ArrayRef<Value> behind) {
  mlir::Location place = builder_.getUnknownLoc();
  llvm::SmallVector<Value> elements = {text};
  llvm::append_range(elements, behind);
  return builder_.create<tok::ListOp>(place, tok::ListType::get(builder_.getContext()),
                                      tok::ConstantOp::none(builder_, place), elements);
}

Value TraceItems::joined(llvm::ArrayRef<Part> parts) {
  Value all;
  for (Part part : parts) {
    Value next = llvm::isa<Value>(part) ? llvm::cast<Value>(part)
                                        : text(llvm::cast<mlir::StringAttr>(part).getValue());
    all = all ? builder_
                    .create<tok::ConcatOp>(builder_.getUnknownLoc(),
                                           tok::StringType::get(builder_.getContext()), all, next)
                    .getResult()
              : next;
  }
  return all;
}

Value TraceItems::operation(StringRef name, llvm::ArrayRef<Value> traces,
                            llvm::ArrayRef<Value> kept) {
  llvm::SmallVector<Value> behind(traces);
  if (keepsOperands_)
    llvm::append_range(behind, kept);
  return item(text(("(I) " + name).str()), behind);
}

Value TraceItems::creation(StringRef what) { return item(text(("(C) " + what).str())); }

Value TraceItems::ofScalar(Value scalar) {
  if (scalar.getType().isInteger(1)) {
    // "true", not "TRUE"
    Value word = builder_.create<tok::IfElseOp>(builder_.getUnknownLoc(),
                                                tok::StringType::get(builder_.getContext()), scalar,
                                                text("true"), text("false"));
    return item(joined({part("(L) "), word, part(suffixOf(scalar.getType()))}));
  }
  return item(joined({part("(L) "), scalar, part(suffixOf(scalar.getType()))}));
}

Value TraceItems::ofProduct(tok::MatmulOp op) {
  auto transposed = op.getLhs().getDefiningOp<tok::TransposeOp>();
  if (!keepsOperands_ && transposed && transposed.getOperand() == op.getRhs())
    return operation("tsmm", {traceOf_(op.getRhs())});
  return operation("ba+*", {traceOf_(op.getLhs()), traceOf_(op.getRhs())},
                   {op.getLhs(), op.getRhs()});
}

Value TraceItems::ofBinary(tok::BinaryOp op) {
  BinaryOperator kind = op.getKind();
  std::string name(spelling(kind));
  bool isShort = kind == BinaryOperator::Mul || kind == BinaryOperator::Pow;
  if (isShort && tok::isArray(op.getLhs().getType()) && isTwo(op.getRhs()))
    name += "2";
  if (kind == BinaryOperator::And || kind == BinaryOperator::Or)
    name += name;
  llvm::SmallVector<Value> kept;
  if (kind == BinaryOperator::Add && tok::isArray(op.getLhs().getType()) &&
      tok::isArray(op.getRhs().getType()))
    kept = {op.getLhs(), op.getRhs()};
  return operation(name, {traceOf_(op.getLhs()), traceOf_(op.getRhs())}, kept);
}

Value TraceItems::ofAggregate(tok::AggregateOp op) {
  StringRef prefix = op.getDirection() == AggregateDirection::Full  ? "ua"
                     : op.getDirection() == AggregateDirection::Row ? "uar"
                                                                    : "uac";
  auto name = [&](StringRef kind) { return (prefix + kind).str(); };
  Value operand = traceOf_(op.getOperand());
  switch (op.getKind()) {
  case AggregateKind::Sum:
    return operation(name("k+"), {operand});
  case AggregateKind::Prod:
    return operation(name("*"), {operand});
  case AggregateKind::Sd:
    return operation("sqrt", {operation(name("var"), {operand})});
  case AggregateKind::IndexMax:
    return operation(name("imax"), {operand});
  case AggregateKind::IndexMin:
    return operation(name("imin"), {operand});
  default:
    return operation(name(mnemonic(op.getKind())), {operand});
  }
}

// A scalar is converted without an item, as where DML does it by itself.
Value TraceItems::ofCast(tok::CastOp op) {
  mlir::Type from = op.getOperand().getType(), to = op.getType();
  Value operand = traceOf_(op.getOperand());
  if (tok::isScalar(to))
    return tok::isScalar(from) ? operand : operation("castdts", {operand});
  if (llvm::isa<tok::FrameType>(to))
    return operation("castdtf", {operand});
  return operation(llvm::isa<tok::ListType>(to) ? "castdtl" : "castdtm", {operand});
}

// The instruction that SystemDS reads by; names of variables are xxx.
Value TraceItems::ofRead(tok::ReadOp op) {
  Value result = op.getResult();
  bool isMatrix = tok::isArray(result.getType());
  auto isGiven = [](Value value) { return !llvm::isa<mlir::NoneType>(value.getType()); };
  auto orElse = [&](Value value, StringRef otherwise) {
    return isGiven(value) ? Part(value) : part(otherwise);
  };
  llvm::SmallVector<Part> parts = {
      part("(C) CP\u00b0createvar\u00b0pREADxxx\u00b0"), Part(op.getPath()),
      part(isMatrix ? "\u00b0false\u00b0MATRIX\u00b0" : "\u00b0false\u00b0FRAME\u00b0"),
      orElse(op.getFormat(), "unknown")};
  mlir::Location place = builder_.getUnknownLoc();
  if (isMatrix)
    parts.append({part("\u00b0"),
                  Part(builder_.create<tok::RowsOp>(place, builder_.getI64Type(), result)),
                  part("\u00b0"),
                  Part(builder_.create<tok::ColumnsOp>(place, builder_.getI64Type(), result))});
  parts.push_back(part("\u00b0-1\u00b0-1\u00b0copy"));
  return item(joined(parts));
}

// Operations whose items are made of names and of the traces of all operands.
Value TraceItems::ofOperator(mlir::Operation *op) {
  if (auto unary = llvm::dyn_cast<tok::UnaryOp>(op)) {
    Value operand = traceOf_(unary.getOperand());
    switch (unary.getKind()) {
    case UnaryOperator::Neg:
      return operation("-", {item(text(("(L) 0" + ofInteger).str())), operand});
    case UnaryOperator::IsNan:
      return operation("isnan", {operand});
    case UnaryOperator::IsInfinite:
      return operation("isinf", {operand});
    default:
      return operation(spelling(unary.getKind()), {operand});
    }
  }
  if (auto parse = llvm::dyn_cast<tok::ParseMatrixOp>(op))
    return operation("sinit", {traceOf_(parse.getRows()), traceOf_(parse.getColumns()),
                               traceOf_(parse.getText())});
  if (auto outer = llvm::dyn_cast<tok::OuterOp>(op))
    if (auto spelled = outer.getSpelling().getDefiningOp<tok::ConstantOp>())
      return operation(llvm::cast<mlir::StringAttr>(spelled.getValue()).getValue(),
                       {traceOf_(outer.getLhs()), traceOf_(outer.getRhs())});
  auto native = llvm::dyn_cast<tok::NativeOpInterface>(op);
  StringRef mnemonic = native ? native.getNativeName() : op->getName().stripDialect();
  llvm::SmallVector<Value> operands(op->getOperands()), traces;
  // Behind a function's name stand the file of the call and the arguments' names, which describe no value.
  if (mnemonic == "eval" || mnemonic == "eval_list")
    operands.erase(operands.begin() + 1, operands.begin() + 3);
  for (Value operand : operands)
    if (Value trace = traceOf_(operand))
      traces.push_back(trace);
  if (mnemonic == "list_slice" &&
      traces.size() == 2) // an element is a range that ends where it begins
    traces.push_back(traces[1]);
  return operation(nameOf(mnemonic), traces);
}

Value TraceItems::ofResult(mlir::OpResult result) {
  // An instruction of SystemDS, whose parts are separated by °.
  auto instruction = [&](llvm::ArrayRef<Part> parts) {
    llvm::SmallVector<Part> all = {part("(C) CP\u00b0")};
    llvm::append_range(all, parts);
    all.push_back(part("\u00b0xxx\u00b7MATRIX\u00b7FP64"));
    return item(joined(all));
  };
  std::string sized = (ofInteger + "\u00b0").str(),
              doubled = "\u00b7SCALAR\u00b7FP64\u00b7true\u00b0";
  return llvm::TypeSwitch<mlir::Operation *, Value>(result.getOwner())
      .Case([&](tok::ConstantOp op) {
        return op.getType().isInteger(1) || tok::isNumber(op.getType()) ||
                       llvm::isa<tok::StringType>(op.getType())
                   ? ofScalar(op)
                   : Value();
      })
      .Case<tok::RowsOp, tok::ColumnsOp, tok::LengthOp, tok::SizeOp>(
          [&](mlir::Operation *op) { return ofScalar(op->getResult(0)); })
      .Case([&](tok::RandOp op) {
        return instruction({part("rand\u00b0"), Part(op.getRows()), part(sized),
                            Part(op.getColumns()), part(sized + "1000\u00b0"), Part(op.getMin()),
                            part("\u00b0"), Part(op.getMax()), part("\u00b0"),
                            Part(op.getSparsity()), part("\u00b0"), Part(op.getSeed()),
                            part("\u00b0"), Part(op.getPdf()), part("\u00b0"), Part(op.getLambda()),
                            part("\u00b01")});
      })
      .Case([&](tok::FillOp op) {
        return instruction({part("rand\u00b0"), Part(op.getRows()), part(sized),
                            Part(op.getColumns()), part(sized + "1000\u00b0"), Part(op.getValue()),
                            part("\u00b0"), Part(op.getValue()),
                            part("\u00b01.0\u00b0-1\u00b0uniform\u00b01.0\u00b01")});
      })
      .Case([&](tok::SeqOp op) {
        Value rows = builder_.create<tok::RowsOp>(op.getLoc(), builder_.getI64Type(), op);
        bool hasStep = !llvm::isa<mlir::NoneType>(op.getBy().getType());
        return instruction({part("seq\u00b0"), Part(rows), part("\u00b01\u00b01000\u00b0"),
                            Part(op.getFrom()), part(doubled), Part(op.getTo()), part(doubled),
                            hasStep ? Part(op.getBy()) : part("1.0"),
                            part("\u00b7SCALAR\u00b7FP64\u00b7true")});
      })
      .Case([&](tok::SampleOp op) {
        Value replaces =
            builder_.create<tok::IfElseOp>(op.getLoc(), tok::StringType::get(builder_.getContext()),
                                           op.getReplacement(), text("true"), text("false"));
        return instruction({part("sample\u00b0"), Part(op.getRange()), part("\u00b0"),
                            Part(op.getSize()), part(sized), Part(replaces), part("\u00b0"),
                            Part(op.getSeed()), part("\u00b01000")});
      })
      .Case([&](tok::ReadOp op) { return ofRead(op); })
      .Case([&](tok::MatmulOp op) { return ofProduct(op); })
      .Case([&](tok::BinaryOp op) { return ofBinary(op); })
      .Case([&](tok::AggregateOp op) { return ofAggregate(op); })
      .Case([&](tok::CastOp op) { return ofCast(op); })
      .Default([&](mlir::Operation *op) { return ofOperator(op); });
}

} // namespace tokamak::frontend
