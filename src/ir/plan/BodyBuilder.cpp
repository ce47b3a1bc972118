#include "ir/plan/BodyBuilder.h"

#include "ir/tok/ElementTypes.h"
#include "ir/tok/SizesAttribute.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::plan;

// Maps have as many dimensions as the operator has axes, which is known when the body is complete.
static constexpr unsigned mostAxes = 64;

static ArrayRef<unsigned> ownAxes(Value cell) { return cast<CellType>(cell.getType()).getAxes(); }
static bool isScan(Operation *operation) {
  auto native = dyn_cast<tok::CallNativeOp>(operation);
  return native && native.getCumulativeKind();
}
static Type elementOf(Value cell) { return cast<CellType>(cell.getType()).getElement(); }

namespace {

class BodyBuilder {
  using Place = SmallVector<AffineExpr, 2>; // one for each dimension of an array
  // What was computed for a value of tok; several parts of one that is only written.
  struct Computed {
    Value cell;
    Place place;
    SmallVector<Value, 1> indices = {}; // of the place
  };

public:
  BodyBuilder(OperatorOp op, const Shape &space, ArrayRef<BodyStep> steps, SizesOf sizesOf)
      : op_(op), builder_(OpBuilder::atBlockEnd(&op.getBody().front())), location_(op.getLoc()),
        space_(space), sizesOf_(sizesOf) {
    if (space.outer.empty())
      axes_.push_back(space.rows);
    else
      axes_.assign(space.outer.begin(), space.outer.end());
    rowAxes_ = axes_.size();
    // Scans run one after the other along the rows, and beside each other along columns.
    bool scans = llvm::any_of(steps, [](const BodyStep &step) { return isScan(step.operation); });
    if (!space.hasOneColumn() || scans) {
      columnAxis_ = axes_.size();
      axes_.push_back(space.columns);
    }
    for (const BodyStep &step : steps) {
      Operation *operation = step.operation;
      auto aggregate = dyn_cast<tok::AggregateOp>(operation);
      bool keepsColumns = aggregate && aggregate.getDirection() == AggregateDirection::Column;
      if (!keepsColumns &&
          !isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::CastOp>(operation) &&
          !isScan(operation))
        continue;
      Value result = operation->getResult(0);
      for (Value operand : operation->getOperands())
        if (tok::isArray(operand.getType()) && !shapeOf(operand).hasOneColumn())
          combined_.unionSets(result.getAsOpaquePointer(), operand.getAsOpaquePointer());
    }
  }

  //===- one rule for each operation ---------------------------------------------------------===//

  // Creates an operation whose result runs over the axes that its operands require (axesOf).
  template <typename Op, typename... Arguments>
  Value create(Type element, Arguments &&...arguments) {
    auto typeOver = [&](ArrayRef<unsigned> axes) {
      return CellType::get(builder_.getContext(), axes, element);
    };
    auto op = builder_.create<Op>(location_, typeOver({}), std::forward<Arguments>(arguments)...);
    op.getCell().setType(typeOver(axesOf(op.getOperation())));
    return op.getCell();
  }

  void note(Operation *operation, Value cell, Place place) {
    computed_[operation->getResult(0)].push_back({cell, std::move(place)});
  }

  void add(const BodyStep &step) {
    const auto &[operation, operands, begin, isFalling, windows] = step;
    location_ = operation->getLoc();
    if (auto aggregate = dyn_cast<tok::AggregateOp>(operation)) {
      addAggregate(aggregate, operands[0]);
    } else if (auto product = dyn_cast<tok::MatmulOp>(operation)) {
      if (operands[0].value == product.getLhs())
        addProduct(product, operands[0], operands[1]);
      else
        addTransposedProduct(product, operands[0], operands[1]);
    } else if (auto slice = dyn_cast<tok::SliceOp>(operation)) {
      addSlice(slice, operands[0], begin);
    } else if (auto cbind = dyn_cast<tok::CbindOp>(operation)) {
      addColumns(cbind, operands);
    } else if (auto sequence = dyn_cast<tok::SeqOp>(operation)) {
      addSequence(sequence, operands[0], isFalling);
    } else if (!windows.empty()) {
      addConvolution(operation, operands[0], operands[1], windows);
    } else if (auto scan = dyn_cast<tok::CallNativeOp>(operation)) {
      Value x = cellOf(operands[0]);
      note(scan,
           create<ScanOp>(elementOf(x), *scan.getCumulativeKind(), x, SmallVector<int64_t>{0},
                          builder_.getF64Type()),
           placeOf(scan.getResult(0)));
    } else {
      addCells(operation, operands);
    }
  }

  // Operators compute in the type of the arrays, to which scalars are converted before.
  void addCells(Operation *operation, ArrayRef<BodyOperand> operands) {
    Value result = operation->getResult(0);
    Type element = cellsOfOperand(result.getType()), computing = element;
    for (const BodyOperand &operand : llvm::reverse(operands))
      if (tok::isArray(operand.value.getType()))
        computing = cellsOfOperand(operand.value.getType());
    Value cell;
    if (auto unary = dyn_cast<tok::UnaryOp>(operation)) {
      cell = create<UnaryOp>(element, unary.getKind(), cellOf(operands[0], computing));
    } else if (auto binary = dyn_cast<tok::BinaryOp>(operation)) {
      Value a = cellOf(operands[0], computing), b = cellOf(operands[1], computing);
      cell = create<BinaryOp>(element, binary.getKind(), a, b);
    } else if (isa<tok::IfElseOp>(operation)) {
      Value condition = cellOf(operands[0]), a = cellOf(operands[1], element),
            b = cellOf(operands[2], element);
      cell = create<IfElseOp>(element, condition, a, b);
    } else {
      cell = cellOf(operands[0], element);
    }
    note(operation, cell, placeOf(result));
  }

  void addAggregate(tok::AggregateOp aggregate, const BodyOperand &operand) {
    AggregateDirection direction = aggregate.getDirection();
    AggregateKind kind = aggregate.getKind();
    bool overRows = direction != AggregateDirection::Row;
    bool overColumns = direction != AggregateDirection::Column;
    Value x = cellOf(operand);
    SmallVector<int64_t> over;
    for (unsigned axis : ownAxes(x))
      if (axis < rowAxes_ ? overRows : overColumns)
        over.push_back(axis);
    Type element = cellsOfOperand(aggregate.getType());
    Type accumulator = builder_.getF64Type();
    bool isExtreme = kind == AggregateKind::Min || kind == AggregateKind::Max;
    if (ElementType cells = cellsOf(x); isExtreme && cells == ElementType::F32)
      accumulator = elementOf(x); // is exact
    else if (!isIndex(kind) && !isFloat(cells))
      accumulator = cells == ElementType::U64 ? builder_.getIntegerType(64, /*isSigned=*/false)
                                              : builder_.getI64Type();
    Value cell;
    if (over.empty() && isIndex(kind)) // of one column
      cell =
          convert(create<ConstantOp>(builder_.getF64Type(), builder_.getF64FloatAttr(1)), element);
    else
      cell = over.empty() ? convert(x, element)
                          : create<ReduceOp>(element, kind, x, over, accumulator);
    Place place = placeOf(aggregate.getResult());
    for (AffineExpr &expression : place)
      if (auto axis = dyn_cast<AffineDimExpr>(expression);
          axis && llvm::is_contained(over, axis.getPosition()))
        expression = builder_.getAffineConstantExpr(0);
    note(aggregate, cell, place);
  }

  // Row (i, x) times B (x, y), or B (i, x, y) of the row's matrix. Where x and y would be the same axis,
  // as in P + P %*% B, x becomes another one.
  void addProduct(tok::MatmulOp product, const BodyOperand &left, const BodyOperand &right) {
    AffineExpr x = columnsOf(left.value), y = columnsOf(product.getResult());
    Value row = cellOf(left);
    if (x == y && isa<AffineDimExpr>(x)) {
      AffineExpr other = spareAxis(left.value, y);
      row = reindexed(row, x, other);
      x = other;
    }
    Place matrix;
    for (auto [dimension, size] : llvm::enumerate(sizesOf_(right.value).drop_back(2)))
      matrix.push_back(size.isConstant(1) ? builder_.getAffineConstantExpr(0)
                                          : builder_.getAffineDimExpr(dimension));
    matrix.append({x, y});
    Value factor = read(right, matrix);
    SmallVector<int64_t> over;
    if (auto axis = dyn_cast<AffineDimExpr>(x))
      over.push_back(axis.getPosition());
    Place place = placeOf(left.value);
    place.back() = y;
    note(product, reducedProduct(row, factor, over, cellsOfOperand(product.getType())), place);
  }

  // t(left) %*% right.
  void addTransposedProduct(tok::MatmulOp product, const BodyOperand &left,
                            const BodyOperand &right) {
    AffineExpr x = columnsOf(left.value), y = columnsOf(right.value);
    Value a = cellOf(left), b = cellOf(right);
    if (x == y && isa<AffineDimExpr>(x)) {
      AffineExpr other = spareAxis(right.value, x);
      // What is read can be read along any axis.
      if (a.getDefiningOp<ReadOp>() && !b.getDefiningOp<ReadOp>())
        a = reindexed(a, std::exchange(x, other), other);
      else
        b = reindexed(b, std::exchange(y, other), other);
    }
    auto over = llvm::to_vector(llvm::seq<int64_t>(0, rowAxes_));
    note(product, reducedProduct(a, b, over, cellsOfOperand(product.getType())), {x, y});
  }

  // An axis of this size; the place 0 if it is 1.
  AffineExpr placeAlong(const Size &size) {
    if (size.isConstant(1))
      return builder_.getAffineConstantExpr(0);
    axes_.push_back(size);
    return builder_.getAffineDimExpr(axes_.size() - 1);
  }

  // Sums over the channels of the image and the places of a window of the image (n, c, y...) times the weights
  // (f, c, y...); with weights for one channel each filter has a channel of its own.
  void addConvolution(Operation *convolution, const BodyOperand &image, const BodyOperand &weights,
                      ArrayRef<WindowedDimension> windows) {
    Place result = placeOf(convolution->getResult(0));
    ArrayRef<Size> sizes = sizesOf_(weights.value);
    unsigned first = axes_.size();
    AffineExpr channel = placeAlong(sizes[1]);
    bool isByChannel = sizes[1].isConstant(1) && !sizesOf_(image.value)[1].isConstant(1);
    Place from = {result[0], isByChannel ? result[1] : channel}, factor = {result[1], channel};
    bool areWindows = false;
    for (auto [window, size, along] :
         llvm::zip_equal(windows, sizes.drop_front(2), ArrayRef(result).drop_front(2))) {
      factor.push_back(placeAlong(size));
      from.push_back(along * window.step + factor.back() * window.spacing + window.first);
      areWindows |= from.back() != along;
    }
    FloatAttr outside = areWindows ? builder_.getF64FloatAttr(0) : FloatAttr();
    Value cells = read(image, from, {}, outside), filter = read(weights, factor);
    auto over = llvm::to_vector(llvm::seq<int64_t>(first, axes_.size()));
    Type element = cellsOfOperand(convolution->getResult(0).getType());
    computed_[convolution->getResult(0)].push_back(
        {reducedProduct(cells, filter, over, element), result});
  }

  // What the place has to be moved by is a number of the map, or else a size that is an index.
  AffineExpr moved(AffineExpr place, const Size &distance, SmallVectorImpl<Value> &indices) {
    if (distance.isConstant())
      return place + distance.constantValue();
    indices.push_back(create<SizeOp>(builder_.getI64Type(), distance.text()));
    return place + builder_.getAffineSymbolExpr(indices.size() - 1);
  }

  void addSlice(tok::SliceOp slice, const BodyOperand &operand, ArrayRef<Size> begin) {
    Place place = placeOf(slice.getResult());
    SmallVector<Value> indices;
    Place from = {moved(place[0], begin[0], indices), moved(place[1], begin[1], indices)};
    note(slice, read(operand, from, indices), place);
  }

  void addColumns(tok::CbindOp cbind, ArrayRef<BodyOperand> operands) {
    Size before = Size::constant(0);
    for (const BodyOperand &operand : operands) {
      Computed part{cellOf(operand), placeOf(operand.value)};
      part.place[1] = moved(part.place[1], before, part.indices);
      computed_[cbind.getResult()].push_back(std::move(part));
      before = before + sizesOf_(operand.value)[1];
    }
  }

  // Whole numbers, one after the other, so that doubles are exact.
  void addSequence(tok::SeqOp sequence, const BodyOperand &from, bool isFalling) {
    Type real = builder_.getF64Type();
    auto constant = [&](double value) {
      return create<ConstantOp>(real, builder_.getF64FloatAttr(value));
    };
    Place place = placeOf(sequence.getResult());
    auto axis = dyn_cast<AffineDimExpr>(place.front());
    Value number =
        axis ? create<NumberOp>(real, builder_.getI64IntegerAttr(axis.getPosition())) : constant(1);
    // from - 1 + number, or from + 1 - number.
    Value cell = number;
    if (auto literal = from.value.getDefiningOp<tok::ConstantOp>()) {
      double first = cast<FloatAttr>(literal.getValue()).getValueAsDouble();
      if (isFalling)
        cell = create<BinaryOp>(real, BinaryOperator::Sub, constant(first + 1), number);
      else if (first != 1)
        cell = create<BinaryOp>(real, BinaryOperator::Add, number, constant(first - 1));
    } else {
      Value before = create<BinaryOp>(real, isFalling ? BinaryOperator::Add : BinaryOperator::Sub,
                                      cellOf(from), constant(1));
      cell = create<BinaryOp>(real, isFalling ? BinaryOperator::Sub : BinaryOperator::Add, before,
                              number);
    }
    note(sequence, convert(cell, cellsOfOperand(sequence.getType())), place);
  }

  // Products compute and accumulate in the type of their cells. Sums begin with 0, so that -0 becomes
  // 0 in that of one product, too.
  Value reducedProduct(Value left, Value right, ArrayRef<int64_t> over, Type element) {
    Value a = convert(left, element), b = convert(right, element);
    Value product = create<BinaryOp>(element, BinaryOperator::Mul, a, b);
    if (!over.empty())
      return create<ReduceOp>(element, AggregateKind::Sum, product, over, element);
    Value zero =
        convert(create<ConstantOp>(builder_.getF64Type(), builder_.getF64FloatAttr(0)), element);
    return create<BinaryOp>(element, BinaryOperator::Add, product, zero);
  }

  //===- operands ----------------------------------------------------------------------------===//

  // Its cells in their own element type, if no other is given.
  Value cellOf(const BodyOperand &operand, Type element = {}) {
    if (!element)
      element = cellsOfOperand(operand.value.getType());
    if (auto known = computed_.find(operand.value); known != computed_.end())
      return convert(known->second.front().cell, element);
    if (auto literal = operand.value.getDefiningOp<tok::ConstantOp>(); literal && !operand.argument)
      return constant(literal, element);
    return convert(read(operand, placeOf(operand.value)), element);
  }

  Value read(const BodyOperand &operand, const Place &place, ValueRange indices = {},
             FloatAttr outside = {}) {
    Place turned = place;
    if (operand.isTransposed)
      std::swap(turned[turned.size() - 2], turned.back());
    AffineMap map = mapOf(turned, indices.size());
    for (ReadOp known : op_.getBody().getOps<ReadOp>())
      if (known.getOperand() == operand.argument && known.getMap() == map && indices.empty() &&
          known.getOutsideAttr() == outside)
        return known.getCell();
    Type element = cellsOfOperand(operand.argument.getType());
    Value cell =
        create<ReadOp>(element, operand.argument, AffineMapAttr::get(map), indices, outside);
    // Arrays of one dimension are the only row of the space.
    if (place.size() == 1 && space_.hasOneRow() && !map.isFunctionOfDim(0)) {
      SmallVector<unsigned> axes = {0};
      llvm::append_range(axes, ownAxes(cell));
      cell.setType(CellType::get(builder_.getContext(), axes, element));
    }
    return cell;
  }

  Value convert(Value cell, Type element) {
    if (elementOf(cell) == element)
      return cell;
    Value &known = converted_[{cell, element}];
    if (!known)
      known = create<CastOp>(element, cell);
    return known;
  }

  // The literal, converted to `element` by the rules of base/ElementType.h.
  Value constant(tok::ConstantOp literal, Type element) {
    Value &known = converted_[{literal.getResult(), element}];
    if (known)
      return known;
    ElementType type = *tok::elementTypeOf(element);
    auto converted = [&](auto number) -> TypedAttr {
      return withCellType(type, [&]<typename Cell>() -> TypedAttr {
        Cell cell = convertCell<Cell>(number);
        if (isFloat(type))
          return FloatAttr::get(element, convertCell<double>(cell));
        return IntegerAttr::get(element, convertCell<int64_t>(cell));
      });
    };
    TypedAttr value;
    if (auto real = dyn_cast<FloatAttr>(literal.getValue()))
      value = converted(real.getValueAsDouble());
    else if (auto integer = cast<IntegerAttr>(literal.getValue()); integer.getType().isInteger(1))
      value = converted(static_cast<int64_t>(integer.getValue().getBoolValue()));
    else
      value = converted(integer.getInt());
    return known = create<ConstantOp>(element, value);
  }

  //===- places and axes ---------------------------------------------------------------------===//

  Shape shapeOf(Value value) const { return Shape::of(sizesOf_(value)); }

  // Where the array lies, by axesOf; nothing for scalars.
  Place placeOf(Value value) {
    auto array = dyn_cast<RankedTensorType>(value.getType());
    size_t rank = array ? array.getRank() : 0;
    Place place(rank, builder_.getAffineConstantExpr(0));
    if (rank == 0)
      return place;
    Shape shape = shapeOf(value);
    std::optional<Axes> axes = axesOf(shape, space_);
    assert((axes || shape.repeatsAlongRowsOf(space_)) &&
           "only values that fit the space are part of an operator");
    if (!axes || has(*axes, Axes::Rows))
      for (size_t dimension = 0; dimension + 1 < rank; ++dimension)
        if (axes || !shape.outer[dimension].isConstant(1))
          place[dimension] = builder_.getAffineDimExpr(dimension);
    place.back() = columnsOf(value);
    return place;
  }

  // The axis of the last dimension; 0 if there is one column, unless the space has an axis for it.
  AffineExpr columnsOf(Value array) {
    Shape shape = shapeOf(array);
    if (columnAxis_ && shape.columns == space_.columns)
      return builder_.getAffineDimExpr(*columnAxis_);
    if (shape.hasOneColumn())
      return builder_.getAffineConstantExpr(0);
    void *leader = combined_.getOrInsertLeaderValue(array.getAsOpaquePointer());
    auto [axis, isNew] = axisOf_.try_emplace(leader, axes_.size());
    if (isNew)
      axes_.push_back(shape.columns);
    return builder_.getAffineDimExpr(axis->second);
  }

  // An axis as long as the columns of the array, other than this one.
  AffineExpr spareAxis(Value array, AffineExpr notThis) {
    Size size = shapeOf(array).columns;
    for (unsigned axis : spare_)
      if (axes_[axis] == size && builder_.getAffineDimExpr(axis) != notThis)
        return builder_.getAffineDimExpr(axis);
    spare_.push_back(axes_.size());
    axes_.push_back(size);
    return builder_.getAffineDimExpr(spare_.back());
  }

  Value reindexed(Value cell, AffineExpr from, AffineExpr to) {
    Place place;
    for (unsigned axis : ownAxes(cell)) {
      AffineExpr expression = builder_.getAffineDimExpr(axis);
      place.push_back(expression == from ? to : expression);
    }
    return create<ReindexOp>(elementOf(cell), cell, AffineMapAttr::get(mapOf(place)));
  }

  AffineMap mapOf(ArrayRef<AffineExpr> place, unsigned symbols = 0) const {
    return AffineMap::get(mostAxes, symbols, place, builder_.getContext());
  }

  //===- results -----------------------------------------------------------------------------===//

  // Writes what was added to the next result of the operator.
  void write(const BodyResult &result) {
    for (Computed part : computed_.find(result.value)->second) {
      if (result.isTransposed)
        std::swap(part.place[0], part.place[1]);
      builder_.create<WriteOp>(location_, part.cell, results_,
                               mapOf(part.place, part.indices.size()), part.indices);
    }
    ++results_;
  }

  // Sets the axes of the operator.
  void finish() {
    for (Operation &operation : op_.getBody().front())
      if (auto map = operation.getAttrOfType<AffineMapAttr>("map"))
        operation.setAttr("map", AffineMapAttr::get(AffineMap::get(
                                     axes_.size(), map.getValue().getNumSymbols(),
                                     map.getValue().getResults(), builder_.getContext())));
    op_.setAxisSizesAttr(tok::sizesAttribute(builder_.getContext(), axes_));
  }

private:
  OperatorOp op_;
  OpBuilder builder_;
  Location location_;
  Shape space_;
  SizesOf sizesOf_;
  SmallVector<Size> axes_;
  unsigned rowAxes_ = 1;               // axes 0 ... rowAxes_ - 1
  std::optional<unsigned> columnAxis_; // none if there is one column, but for scans
  // Arrays whose cells are combined with each other have their columns along one axis.
  llvm::EquivalenceClasses<void *> combined_;
  // By leader of `combined_`: axes that are no columns of the space.
  DenseMap<void *, unsigned> axisOf_;
  SmallVector<unsigned> spare_; // axes along which products read rows that they are combined with
  int64_t results_ = 0;
  DenseMap<Value, SmallVector<Computed, 1>> computed_;
  DenseMap<std::pair<Value, Type>, Value> converted_;
};

} // namespace

void plan::buildBody(OperatorOp op, const Shape &space, ArrayRef<BodyStep> steps,
                     ArrayRef<BodyResult> results, SizesOf sizesOf) {
  BodyBuilder body(op, space, steps, sizesOf);
  for (const BodyStep &step : steps)
    body.add(step);
  for (const BodyResult &result : results)
    body.write(result);
  body.finish();
}
