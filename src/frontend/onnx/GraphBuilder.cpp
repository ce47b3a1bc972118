#include "frontend/onnx/GraphBuilder.h"

#include "base/Error.h"
#include "ir/tok/InferFacts.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>
#include <numeric>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

Numbers onnx::numbersFrom(int64_t first, int64_t end) {
  Numbers numbers(std::max<int64_t>(end - first, 0));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

std::optional<int64_t> onnx::constantInteger(Value scalar) {
  if (auto constant = scalar.getDefiningOp<tok::ConstantOp>())
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      return value.getInt();
  return std::nullopt;
}

//===- types ---------------------------------------------------------------------------------===//

mlir::Type GraphBuilder::typeOf(ElementType element) {
  switch (element) {
  case ElementType::F64:
    return builder_.getF64Type();
  case ElementType::F32:
    return builder_.getF32Type();
  case ElementType::F16:
    return builder_.getF16Type();
  case ElementType::BF16:
    return builder_.getBF16Type();
  case ElementType::Bool:
    return builder_.getI1Type();
  case ElementType::I8:
  case ElementType::I16:
  case ElementType::I32:
  case ElementType::I64:
    return builder_.getIntegerType(8 * static_cast<unsigned>(byteSize(element)));
  case ElementType::U8:
  case ElementType::U16:
  case ElementType::U32:
  case ElementType::U64:
    break;
  }
  return builder_.getIntegerType(8 * static_cast<unsigned>(byteSize(element)), /*isSigned=*/false);
}

// That arrays may have (runtime/values/Array.h).
static constexpr int64_t mostDimensions = 8;

RankedTensorType GraphBuilder::arrayType(int64_t rank, mlir::Type element) {
  if (rank < 0 || rank > mostDimensions)
    throw Error(
        fmt::format("an array of {} dimensions; at most {} are supported", rank, mostDimensions));
  return RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), element);
}

int64_t GraphBuilder::rankOf(Value array) {
  return cast<RankedTensorType>(array.getType()).getRank();
}
mlir::Type GraphBuilder::elementOf(Value array) {
  return cast<RankedTensorType>(array.getType()).getElementType();
}
ElementType GraphBuilder::elementTypeOf(Value array) {
  return *tok::elementTypeOf(array.getType());
}

//===- numbers -------------------------------------------------------------------------------===//

Value GraphBuilder::integer(int64_t value) {
  return builder_.create<tok::ConstantOp>(location_, value);
}
Value GraphBuilder::real(double value) {
  return builder_.create<tok::ConstantOp>(location_, value);
}

Value GraphBuilder::scalar(BinaryOperator op, Value lhs, Value rhs) {
  return builder_.createOrFold<tok::BinaryOp>(location_, op, lhs, rhs);
}

Value GraphBuilder::scalar(UnaryOperator op, Value operand) {
  return builder_.createOrFold<tok::UnaryOp>(location_, op, operand);
}

// Without recursion, since a chain of operations may be as long as the model.
const tok::Facts &GraphBuilder::factsOf(Value value) {
  SmallVector<Value> wanted = {value};
  while (!wanted.empty()) {
    Value next = wanted.back();
    Operation *operation = next.getDefiningOp();
    size_t before = wanted.size();
    if (operation && !facts_.contains(next))
      llvm::copy_if(operation->getOperands(), std::back_inserter(wanted),
                    [&](Value operand) { return !facts_.contains(operand); });
    if (wanted.size() > before)
      continue;
    wanted.pop_back();
    if (!operation || facts_.contains(next)) {
      facts_.try_emplace(next);
      continue;
    }
    SmallVector<tok::Facts> operands, results(operation->getNumResults());
    for (Value operand : operation->getOperands())
      operands.push_back(facts_.lookup(operand));
    tok::inferFacts(operation, operands, results);
    for (auto [result, facts] : llvm::zip(operation->getResults(), results))
      facts_.try_emplace(result, facts);
  }
  return facts_.find(value)->second;
}

std::optional<int64_t> GraphBuilder::knownSize(Value array, int64_t dimension) {
  const tok::Facts &facts = factsOf(array);
  if (dimension >= static_cast<int64_t>(facts.dims.size()) || !facts.dims[dimension].isConstant())
    return std::nullopt;
  return facts.dims[dimension].constantValue();
}

std::optional<int64_t> GraphBuilder::knownInteger(Value scalar) {
  if (!scalar.getType().isInteger(64) || !factsOf(scalar).integer.isConstant())
    return std::nullopt;
  return factsOf(scalar).integer.constantValue();
}

void GraphBuilder::knowSizes(Value parameter, ArrayRef<int64_t> sizes) {
  tok::Facts &facts = facts_[parameter];
  for (int64_t size : sizes)
    facts.dims.push_back(size < 0 ? Size::unknown() : Size::constant(size));
}

Value GraphBuilder::size(Value array, int64_t dimension) {
  if (dimension < 0 || dimension >= rankOf(array))
    throw Error(fmt::format("dimension {} of an array of {} dimensions is needed", dimension,
                            rankOf(array)));
  return builder_.create<tok::SizeOp>(location_, builder_.getI64Type(), array, dimension + 1);
}

Values GraphBuilder::sizes(Value array) {
  Values sizes;
  for (int64_t i = 0; i < rankOf(array); ++i)
    sizes.push_back(size(array, i));
  return sizes;
}

Value GraphBuilder::inDoubles(Value number) {
  return builder_.createOrFold<tok::CastOp>(location_, builder_.getF64Type(), number);
}

Value GraphBuilder::arrayOfScalar(Value scalar) {
  Value array = view(matrixOf(scalar), {});
  scalars_[array] = scalar;
  return array;
}

Value GraphBuilder::asScalar(Value operand) {
  if (!tok::isArray(operand.getType()))
    return operand;
  ElementType element = elementTypeOf(operand);
  if (rankOf(operand) != 0 || (element != ElementType::F64 && element != ElementType::Bool))
    return {};
  return scalarOf(operand);
}

std::optional<Values> GraphBuilder::asScalars(ArrayRef<Value> operands) {
  Values scalars;
  for (Value operand : operands) {
    bool isOne = !tok::isArray(operand.getType()) || rankOf(operand) == 0;
    Value scalar = isOne ? asScalar(operand) : Value();
    if (!scalar)
      return std::nullopt;
    scalars.push_back(scalar);
  }
  return scalars;
}

Value GraphBuilder::scalarOf(Value array) {
  if (auto found = scalars_.find(array); found != scalars_.end())
    return found->second;
  auto literal = array.getDefiningOp<tok::LiteralOp>();
  if (auto cells = literal ? dyn_cast<DenseElementsAttr>(literal.getCells()) : DenseElementsAttr();
      cells && cells.getNumElements() == 1) {
    if (cells.getElementType().isF64())
      return real(*cells.value_begin<double>());
    if (cells.getElementType().isInteger(1))
      return builder_.create<tok::ConstantOp>(location_, *cells.value_begin<bool>());
  }
  ElementType element = elementTypeOf(array);
  mlir::Type type = isFloat(element)               ? mlir::Type(builder_.getF64Type())
                    : element == ElementType::Bool ? mlir::Type(builder_.getI1Type())
                                                   : mlir::Type(builder_.getI64Type());
  return builder_.create<tok::CastOp>(location_, type, view(array, {integer(1), integer(1)}));
}

Value GraphBuilder::matrixOf(Value scalar) {
  return builder_.create<tok::FillOp>(location_, arrayType(2, scalar.getType()), scalar, integer(1),
                                      integer(1));
}

Value GraphBuilder::inIntegers(Value number) {
  return builder_.createOrFold<tok::CastOp>(location_, builder_.getI64Type(), number);
}

Value GraphBuilder::isOne(Value size) {
  Value truth = scalar(BinaryOperator::Eq, size, integer(1));
  return builder_.createOrFold<tok::CastOp>(location_, builder_.getI64Type(), truth);
}

Value GraphBuilder::product(ArrayRef<Value> sizes) {
  Value product = integer(1);
  for (Value size : sizes)
    product = scalar(BinaryOperator::Mul, product, size);
  return product;
}

//===- cells ---------------------------------------------------------------------------------===//

Value GraphBuilder::literal(DenseElementsAttr cells) {
  auto type = arrayType(cells.getType().getRank(), cells.getElementType());
  return builder_.create<tok::LiteralOp>(location_, type, cells);
}

Value GraphBuilder::filled(double value, mlir::Type element) {
  auto type = RankedTensorType::get({}, builder_.getF64Type());
  return cast(literal(DenseElementsAttr::get(type, value)), element);
}

Value GraphBuilder::filled(double value, mlir::Type element, ArrayRef<Value> sizes) {
  return broadcast(filled(value, element), sizes);
}

// Operands are shown in one rank, at least 1: what is known of an array's sizes can't tell an array without
// dimensions from one of which nothing is known (ir/tok/Facts.h).
Value GraphBuilder::cellwise(ArrayRef<Value> operands,
                             function_ref<Value(ArrayRef<Value> operands, int64_t rank)> create) {
  int64_t rank = 0;
  for (Value operand : operands)
    rank = tok::isArray(operand.getType()) ? std::max(rank, rankOf(operand)) : rank;
  Values shown;
  for (Value operand : operands)
    shown.push_back(tok::isArray(operand.getType()) ? withRank(operand, std::max<int64_t>(rank, 1))
                                                    : operand);
  Value result = create(shown, std::max<int64_t>(rank, 1));
  return rank == 0 ? view(result, {}) : result;
}

// The standard's name, not the compiler's.
static std::string_view nameInModel(ElementType type) {
  return type == ElementType::Bool ? "bool" : nameOf(type);
}

static void checkProducts(Value array) {
  if (GraphBuilder::elementTypeOf(array) == ElementType::Bool)
    throw Error("booleans have no products");
}

template <typename Operator> static void checkTakes(Operator op, Value array) {
  ElementType element = GraphBuilder::elementTypeOf(array);
  if (!takes(op, element))
    throw Error(fmt::format("cells of {} have no '{}'", nameInModel(element), mnemonic(op)));
}

Value GraphBuilder::unary(UnaryOperator op, Value operand) {
  checkTakes(op, operand);
  bool isTruth = elementTypeOf(operand) == ElementType::Bool && op != UnaryOperator::Not;
  if (std::optional<Values> scalars = isTruth ? std::nullopt : asScalars(operand))
    return arrayOfScalar(builder_.create<tok::UnaryOp>(location_, op, scalars->front()));
  return cellwise(operand, [&](ArrayRef<Value> shown, int64_t) -> Value {
    return builder_.create<tok::UnaryOp>(location_, op, shown[0]);
  });
}

Value GraphBuilder::binary(BinaryOperator op, Value lhs, Value rhs) {
  bool isLeft = tok::isArray(lhs.getType()), isRight = tok::isArray(rhs.getType());
  checkTakes(op, isLeft ? lhs : rhs);
  if (isLeft && isRight && elementOf(lhs) != elementOf(rhs))
    throw Error(fmt::format("cells of {} and of {} go into one '{}'",
                            nameInModel(elementTypeOf(lhs)), nameInModel(elementTypeOf(rhs)),
                            mnemonic(op)));
  ElementType element = elementTypeOf(isLeft ? lhs : rhs);
  if (element == ElementType::F64 || resultOf(op) == CellResult::Boolean)
    if (std::optional<Values> scalars = asScalars({lhs, rhs}))
      return arrayOfScalar(
          builder_.create<tok::BinaryOp>(location_, op, scalars->front(), scalars->back()));
  // A number beside an array is no array that has to be repeated.
  if (element == ElementType::F64 && isLeft && isRight) {
    if (rankOf(lhs) == 0)
      lhs = asScalar(lhs);
    else if (rankOf(rhs) == 0)
      rhs = asScalar(rhs);
  }
  return cellwise({lhs, rhs}, [&](ArrayRef<Value> shown, int64_t rank) -> Value {
    auto binary = builder_.create<tok::BinaryOp>(location_, op, shown[0], shown[1]);
    // Numbers with fractions don't go with integers.
    if (!binary.getType())
      throw Error(fmt::format("cells of {} have no '{}' with such a number",
                              nameInModel(elementTypeOf(isLeft ? lhs : rhs)), mnemonic(op)));
    if (resultOf(op) == CellResult::Boolean)
      binary.getResult().setType(arrayType(rank, builder_.getI1Type()));
    return binary;
  });
}

Value GraphBuilder::select(Value condition, Value then, Value otherwise) {
  mlir::Type element = elementOf(then);
  if (std::optional<Values> scalars = asScalars({condition, then, otherwise}))
    return arrayOfScalar(builder_.create<tok::IfElseOp>(location_, (*scalars)[1].getType(),
                                                        (*scalars)[0], (*scalars)[1], (*scalars)[2],
                                                        UnitAttr()));
  return cellwise({condition, then, otherwise}, [&](ArrayRef<Value> shown, int64_t rank) -> Value {
    return builder_.create<tok::IfElseOp>(location_, arrayType(rank, element), shown[0], shown[1],
                                          shown[2], UnitAttr());
  });
}

Value GraphBuilder::cast(Value array, mlir::Type element) {
  if (elementOf(array) == element)
    return array;
  if (element.isF64())
    if (std::optional<Values> scalars = asScalars(array))
      return arrayOfScalar(builder_.create<tok::CastOp>(location_, element, scalars->front()));
  // Comparisons can give 1 and 0 in the type that they compare.
  if (auto test = array.getDefiningOp<tok::BinaryOp>();
      test && resultOf(test.getKind()) == CellResult::Boolean) {
    auto direct =
        builder_.create<tok::BinaryOp>(location_, test.getKind(), test.getLhs(), test.getRhs());
    if (direct.getType() == arrayType(rankOf(array), element))
      return direct;
    direct.erase();
  }
  return cellwise(array, [&](ArrayRef<Value> shown, int64_t rank) -> Value {
    return builder_.create<tok::CastOp>(location_, arrayType(rank, element), shown[0]);
  });
}

Value GraphBuilder::roundToEven(Value x) {
  // In doubles, which round so when 2^52 is added: every float that is not whole leaves that much room. Of magnitudes,
  // since what is rounded to 0 keeps its sign.
  constexpr double whole = 0x1p52;
  Value wide = cast(x, ElementType::F64);
  Value magnitude = unary(UnaryOperator::Abs, wide);
  Value rounded =
      binary(BinaryOperator::Sub, binary(BinaryOperator::Add, magnitude, real(whole)), real(whole));
  Value isNegative = binary(BinaryOperator::Lt, wide, real(0));
  Value withSign = select(isNegative, unary(UnaryOperator::Neg, rounded), rounded);
  Value isWhole = binary(BinaryOperator::Or, binary(BinaryOperator::Ge, magnitude, real(whole)),
                         binary(BinaryOperator::Eq, wide, real(0)));
  Value isNan = cast(unary(UnaryOperator::IsNan, wide), ElementType::Bool);
  return cast(select(isNan, wide, select(isWhole, wide, withSign)), elementOf(x));
}

void GraphBuilder::checkSameCells(ArrayRef<Value> arrays) {
  for (Value array : arrays)
    if (elementOf(array) != elementOf(arrays.front()))
      throw Error(fmt::format("cells of {} and of {}, where one type is expected",
                              nameInModel(elementTypeOf(arrays.front())),
                              nameInModel(elementTypeOf(array))));
}

//===- products and aggregates ---------------------------------------------------------------===//

Value GraphBuilder::matmul(Value lhs, Value rhs) {
  checkSameCells({lhs, rhs});
  checkProducts(lhs);
  int64_t rank = std::max(rankOf(lhs), rankOf(rhs));
  Value left = withRank(lhs, rank), right = withRank(rhs, rank);
  return builder_.create<tok::MatmulOp>(location_, left.getType(), left, right);
}

Value GraphBuilder::convolve(Value image, Value weights, Value groups, ArrayRef<Value> numbers) {
  checkSameCells({image, weights});
  checkProducts(image);
  SmallVector<Value> operands = {image, weights, groups};
  llvm::append_range(operands, numbers);
  return native("convolve", operands, rankOf(image), elementOf(image));
}

GraphBuilder::Grouped GraphBuilder::groupLast(Value array, ArrayRef<int64_t> dimensions) {
  Numbers order;
  Grouped grouped;
  Values reduced, front;
  for (int64_t i = 0; i < rankOf(array); ++i) {
    bool isReduced = llvm::is_contained(dimensions, i);
    grouped.kept.push_back(isReduced ? integer(1) : size(array, i));
    if (isReduced)
      continue;
    order.push_back(i);
    grouped.flat.push_back(grouped.kept.back());
  }
  for (int64_t i = 0; i < rankOf(array); ++i)
    if (llvm::is_contained(dimensions, i)) {
      order.push_back(i);
      reduced.push_back(size(array, i));
    }
  front = grouped.flat;
  front.push_back(product(reduced));
  grouped.array = permute(array, order);
  // Aggregates of rows are of arrays of at least two dimensions.
  if (front.size() < 2)
    front.insert(front.begin(), integer(1));
  grouped.array = view(grouped.array, front);
  return grouped;
}

Value GraphBuilder::reduce(AggregateKind kind, Value array, ArrayRef<int64_t> dimensions,
                           KeepDimensions keep) {
  if (elementTypeOf(array) == ElementType::Bool && kind != AggregateKind::Min &&
      kind != AggregateKind::Max && !isIndex(kind))
    throw Error(fmt::format("booleans have no '{}'", mnemonic(kind)));
  bool isPlace = isIndex(kind);
  int64_t rank = rankOf(array);
  if (elementTypeOf(array) == ElementType::F64 && !isPlace && rank > 0 &&
      static_cast<int64_t>(dimensions.size()) == rank) {
    Value all = builder_.create<tok::AggregateOp>(location_, kind, AggregateDirection::Full, array);
    return keep == KeepDimensions::Yes ? view(matrixOf(all), Values(rank, integer(1)))
                                       : arrayOfScalar(all);
  }
  Grouped grouped = groupLast(array, dimensions);
  auto aggregate =
      builder_.create<tok::AggregateOp>(location_, kind, AggregateDirection::Row, grouped.array);
  if (isPlace)
    aggregate.getResult().setType(arrayType(rankOf(grouped.array), builder_.getI64Type()));
  return view(aggregate, keep == KeepDimensions::Yes ? grouped.kept : grouped.flat);
}
