// The interpreter of BodyInterpreter.h, and the bodies of docs/plan-ir.md beside hand-written loops.
#include "codegen/BodyInterpreter.h"

#include "base/CellOperators.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

double aggregateOf(AggregateKind kind, const std::vector<double> &cells) {
  long double sum = 0;
  double best = kind == AggregateKind::Prod ? 1 : NAN;
  bool isMax = kind == AggregateKind::Max || kind == AggregateKind::IndexMax;
  if (kind == AggregateKind::Min || kind == AggregateKind::Max)
    best = isMax ? -INFINITY : INFINITY;
  double index = 1, extreme = isMax ? -INFINITY : INFINITY;
  for (size_t i = 0; i < cells.size(); ++i) {
    double cell = cells[i];
    sum += cell;
    if (kind == AggregateKind::Prod)
      best *= cell;
    else if (kind == AggregateKind::Min || kind == AggregateKind::Max)
      best = evaluate(isMax ? BinaryOperator::Max : BinaryOperator::Min, best, cell);
    if (isMax ? cell >= extreme : cell <= extreme) {
      extreme = cell;
      index = static_cast<double>(i + 1);
    }
  }
  if (kind == AggregateKind::Sum)
    return static_cast<double>(sum);
  return kind == AggregateKind::IndexMax || kind == AggregateKind::IndexMin ? index : best;
}

class BodyInterpreter {
public:
  BodyInterpreter(plan::OperatorOp op, const std::vector<Cells> &arrays,
                  const std::vector<double> &scalars)
      : op_(op) {
    SmallVector<SmallVector<Size>> operandSizes = op.operandSizes();
    size_t array = 0, scalar = 0;
    for (BlockArgument argument : op.getBody().getArguments()) {
      bool isArray = tok::isArray(argument.getType());
      operands_[argument] = isArray ? arrays[array++] : Cells{{}, {scalars[scalar++]}};
      for (auto [size, value] :
           llvm::zip(operandSizes[argument.getArgNumber()], operands_[argument].sizes))
        if (size.isSymbol())
          symbols_[size.symbolId()] = value;
    }
    for (const Size &size : op.axisSizes())
      axes_.push_back(valueOf(size));
  }

  std::vector<Cells> run() {
    std::vector<Cells> results;
    for (const SmallVector<Size> &sizes : op_.resultSizes()) {
      Cells &result = results.emplace_back();
      for (const Size &size : sizes)
        result.sizes.push_back(valueOf(size));
      result.cells.assign(count(result.sizes), NAN);
    }
    for (Operation &operation : op_.getBody().front()) {
      if (auto write = dyn_cast<plan::WriteOp>(operation))
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
    return size.evaluate([this](int64_t id) { return symbols_.lookup(id); });
  }
  static int64_t count(ArrayRef<int64_t> sizes) {
    int64_t cells = 1;
    for (int64_t size : sizes)
      cells *= size;
    return cells;
  }
  static ArrayRef<unsigned> axesOf(Value cell) {
    return cast<plan::CellType>(cell.getType()).getAxes();
  }

  template <typename Visit> void forEach(ArrayRef<unsigned> axes, Point point, const Visit &visit) {
    if (axes.empty())
      return visit(point);
    for (int64_t i = 0; i < axes_[axes[0]]; ++i) {
      point[axes[0]] = i;
      forEach(axes.drop_front(), point, visit);
    }
  }

  double at(Value cell, const Point &point) const {
    int64_t index = 0;
    for (unsigned axis : axesOf(cell))
      index = index * axes_[axis] + point[axis];
    return values_.find(cell)->second[index];
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
    return binary.getKind() == AffineExprKind::Add ? a + b : a * b;
  }

  // The index of the cell at the place that the map gives; -1 outside of the array.
  int64_t cellAt(AffineMap map, ValueRange indices, const Point &point, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> symbols;
    for (Value index : indices)
      symbols.push_back(static_cast<int64_t>(at(index, point)));
    int64_t cell = 0;
    for (auto [expression, size] : llvm::zip(map.getResults(), sizes)) {
      int64_t place = placeOf(expression, point, symbols);
      if (place < 0 || place >= size)
        return -1;
      cell = cell * size + place;
    }
    return cell;
  }

  double read(plan::ReadOp read, const Point &point) {
    const Cells &array = operands_[read.getOperand()];
    int64_t cell = cellAt(read.getMap(), read.getIndices(), point, array.sizes);
    if (cell >= 0)
      return array.cells[cell];
    if (std::optional<llvm::APFloat> outside = read.getOutside())
      return outside->convertToDouble();
    ADD_FAILURE() << "a place outside of the array";
    return std::numeric_limits<double>::quiet_NaN();
  }

  void write(plan::WriteOp write, Cells &result) {
    SmallVector<unsigned> axes;
    for (unsigned axis = 0; axis < axes_.size(); ++axis)
      if (llvm::is_contained(axesOf(write.getCell()), axis) || write.getMap().isFunctionOfDim(axis))
        axes.push_back(axis);
    forEach(axes, Point(axes_.size()), [&](const Point &point) {
      int64_t cell = cellAt(write.getMap(), write.getIndices(), point, result.sizes);
      if (cell < 0)
        ADD_FAILURE() << "written outside of the result";
      else
        result.cells[cell] = at(write.getCell(), point);
    });
  }

  double reduce(plan::ReduceOp op, const Point &point) {
    SmallVector<unsigned> over(op.getOver().begin(), op.getOver().end());
    std::vector<double> cells;
    forEach(over, point, [&](const Point &inner) { cells.push_back(at(op.getOperand(), inner)); });
    return aggregateOf(op.getKind(), cells);
  }

  double scan(plan::ScanOp op, Point point) {
    int64_t last = point[op.getOver().front()];
    std::vector<double> cells;
    for (int64_t &place = point[op.getOver().front()] = 0; place <= last; ++place)
      cells.push_back(at(op.getOperand(), point));
    return aggregateOf(op.getKind(), cells);
  }

  double reindex(plan::ReindexOp op, const Point &point) {
    Point from(axes_.size());
    for (auto [axis, expression] : llvm::zip(axesOf(op.getOperand()), op.getMap().getResults()))
      from[axis] = placeOf(expression, point, {});
    return at(op.getOperand(), from);
  }

  double compute(Operation &operation, const Point &point) {
    auto operand = [&](unsigned number) { return at(operation.getOperand(number), point); };
    if (auto read = dyn_cast<plan::ReadOp>(operation))
      return this->read(read, point);
    if (auto unary = dyn_cast<plan::UnaryOp>(operation))
      return evaluate(unary.getKind(), operand(0));
    if (auto binary = dyn_cast<plan::BinaryOp>(operation))
      return evaluate(binary.getKind(), operand(0), operand(1));
    if (isa<plan::IfElseOp>(operation))
      return operand(0) != 0 ? operand(1) : operand(2);
    if (isa<plan::CastOp>(operation))
      return operand(0);
    if (auto constant = dyn_cast<plan::ConstantOp>(operation)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        return number.getValueAsDouble();
      return static_cast<double>(cast<IntegerAttr>(constant.getValue()).getInt());
    }
    if (auto size = dyn_cast<plan::SizeOp>(operation))
      return static_cast<double>(valueOf(*Size::parse(size.getSize().str())));
    if (auto reduce = dyn_cast<plan::ReduceOp>(operation))
      return this->reduce(reduce, point);
    if (auto scan = dyn_cast<plan::ScanOp>(operation))
      return this->scan(scan, point);
    return reindex(cast<plan::ReindexOp>(operation), point);
  }

  void compute(Operation &operation) {
    Value cell = operation.getResult(0);
    ElementType type = plan::cellsOf(cell);
    std::vector<double> cells;
    forEach(axesOf(cell), Point(axes_.size()), [&](const Point &point) {
      cells.push_back(roundedTo(type, compute(operation, point)));
    });
    values_[cell] = std::move(cells);
  }

  plan::OperatorOp op_;
  std::vector<int64_t> axes_;
  llvm::DenseMap<int64_t, int64_t> symbols_;
  llvm::DenseMap<Value, Cells> operands_;
  llvm::DenseMap<Value, std::vector<double>> values_;
};

} // namespace

std::vector<Cells> codegen::interpretBody(plan::OperatorOp op, const std::vector<Cells> &arrays,
                                          const std::vector<double> &scalars) {
  return BodyInterpreter(op, arrays, scalars).run();
}

std::vector<Matrix> codegen::interpretBody(plan::OperatorOp op, const std::vector<Matrix> &matrices,
                                           const std::vector<double> &scalars) {
  std::vector<Cells> arrays;
  for (const Matrix &matrix : matrices)
    arrays.push_back({{matrix.rows, matrix.columns}, matrix.cells});
  std::vector<Matrix> results;
  for (Cells &result : interpretBody(op, arrays, scalars)) {
    bool isScalar = result.sizes.empty();
    results.push_back(
        {isScalar ? 1 : result.sizes[0], isScalar ? 1 : result.sizes[1], std::move(result.cells)});
  }
  return results;
}

//===- the documented bodies -----------------------------------------------------------------===//

namespace {

class DocumentedBodies : public ::testing::Test {
protected:
  DocumentedBodies() {
    context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
    std::ifstream file("docs/plan-ir.md"); // from the root of the repository
    std::string text, line;
    for (bool isCode = false; std::getline(file, line);) {
      bool isFence = line.starts_with("```");
      if (isCode && !isFence)
        text += line + "\n";
      isCode = isFence ? !isCode && line == "```mlir" : isCode;
    }
    module = parseSourceString<ModuleOp>(text, &context);
  }

  Cells random(std::vector<int64_t> sizes, double low = -1, double high = 1) {
    Cells result{sizes, {}};
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    std::uniform_real_distribution<double> distribution(low, high);
    for (int64_t i = 0; i < count; ++i)
      result.cells.push_back(distribution(generator));
    return result;
  }

  // The only result of the function's operator.
  Cells run(StringRef name, const std::vector<Cells> &arrays,
            const std::vector<double> &scalars = {}) {
    plan::OperatorOp found;
    auto function = module->lookupSymbol<func::FuncOp>(name);
    EXPECT_TRUE(function) << name.str();
    function.walk([&](plan::OperatorOp op) { found = op; });
    return interpretBody(found, arrays, scalars)[0];
  }

  static void expectNear(const Cells &result, const std::vector<double> &expected) {
    ASSERT_EQ(result.cells.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(result.cells[i], expected[i], 1e-12) << i;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::mt19937_64 generator{1};
};

double cell(const Cells &array, std::initializer_list<int64_t> place) {
  int64_t index = 0;
  for (auto [size, at] : llvm::zip(array.sizes, place))
    index = index * size + at;
  return array.cells[index];
}

TEST_F(DocumentedBodies, OfMatrices) {
  Cells x = random({5, 4}), y = random({5, 4}), v = random({4, 1}), w = random({5, 1}),
        q = random({5, 10});
  std::vector<double> sum(1), chain(4), softmax(20), product(40), mean(20), both;
  for (int64_t i = 0; i < 5; ++i) {
    double inner = 0, largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < 4; ++j) {
      sum[0] += cell(x, {i, j}) * cell(y, {i, j});
      inner += cell(x, {i, j}) * v.cells[j];
      largest = std::max(largest, cell(x, {i, j}));
    }
    for (int64_t j = 0; j < 4; ++j)
      total += softmax[i * 4 + j] = std::exp(cell(x, {i, j}) - largest);
    for (int64_t j = 0; j < 4; ++j) {
      chain[j] += cell(x, {i, j}) * w.cells[i] * inner;
      softmax[i * 4 + j] /= total;
      for (int64_t k = 0; k < 10; ++k)
        product[j * 10 + k] += cell(x, {i, j}) * cell(q, {i, k});
      double above = 0;
      for (int64_t row = 0; row <= i; ++row)
        above += cell(x, {row, j});
      mean[i * 4 + j] = above / w.cells[i];
    }
    for (int64_t j = 0; j < 4; ++j)
      both.push_back(cell(x, {i, j}));
    for (int64_t k = 0; k < 10; ++k)
      both.push_back(std::exp(cell(q, {i, k})));
  }
  expectNear(run("sum_of_product", {x, y}), sum);
  expectNear(run("chain", {x, v, w}), chain);
  expectNear(run("softmax", {x}), softmax);
  expectNear(run("transposed_product", {x, q}), product);
  expectNear(run("moving_mean", {x, w}), mean);
  expectNear(run("cbind", {x, q}), both);
}

TEST_F(DocumentedBodies, Sampled) {
  Cells s = random({6, 7}), u = random({6, 10}, 0, 1), v = random({7, 10}, 0, 1);
  std::vector<double> expected(1);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 7; ++j) {
      double inner = 0;
      for (int64_t k = 0; k < 10; ++k)
        inner += cell(u, {i, k}) * cell(v, {j, k});
      expected[0] += cell(s, {i, j}) * std::log(inner + 1e-15);
    }
  expectNear(run("sampled", {s, u, v}), expected);
}

TEST_F(DocumentedBodies, BatchedProduct) {
  Cells a = random({3, 4, 5}), b = random({3, 5, 6}), c = random({1, 6});
  std::vector<double> expected;
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        double inner = 0;
        for (int64_t k = 0; k < 5; ++k)
          inner += cell(a, {n, i, k}) * cell(b, {n, k, j});
        expected.push_back(std::max(inner + c.cells[j], 0.0));
      }
  expectNear(run("batched_product", {a, b, c}), expected);
}

TEST_F(DocumentedBodies, Convolution) {
  Cells image = random({2, 5, 4, 64}), kernel = random({3, 3, 64, 32}), bias = random({1, 32});
  std::vector<double> expected;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 4; ++x)
        for (int64_t o = 0; o < 32; ++o) {
          double sum = 0;
          for (int64_t dy = -1; dy <= 1; ++dy)
            for (int64_t dx = -1; dx <= 1; ++dx)
              if (y + dy >= 0 && y + dy < 5 && x + dx >= 0 && x + dx < 4)
                for (int64_t c = 0; c < 64; ++c)
                  sum += cell(image, {n, y + dy, x + dx, c}) * cell(kernel, {dy + 1, dx + 1, c, o});
          expected.push_back(std::max(sum + bias.cells[o], 0.0));
        }
  expectNear(run("convolution", {image, kernel, bias}), expected);
}

TEST_F(DocumentedBodies, Attention) {
  Cells q = random({2, 2, 3, 64}), k = random({2, 2, 5, 64}), v = random({2, 2, 5, 64});
  std::vector<double> expected;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < 3; ++i) {
        std::vector<double> weights(5);
        double largest = -INFINITY, total = 0;
        for (int64_t j = 0; j < 5; ++j) {
          for (int64_t d = 0; d < 64; ++d)
            weights[j] += cell(q, {b, h, i, d}) * cell(k, {b, h, j, d});
          largest = std::max(largest, weights[j] /= 8);
        }
        for (double &weight : weights)
          total += weight = std::exp(weight - largest);
        for (int64_t d = 0; d < 64; ++d) {
          double sum = 0;
          for (int64_t j = 0; j < 5; ++j)
            sum += weights[j] / total * cell(v, {b, h, j, d});
          expected.push_back(sum);
        }
      }
  expectNear(run("attention", {q, k, v}, {8}), expected);
}

} // namespace
