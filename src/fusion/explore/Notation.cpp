#include "fusion/explore/Notation.h"

#include "base/PlaceText.h"
#include "ir/tok/TokDialect.h"
#include "support/SourceLocations.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"

#include <cctype>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

static constexpr int deepest = 6;

// The precedence of operators, lowest first. Operands of lower precedence get parentheses.
enum Binding { Lowest = 0, Logic, Comparison, Sum, Product, MatrixProduct, Sign, Power, Atom };

static Binding bindingOf(BinaryOperator op) {
  return llvm::StringSwitch<Binding>(spelling(op))
      .Cases("+", "-", Sum)
      .Cases("*", "/", Product)
      .Cases("%%", "%/%", MatrixProduct)
      .Case("^", Power)
      .Cases("&", "|", Logic)
      // min, xor and others are written as functions
      .Default(std::isalpha(spelling(op)[0]) ? Atom : Comparison);
}

std::string fusion::placeOf(Location location) {
  SourcePlace place = support::placeOf(location);
  return place.isKnown() ? placeText(place) : "";
}

std::string fusion::variableOf(Value value) { return support::variableAt(value.getLoc()).str(); }

using Expression = std::pair<std::string, Binding>;

static std::string write(Value value, Binding surroundings, int depth);

static Expression call(StringRef function, ValueRange operands, int depth) {
  std::string text = function.str() + "(";
  for (auto [index, operand] : llvm::enumerate(operands))
    text += (index ? ", " : "") + write(operand, Lowest, depth);
  return {text + ")", Atom};
}

static Expression infix(Value left, StringRef spelling, Value right, Binding binding, int depth) {
  // All operators but the power associate to the left.
  bool power = binding == Power;
  std::string a = write(left, power ? Atom : binding, depth);
  std::string b = write(right, static_cast<Binding>(power ? binding : binding + 1), depth);
  std::string space = power ? "" : " ";
  return {a + space + spelling.str() + space + b, binding};
}

static Expression constant(tok::ConstantOp op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto real = dyn_cast<FloatAttr>(op.getValue()))
    stream << llvm::format("%g", real.getValueAsDouble());
  else if (op.getType().isInteger(1))
    stream << (cast<IntegerAttr>(op.getValue()).getValue().isZero() ? "FALSE" : "TRUE");
  else
    op.getValue().print(stream, /*elideType=*/true);
  return {text, !text.empty() && text[0] == '-' ? Sign : Atom};
}

static Expression aggregate(tok::AggregateOp op, int depth) {
  std::string name(mnemonic(op.getKind()));
  if (isIndex(op.getKind()))
    return call(isOfLargest(op.getKind()) ? "rowIndexMax" : "rowIndexMin", op.getOperand(), depth);
  if (op.getDirection() == AggregateDirection::Full)
    return call(name, op.getOperand(), depth);
  name[0] = static_cast<char>(std::toupper(name[0]));
  StringRef prefix = op.getDirection() == AggregateDirection::Row ? "row" : "col";
  return call(prefix.str() + name + "s", op.getOperand(), depth);
}

// A name such as "rand@3:5", with line and column, or "view@17", with the number of a model's node.
static Expression nameByPlace(StringRef name, Operation *op) {
  SourcePlace place = support::placeOf(op->getLoc());
  if (!place.isKnown())
    return {name.str() + "(...)", Atom};
  std::string number = place.column == 0
                           ? std::to_string(place.line - 1)
                           : std::to_string(place.line) + ":" + std::to_string(place.column);
  return {name.str() + "@" + number, Atom};
}

static Expression writeOperation(Operation *op, int depth) {
  if (auto literal = dyn_cast<tok::ConstantOp>(op))
    return constant(literal);
  if (auto unary = dyn_cast<tok::UnaryOp>(op)) {
    StringRef name = spelling(unary.getKind());
    if (!std::isalpha(name[0]))
      return {name.str() + write(unary.getOperand(), Sign, depth), Sign};
    return call(name, unary.getOperand(), depth);
  }
  if (auto binary = dyn_cast<tok::BinaryOp>(op)) {
    Binding binding = bindingOf(binary.getKind());
    StringRef name = spelling(binary.getKind());
    return binding == Atom ? call(name, op->getOperands(), depth)
                           : infix(binary.getLhs(), name, binary.getRhs(), binding, depth);
  }
  if (auto product = dyn_cast<tok::MatmulOp>(op))
    return infix(product.getLhs(), "%*%", product.getRhs(), MatrixProduct, depth);
  if (auto transpose = dyn_cast<tok::TransposeOp>(op))
    return call("t", transpose.getOperand(), depth);
  if (auto aggregation = dyn_cast<tok::AggregateOp>(op))
    return aggregate(aggregation, depth);
  if (auto native = dyn_cast<tok::CallNativeOp>(op))
    return nameByPlace(native.getNative(), op);
  if (isa<tok::IfElseOp>(op))
    return call("ifelse", op->getOperands(), depth);
  if (auto cast = dyn_cast<tok::CastOp>(op))
    return {write(cast.getOperand(), Lowest, depth), Lowest};
  return nameByPlace(op->getName().stripDialect(), op);
}

static std::string write(Value value, Binding surroundings, int depth) {
  if (std::string variable = variableOf(value); !variable.empty())
    return variable;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return "arg" + std::to_string(argument.getArgNumber());
  if (depth >= deepest)
    return "...";
  auto [text, binding] = writeOperation(value.getDefiningOp(), depth + 1);
  return binding < surroundings ? "(" + text + ")" : text;
}

std::string fusion::definition(Value value) {
  std::string variable = variableOf(value);
  return (variable.empty() ? "" : variable + " = ") +
         writeOperation(value.getDefiningOp(), /*depth=*/1).first;
}

std::string fusion::notation(Value value) { return write(value, Lowest, 0); }

std::string fusion::notation(const EntryPattern &pattern) {
  std::string text;
  for (Value array : pattern.arrays)
    text += (text.empty() ? "" : array == pattern.arrays.back() ? " and " : ", ") + notation(array);
  return text;
}
