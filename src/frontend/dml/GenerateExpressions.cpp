// Expressions: literals, variables, operators, right indexing.
#include "frontend/dml/ArgumentValue.h"
#include "frontend/dml/ForeignNames.h"
#include "frontend/dml/FunctionGenerator.h"

#include "base/NearestNames.h"
#include "ir/tok/ScalarConstant.h"

#include "llvm/ADT/StringExtras.h"

namespace tokamak::frontend {

using llvm::cast;
using mlir::Value;

static mlir::Attribute constantOf(Value value) {
  auto constant = value ? value.getDefiningOp<tok::ConstantOp>() : tok::ConstantOp();
  return constant ? constant.getValue() : mlir::Attribute();
}

std::optional<llvm::StringRef> constantText(Value value) {
  auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(constantOf(value));
  return text ? std::optional(text.getValue()) : std::nullopt;
}

std::optional<double> constantNumber(Value value) { return tok::numberOf(constantOf(value)); }

std::optional<int64_t> constantInteger(Value value) {
  auto integer = llvm::dyn_cast_or_null<mlir::IntegerAttr>(constantOf(value));
  return integer && value.getType().isInteger(64) ? std::optional(integer.getInt()) : std::nullopt;
}

std::optional<bool> constantBoolean(Value value) {
  std::optional<double> number = constantNumber(value);
  return number && value.getType().isInteger(1) ? std::optional(*number != 0) : std::nullopt;
}

Value FunctionGenerator::generate(const Expression &expression) {
  mlir::Location place = location(expression.range());
  switch (expression.kind()) {
  case Expression::Kind::Integer:
    return constant(cast<IntegerLiteral>(expression).value(), place);
  case Expression::Kind::Double:
    return builder_.create<tok::ConstantOp>(place, cast<DoubleLiteral>(expression).value());
  case Expression::Kind::Boolean:
    return builder_.create<tok::ConstantOp>(place, cast<BooleanLiteral>(expression).value());
  case Expression::Kind::String:
    return builder_.create<tok::ConstantOp>(
        place, llvm::StringRef(cast<StringLiteral>(expression).value()));
  case Expression::Kind::Argument:
    return argument(cast<ArgumentExpression>(expression));
  case Expression::Kind::Name:
    return read(cast<NameExpression>(expression).name(), expression.range());
  case Expression::Kind::Index:
    return slice(cast<IndexExpression>(expression));
  case Expression::Kind::Call:
    return callForValue(cast<CallExpression>(expression));
  case Expression::Kind::Unary:
    return unary(cast<UnaryExpression>(expression));
  case Expression::Kind::Binary:
    return binary(cast<BinaryExpression>(expression));
  case Expression::Kind::List:
    return list(cast<ListExpression>(expression));
  }
  llvm_unreachable("unknown expression");
}

// [a, b] is list(a, b).
Value FunctionGenerator::list(const ListExpression &expression) {
  llvm::SmallVector<Value> elements;
  for (const Expression *element : expression.elements())
    elements.push_back(generate(*element));
  if (llvm::is_contained(elements, Value()))
    return {};
  mlir::Location place = location(expression.range());
  return builder_.create<tok::ListOp>(place, listType(), none(place), elements);
}

Value FunctionGenerator::constant(int64_t value, mlir::Location place) {
  return builder_.create<tok::ConstantOp>(place, value);
}

Value FunctionGenerator::none(mlir::Location place) {
  return tok::ConstantOp::none(builder_, place);
}

Value FunctionGenerator::castTo(Value value, mlir::Type type, SourceRange place) {
  if (!value || !type || value.getType() == type)
    return value;
  return builder_.createOrFold<tok::CastOp>(location(place), type, value);
}

//===-- Variables and arguments --===//

void FunctionGenerator::reportUnknownVariable(const std::string &name, SourceRange range) {
  auto &error = module_.error(range, "unknown variable '" + name + "'");
  if (std::string hint = hintForVariable(name); !hint.empty()) {
    error.note(std::move(hint));
    return;
  }
  if (findBuiltin(name)) {
    error.note("'" + name + "' is a function: call it, " + name + "(...)");
    return;
  }
  if (!module_.wantsCandidates(error))
    return;
  std::vector<std::string> names = {"TRUE", "FALSE", "Inf", "NaN", "pi"};
  for (const auto &[other, variable] : scope_)
    if (!variable.isUnknown)
      names.push_back(other);
  error.candidates = nearestCandidates(name, names);
}

Value FunctionGenerator::read(const std::string &name, SourceRange range) {
  auto found = scope_.find(name);
  if (found == scope_.end()) {
    reportUnknownVariable(name, range);
    scope_[name] = {Value(), range};
    scope_[name].isUnknown = true; // report it only once
    return {};
  }
  if (found->second.isPending)
    pendingReads_.emplace_back(name, range);
  return found->second.value;
}

Value FunctionGenerator::argument(const ArgumentExpression &expression) {
  const auto &arguments = module_.options().arguments;
  auto found = arguments.find(expression.name());
  if (found == arguments.end() || found->second.empty()) {
    std::vector<std::string> names;
    for (const auto &[name, text] : arguments)
      names.push_back("$" + name);
    std::string name = "$" + expression.name();
    bool isPosition = llvm::isDigit(expression.name().front());
    auto &error = module_.error(expression.range(), "argument '" + name + "' is not given");
    error.candidates = nearestCandidates(name, names);
    error.note(isPosition ? "give it with -args, or read it with ifdef and a default"
                          : "give it with -nvargs " + expression.name() +
                                "=..., or read it with ifdef and a default");
    return {};
  }
  mlir::Location place = location(expression.range());
  ArgumentValue literal = module_.loader().isText(expression) ? ArgumentValue(found->second)
                                                              : parseArgumentValue(found->second);
  if (const auto *text = std::get_if<std::string>(&literal))
    return builder_.create<tok::ConstantOp>(place, llvm::StringRef(*text));
  if (const auto *boolean = std::get_if<bool>(&literal))
    return builder_.create<tok::ConstantOp>(place, *boolean);
  if (const auto *integer = std::get_if<int64_t>(&literal))
    return constant(*integer, place);
  return builder_.create<tok::ConstantOp>(place, std::get<double>(literal));
}

//===-- Operators --===//

static tokamak::BinaryOperator cellOperator(BinaryOperator op) {
  switch (op) {
  case BinaryOperator::Power:
    return tokamak::BinaryOperator::Pow;
  case BinaryOperator::Modulus:
    return tokamak::BinaryOperator::Mod;
  case BinaryOperator::IntegerDivide:
    return tokamak::BinaryOperator::IntDiv;
  case BinaryOperator::Multiply:
    return tokamak::BinaryOperator::Mul;
  case BinaryOperator::Divide:
    return tokamak::BinaryOperator::Div;
  case BinaryOperator::Add:
    return tokamak::BinaryOperator::Add;
  case BinaryOperator::Subtract:
    return tokamak::BinaryOperator::Sub;
  case BinaryOperator::Less:
    return tokamak::BinaryOperator::Lt;
  case BinaryOperator::LessEqual:
    return tokamak::BinaryOperator::Le;
  case BinaryOperator::Greater:
    return tokamak::BinaryOperator::Gt;
  case BinaryOperator::GreaterEqual:
    return tokamak::BinaryOperator::Ge;
  case BinaryOperator::Equal:
    return tokamak::BinaryOperator::Eq;
  case BinaryOperator::NotEqual:
    return tokamak::BinaryOperator::Ne;
  case BinaryOperator::And:
    return tokamak::BinaryOperator::And;
  case BinaryOperator::Or:
    return tokamak::BinaryOperator::Or;
  case BinaryOperator::MatrixMultiply:
    break;
  }
  llvm_unreachable("not a cell operator");
}

Value FunctionGenerator::unary(const UnaryExpression &expression) {
  Value operand = generate(expression.operand());
  if (!operand)
    return {};
  bool isNot = expression.op() == UnaryOperator::Not;
  auto op = isNot ? tokamak::UnaryOperator::Not : tokamak::UnaryOperator::Neg;
  mlir::Type type = tok::unaryResultType(op, operand.getType());
  if (!type) {
    module_.error(expression.operatorRange(), std::string("'") + spelling(expression.op()) +
                                                  "' is not defined for " + describe(operand));
    return {};
  }
  if (expression.op() == UnaryOperator::Plus)
    return operand;
  return builder_.createOrFold<tok::UnaryOp>(location(expression.operatorRange()), op, operand);
}

Value FunctionGenerator::binary(const BinaryExpression &expression) {
  Value lhs = generate(expression.left());
  Value rhs = generate(expression.right());
  if (!lhs || !rhs)
    return {};
  if (expression.op() == BinaryOperator::MatrixMultiply)
    return matmul(lhs, rhs, expression.operatorRange());
  return binary(cellOperator(expression.op()), lhs, rhs, expression.operatorRange());
}

Value FunctionGenerator::matmul(Value lhs, Value rhs, SourceRange place) {
  bool hasTensor = tok::isTensor(lhs.getType()) || tok::isTensor(rhs.getType());
  if (tok::isArray(lhs.getType()) && tok::isArray(rhs.getType()) && !hasTensor)
    return builder_.create<tok::MatmulOp>(location(place), matrixType(), lhs, rhs);
  auto &error = module_.error(place, "'%*%' needs two matrices, got " + describe(lhs) + " and " +
                                         describe(rhs));
  if (hasTensor)
    error.note(std::string(noteOnTensors));
  else if (tok::isScalar(lhs.getType()) || tok::isScalar(rhs.getType()))
    error.note("'*' multiplies by a number");
  return {};
}

Value FunctionGenerator::binary(tokamak::BinaryOperator op, Value lhs, Value rhs,
                                SourceRange place) {
  mlir::Location at = location(place);
  mlir::Type left = lhs.getType(), right = rhs.getType();
  bool hasText = llvm::isa<tok::StringType>(left) || llvm::isa<tok::StringType>(right);
  if (hasText && op == tokamak::BinaryOperator::Add && tok::isScalar(left) && tok::isScalar(right))
    return builder_.createOrFold<tok::ConcatOp>(at, tok::StringType::get(module_.context()), lhs,
                                                rhs);

  bool isEquality = op == tokamak::BinaryOperator::Eq || op == tokamak::BinaryOperator::Ne;
  auto leftText = constantText(lhs), rightText = constantText(rhs);
  if (isEquality && leftText && rightText)
    return builder_.create<tok::ConstantOp>(at, (*leftText == *rightText) ==
                                                    (op == tokamak::BinaryOperator::Eq));

  bool hasFrame = llvm::isa<tok::FrameType>(left) || llvm::isa<tok::FrameType>(right);
  if (hasFrame && isComparison(op)) {
    Value name =
        builder_.create<tok::ConstantOp>(at, llvm::StringRef(std::string(tokamak::spelling(op))));
    return builder_
        .create<tok::CallNativeOp>(at, mlir::TypeRange(frameType()), "frame_compare",
                                   mlir::ValueRange{lhs, rhs, name})
        .getResult(0);
  }

  mlir::Type type = tok::binaryResultType(op, left, right);
  if (type && tok::isScalar(type))
    return builder_.createOrFold<tok::BinaryOp>(at, op, lhs, rhs);
  bool ofArrays = tok::isArray(left) && tok::isArray(right);
  // Tensors are not repeated: their sizes must be the same.
  if (ofArrays && (tok::isTensor(left) || tok::isTensor(right)) && left != right)
    type = {};
  if (type)
    return builder_.create<tok::BinaryOp>(at, op, lhs, rhs,
                                          /*oneRepeated=*/ofArrays && !tok::isTensor(left));

  auto &error =
      module_.error(place, "'" + std::string(tokamak::spelling(op)) + "' is not defined for " +
                               describe(lhs) + " and " + describe(rhs));
  if (ofArrays)
    error.note("both must have the same number of dimensions");
  else if (left.isInteger(1) != right.isInteger(1) && tok::isNumber(left) && tok::isNumber(right))
    error.note("as.integer or as.double turns a boolean into a number");
  else if (hasText && (tok::isArray(left) || tok::isArray(right)))
    error.note("toString turns a matrix into a string");
  else if (llvm::isa<tok::ListType>(left) || llvm::isa<tok::ListType>(right))
    error.note("as.scalar, as.matrix or as.frame takes the element out of a list of one");
  else if (llvm::isa<tok::FrameType>(left) || llvm::isa<tok::FrameType>(right))
    error.note("as.matrix makes a matrix of a frame of numbers, as.scalar takes its only cell");
  return {};
}

//===-- Indexing --===//

FunctionGenerator::IndexRanges FunctionGenerator::matrixIndex(const IndexExpression &expression,
                                                              Value matrix) {
  // X[i] is row i.
  const IndexDimension allColumns{nullptr, nullptr, expression.range()};
  IndexRanges ranges;
  bool isComplete = true;
  for (size_t axis = 0; axis < 2; ++axis) {
    const IndexDimension &dimension =
        axis < expression.dimensions().size() ? expression.dimensions()[axis] : allColumns;
    mlir::Location place = location(dimension.range);
    if (dimension.isAll()) {
      ranges.bounds.push_back(constant(1, place));
      ranges.bounds.push_back(
          axis == 0
              ? builder_.create<tok::RowsOp>(place, builder_.getI64Type(), matrix).getResult()
              : builder_.create<tok::ColumnsOp>(place, builder_.getI64Type(), matrix).getResult());
      continue;
    }
    auto bound = [&](const Expression &expression) {
      Value given = generate(expression), value;
      if (given && llvm::isa<tok::StringType>(given.getType()) &&
          llvm::isa<tok::FrameType>(matrix.getType()))
        module_.error(expression.range(), "expected a number for an index, got a string")
            .note("columns of a frame are taken by their numbers; colnames() gives the names in "
                  "their order");
      else if (given && tok::isArray(given.getType()) && !tok::isTensor(given.getType()))
        module_.error(expression.range(), "expected a number for an index, got a matrix")
            .note("as.scalar turns a 1x1 matrix into a number; removeEmpty selects rows by a "
                  "condition, takeRows by their numbers");
      else
        value = convert(given, ParameterType::Integer, "an index", expression.range());
      isComplete &= value != nullptr;
      return value;
    };
    Value lower = bound(*dimension.lower);
    ranges.bounds.push_back(lower);
    ranges.bounds.push_back(dimension.isSingle() ? lower : bound(*dimension.upper));
  }
  return isComplete ? ranges : IndexRanges();
}

FunctionGenerator::IndexRanges FunctionGenerator::listIndex(const IndexExpression &expression) {
  // A list is a column of elements: L[i, 1] and L[i, ] are L[i].
  if (expression.dimensions().size() == 2) {
    const IndexDimension &column = expression.dimensions()[1];
    bool isFirst =
        column.isAll() || (column.isSingle() && constantNumber(generate(*column.lower)) == 1.0);
    if (!isFirst) {
      module_.error(column.range, "a list has one column: write '" + expression.name() +
                                      "[i]' or '" + expression.name() + "[i, 1]'");
      return {};
    }
  }
  const IndexDimension &dimension = expression.dimensions().front();
  IndexRanges ranges;
  if (dimension.isAll()) {
    Value list = read(expression.name(), expression.nameRange());
    mlir::Location place = location(dimension.range);
    ranges.bounds.push_back(constant(1, place));
    ranges.bounds.push_back(
        builder_.create<tok::LengthOp>(place, builder_.getI64Type(), list).getResult());
    return ranges;
  }
  for (const Expression *bound : {dimension.lower, dimension.upper}) {
    if (!bound)
      continue;
    Value value = convert(generate(*bound), ParameterType::Scalar, "an index", bound->range());
    if (!value)
      return {};
    if (tok::isNumber(value.getType()))
      value = castTo(value, builder_.getI64Type(), bound->range());
    ranges.bounds.push_back(value);
  }
  if (dimension.isSingle())
    ranges.bounds.push_back(none(location(dimension.range)));
  return ranges;
}

Value FunctionGenerator::slice(const IndexExpression &expression) {
  Value operand = read(expression.name(), expression.nameRange());
  if (!operand)
    return {};
  mlir::Location place = location(expression.range());
  if (llvm::isa<tok::ListType>(operand.getType())) {
    IndexRanges index = listIndex(expression);
    if (index.bounds.empty())
      return {};
    return builder_
        .create<tok::CallNativeOp>(place, mlir::TypeRange(listType()), "list_slice",
                                   mlir::ValueRange({operand, index.bounds[0], index.bounds[1]}))
        .getResult(0);
  }
  if (!tok::isArray(operand.getType()) && !llvm::isa<tok::FrameType>(operand.getType())) {
    module_.error(expression.nameRange(),
                  "'" + expression.name() + "' can't be indexed, it is " + describe(operand));
    return {};
  }
  if (tok::isTensor(operand.getType())) {
    module_
        .error(expression.nameRange(),
               "'" + expression.name() + "' can't be indexed, it is a tensor")
        .note(std::string(noteOnTensors));
    return {};
  }
  IndexRanges index = matrixIndex(expression, operand);
  if (index.bounds.empty())
    return {};
  return builder_.create<tok::SliceOp>(place, operand.getType(), operand, index.bounds[0],
                                       index.bounds[1], index.bounds[2], index.bounds[3]);
}

} // namespace tokamak::frontend
