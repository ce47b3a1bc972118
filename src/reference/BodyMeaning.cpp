#include "reference/BodyMeaning.h"

#include "base/Error.h"
#include "ir/tok/ElementTypes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;
using reference::CellArray;

namespace {

// `integer` of types of integers, else `real`.
struct Cell {
  double real = 0;
  int64_t integer = 0;
};

ElementType elementOf(Type type) { return *tok::elementTypeOf(type); }

Cell converted(Cell cell, ElementType from, ElementType to) {
  if (isFloat(from))
    return isFloat(to) ? Cell{roundedTo(to, cell.real)} : Cell{0, integerOf(to, cell.real)};
  return isFloat(to) ? Cell{roundedTo(to, doubleOf(from, cell.integer))}
                     : Cell{0, wrappedTo(to, cell.integer)};
}

// Aggregates cells, which are added one after the other.
class Aggregation {
public:
  Aggregation(AggregateKind kind, ElementType cells)
      : kind_(kind), type_(cells), isMax_(isOfLargest(kind)) {
    if (kind == AggregateKind::Prod)
      best_ = {1, 1};
    else if (kind != AggregateKind::Sum)
      best_ = {isMax_ ? -INFINITY : INFINITY,
               isFloat(cells) ? 0 : (isMax_ ? leastInteger(cells) : largestInteger(cells))};
  }

  void add(Cell cell) {
    ++count_;
    if (isIndex(kind_)) {
      if (isBetter(cell)) {
        best_ = cell;
        index_ = count_;
      }
      return;
    }
    sum_ += cell.real;
    best_ = {evaluate(operatorOf(), best_.real, cell.real),
             isFloat(type_) ? 0 : evaluate(operatorOf(), wideType(), best_.integer, cell.integer)};
  }

  // The result and its type.
  std::pair<Cell, ElementType> total() const {
    if (isIndex(kind_))
      return {{static_cast<double>(index_)}, ElementType::F64};
    if (!isFloat(type_))
      return {best_, wideType()};
    return {kind_ == AggregateKind::Sum ? Cell{static_cast<double>(sum_)} : best_,
            ElementType::F64};
  }

private:
  ElementType wideType() const {
    return type_ == ElementType::U64 ? ElementType::U64 : ElementType::I64;
  }
  bool isBetter(Cell cell) const {
    BinaryOperator op = replacingComparison(kind_);
    return isFloat(type_) ? evaluate(op, cell.real, best_.real) != 0
                          : evaluate(op, wideType(), cell.integer, best_.integer) != 0;
  }
  BinaryOperator operatorOf() const {
    switch (kind_) {
    case AggregateKind::Prod:
      return BinaryOperator::Mul;
    case AggregateKind::Min:
      return BinaryOperator::Min;
    case AggregateKind::Max:
      return BinaryOperator::Max;
    default:
      return BinaryOperator::Add;
    }
  }

  AggregateKind kind_;
  ElementType type_;
  bool isMax_;
  long double sum_ = 0;
  Cell best_;
  int64_t count_ = 0, index_ = 1;
};

class BodyInterpreter {
public:
  BodyInterpreter(OperatorOp op, std::vector<CellArray> operands)
      : op_(op), operands_(std::move(operands)) {
    SmallVector<SmallVector<Size>> sizes = op.operandSizes();
    for (auto [declared, operand] : llvm::zip(sizes, operands_))
      for (auto [size, value] : llvm::zip(declared, operand.sizes))
        if (size.isSymbol())
          symbols_.try_emplace(size.symbolId(), value);
    for (auto [number, declared] : llvm::enumerate(sizes))
      for (auto [dimension, size] : llvm::enumerate(declared))
        if (int64_t is = operands_[number].sizes[dimension]; is != valueOf(size))
          throw Error(fmt::format("dimension {} of operand {} has size {} instead of {}",
                                  dimension + 1, number + 1, is, valueOf(size)));
    for (const Size &size : op.axisSizes())
      axes_.push_back(valueOf(size));
  }

  std::vector<CellArray> run() {
    std::vector<CellArray> results;
    for (auto [sizes, type] : llvm::zip(op_.resultSizes(), op_.getResultTypes())) {
      CellArray &result = results.emplace_back();
      for (const Size &size : sizes)
        result.sizes.push_back(valueOf(size));
      allocate(result, elementOf(getElementTypeOrSelf(type)), count(result.sizes));
    }
    for (Operation &operation : op_.getBody().front()) {
      if (auto write = dyn_cast<WriteOp>(operation))
        this->write(write, results[write.getNumber()]);
      else
        compute(operation);
    }
    return results;
  }

private:
  // A place on all axes; those that a value does not run over are 0.
  using Point = std::vector<int64_t>;

  int64_t valueOf(const Size &size) const {
    return size.evaluate([this](int64_t id) {
      auto found = symbols_.find(id);
      if (found == symbols_.end())
        throw Error(fmt::format("the size s{} is not that of an operand", id));
      return found->second;
    });
  }
  static int64_t count(ArrayRef<int64_t> sizes) {
    int64_t cells = 1;
    for (int64_t size : sizes)
      cells *= size;
    return cells;
  }
  static ArrayRef<unsigned> axesOf(Value cell) { return cast<CellType>(cell.getType()).getAxes(); }

  static void allocate(CellArray &array, ElementType type, int64_t cells) {
    if (isFloat(type))
      array.cells.resize(cells);
    else
      array.integers.resize(cells);
  }
  static Cell cellOf(const CellArray &array, int64_t index) {
    return array.integers.empty() ? Cell{array.cells[index]} : Cell{0, array.integers[index]};
  }
  static void setCell(CellArray &array, int64_t index, Cell cell) {
    if (array.integers.empty())
      array.cells[index] = cell.real;
    else
      array.integers[index] = cell.integer;
  }

  template <typename Visit>
  void forEach(ArrayRef<unsigned> axes, Point &point, const Visit &visit) {
    if (axes.empty())
      return visit(point);
    for (int64_t i = 0; i < axes_[axes[0]]; ++i) {
      point[axes[0]] = i;
      forEach(axes.drop_front(), point, visit);
    }
    point[axes[0]] = 0;
  }

  Cell at(Value cell, const Point &point) const {
    int64_t index = 0;
    for (unsigned axis : axesOf(cell))
      index = index * axes_[axis] + point[axis];
    return cellOf(values_.find(cell)->second, index);
  }

  // The index of the cell at the place that the map gives; -1 outside of the array.
  int64_t cellAt(AffineMap map, ValueRange indices, const Point &point, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> symbols;
    for (Value index : indices)
      symbols.push_back(at(index, point).integer);
    int64_t cell = 0;
    for (auto [expression, size] : llvm::zip(map.getResults(), sizes)) {
      int64_t place = placeOf(expression, point, symbols);
      if (place < 0 || place >= size)
        return -1;
      cell = cell * size + place;
    }
    return cell;
  }

  static int64_t placeOf(AffineExpr expression, const Point &point, ArrayRef<int64_t> symbols) {
    if (auto axis = dyn_cast<AffineDimExpr>(expression))
      return point[axis.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
      return symbols[symbol.getPosition()];
    if (auto constant = dyn_cast<AffineConstantExpr>(expression))
      return constant.getValue();
    auto binary = cast<AffineBinaryOpExpr>(expression);
    int64_t a = placeOf(binary.getLHS(), point, symbols),
            b = placeOf(binary.getRHS(), point, symbols);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return a + b;
    case AffineExprKind::Mul:
      return a * b;
    case AffineExprKind::Mod:
      return a - b * llvm::divideFloorSigned(a, b);
    case AffineExprKind::FloorDiv:
      return llvm::divideFloorSigned(a, b);
    default:
      return llvm::divideCeilSigned(a, b);
    }
  }

  Cell read(ReadOp read, const Point &point) {
    const CellArray &array = operands_[cast<BlockArgument>(read.getOperand()).getArgNumber()];
    int64_t cell = cellAt(read.getMap(), read.getIndices(), point, array.sizes);
    if (cell >= 0)
      return cellOf(array, cell);
    if (std::optional<llvm::APFloat> outside = read.getOutside())
      return converted({outside->convertToDouble()}, ElementType::F64, cellsOf(read.getCell()));
    throw Error("a place outside of the array is read");
  }

  void write(WriteOp write, CellArray &result) {
    SmallVector<unsigned> axes;
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (llvm::is_contained(axesOf(write.getCell()), axis) || write.getMap().isFunctionOfDim(axis))
        axes.push_back(axis);
    Point point(axes_.size());
    forEach(axes, point, [&](const Point &point) {
      int64_t cell = cellAt(write.getMap(), write.getIndices(), point, result.sizes);
      if (cell < 0)
        throw Error("a place outside of the result is written");
      setCell(result, cell, at(write.getCell(), point));
    });
  }

  Cell reduce(ReduceOp op, Point &point) {
    SmallVector<unsigned> over(op.getOver().begin(), op.getOver().end());
    Aggregation aggregation(op.getKind(), cellsOf(op.getOperand()));
    forEach(over, point, [&](const Point &inner) { aggregation.add(at(op.getOperand(), inner)); });
    auto [total, type] = aggregation.total();
    return converted(total, type, cellsOf(op.getCell()));
  }

  Cell scan(ScanOp op, Point point) {
    int64_t last = point[op.getOver().front()];
    Aggregation aggregation(op.getKind(), cellsOf(op.getOperand()));
    for (int64_t &place = point[op.getOver().front()] = 0; place <= last; ++place)
      aggregation.add(at(op.getOperand(), point));
    auto [total, type] = aggregation.total();
    return converted(total, type, cellsOf(op.getCell()));
  }

  Cell reindex(ReindexOp op, const Point &point) {
    Point from(axes_.size());
    for (auto [axis, expression] : llvm::zip(axesOf(op.getOperand()), op.getMap().getResults()))
      from[axis] = placeOf(expression, point, {});
    return at(op.getOperand(), from);
  }

  // An operator on cells of one type; `integers` evaluates it for integers, `reals` for floats.
  template <typename OfReals, typename OfIntegers>
  static Cell computed(ElementType type, ElementType result, OfReals ofReals,
                       OfIntegers ofIntegers) {
    if (isFloat(type))
      return converted({ofReals()}, ElementType::F64, result);
    return converted({0, ofIntegers()}, type, result);
  }

  Cell compute(Operation &operation, Point &point) {
    auto operand = [&](unsigned number) { return at(operation.getOperand(number), point); };
    ElementType result = cellsOf(operation.getResult(0));
    if (auto read = dyn_cast<ReadOp>(operation))
      return this->read(read, point);
    if (auto unary = dyn_cast<UnaryOp>(operation)) {
      ElementType type = cellsOf(unary.getOperand());
      Cell x = operand(0);
      return computed(
          type, result, [&] { return evaluate(unary.getKind(), x.real); },
          [&] { return evaluate(unary.getKind(), type, x.integer); });
    }
    if (auto binary = dyn_cast<BinaryOp>(operation)) {
      ElementType type = cellsOf(binary.getLhs());
      Cell a = operand(0), b = operand(1);
      return computed(
          type, result, [&] { return evaluate(binary.getKind(), a.real, b.real); },
          [&] { return evaluate(binary.getKind(), type, a.integer, b.integer); });
    }
    if (auto choice = dyn_cast<IfElseOp>(operation)) {
      Cell condition = operand(0);
      bool holds =
          isFloat(cellsOf(choice.getCondition())) ? condition.real != 0 : condition.integer != 0;
      return operand(holds ? 1 : 2);
    }
    if (auto cast = dyn_cast<CastOp>(operation))
      return converted(operand(0), cellsOf(cast.getOperand()), result);
    if (auto constant = dyn_cast<ConstantOp>(operation)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        return {number.getValueAsDouble()};
      return {0, wrappedTo(result, mlir::cast<IntegerAttr>(constant.getValue()).getInt())};
    }
    if (auto number = dyn_cast<NumberOp>(operation))
      return {static_cast<double>(point[number.getAxis()] + 1)};
    if (auto size = dyn_cast<SizeOp>(operation))
      return {0, valueOf(*Size::parse(size.getSize().str()))};
    if (auto reduce = dyn_cast<ReduceOp>(operation))
      return this->reduce(reduce, point);
    if (auto scan = dyn_cast<ScanOp>(operation))
      return this->scan(scan, point);
    return reindex(mlir::cast<ReindexOp>(operation), point);
  }

  void compute(Operation &operation) {
    Value cell = operation.getResult(0);
    SmallVector<int64_t> sizes;
    for (unsigned axis : axesOf(cell))
      sizes.push_back(axes_[axis]);
    CellArray values;
    allocate(values, cellsOf(cell), count(sizes));
    int64_t index = 0;
    Point point(axes_.size());
    forEach(axesOf(cell), point,
            [&](Point &place) { setCell(values, index++, compute(operation, place)); });
    values_[cell] = std::move(values);
  }

  OperatorOp op_;
  std::vector<CellArray> operands_;
  std::vector<int64_t> axes_;
  llvm::DenseMap<int64_t, int64_t> symbols_;
  llvm::DenseMap<Value, CellArray> values_;
};

} // namespace

std::vector<CellArray> reference::meaningOf(OperatorOp op, std::vector<CellArray> operands) {
  return BodyInterpreter(op, std::move(operands)).run();
}

//===- values of a program -------------------------------------------------------------------===//

static CellArray arrayOf(const runtime::Value &value, ElementType type) {
  CellArray result;
  if (!value.isArray()) {
    if (isFloat(type))
      result.cells = {value.asDouble()};
    else
      result.integers = {value.asInteger()};
    return result;
  }
  const runtime::Array &array = *value.array();
  result.sizes.assign(array.shape().sizes().begin(), array.shape().sizes().end());
  withCellType(array.elementType(), [&]<typename Cell>() {
    const Cell *cells = array.cellsAs<Cell>();
    if (isFloat(type))
      std::transform(cells, cells + array.cells(), std::back_inserter(result.cells),
                     convertCell<double, Cell>);
    else
      std::transform(cells, cells + array.cells(), std::back_inserter(result.integers),
                     convertCell<int64_t, Cell>);
  });
  return result;
}

static runtime::Value valueOf(const CellArray &result, Type type) {
  ElementType element = *tok::elementTypeOf(getElementTypeOrSelf(type));
  if (!tok::isArray(type))
    return isFloat(element) ? runtime::Value(result.cells.front())
                            : runtime::Value(result.integers.front());
  runtime::ArrayPointer array = runtime::Array::create(
      runtime::Shape(std::span(result.sizes)), isFloat(element) ? ElementType::F64 : element);
  if (isFloat(element))
    std::copy(result.cells.begin(), result.cells.end(), array->mutableData());
  else
    withCellType(element, [&]<typename Cell>() {
      std::transform(result.integers.begin(), result.integers.end(), array->mutableCellsAs<Cell>(),
                     convertCell<Cell, int64_t>);
    });
  return array;
}

std::vector<runtime::Value> reference::meaningOfBody(OperatorOp op,
                                                     std::span<const runtime::Value> operands) {
  std::vector<CellArray> cells;
  for (auto [value, type] : llvm::zip(operands, op.getInputs().getTypes()))
    cells.push_back(arrayOf(value, *tok::elementTypeOf(cellsOfOperand(type))));
  std::vector<runtime::Value> results;
  for (auto [result, type] : llvm::zip(meaningOf(op, std::move(cells)), op.getResultTypes()))
    results.push_back(valueOf(result, type));
  return results;
}
