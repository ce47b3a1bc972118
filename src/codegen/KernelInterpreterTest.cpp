// Computes the expected results of the kernel tests: plain loops over the functions of
// base/CellSemantics.cpp for each operation of a body.
#include "codegen/testing/BlockOperator.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

static Matrix mapCells(std::initializer_list<const Matrix *> operands,
                       llvm::function_ref<double(const double *)> cell) {
  Matrix result{1, 1, {}};
  bool empty = false;
  for (const Matrix *operand : operands) {
    result.rows = std::max(result.rows, operand->rows);
    result.columns = std::max(result.columns, operand->columns);
    empty |= operand->cells.empty();
  }
  if (empty)
    for (const Matrix *operand : operands)
      if (operand->cells.empty())
        return *operand;
  for (int64_t i = 0; i < result.rows; ++i)
    for (int64_t j = 0; j < result.columns; ++j) {
      double values[3];
      int count = 0;
      for (const Matrix *operand : operands)
        values[count++] = operand->at(i, j);
      result.cells.push_back(cell(values));
    }
  return result;
}

static double aggregateCells(AggregateKind kind, const std::vector<double> &cells) {
  switch (kind) {
  case AggregateKind::Sum: {
    long double sum = 0;
    for (double cell : cells)
      sum += cell;
    return static_cast<double>(sum);
  }
  case AggregateKind::Prod: {
    double product = 1;
    for (double cell : cells)
      product *= cell;
    return product;
  }
  case AggregateKind::Min:
  case AggregateKind::Max: {
    bool min = kind == AggregateKind::Min;
    double best = min ? INFINITY : -INFINITY;
    for (double cell : cells)
      best = evaluate(min ? BinaryOperator::Min : BinaryOperator::Max, best, cell);
    return best;
  }
  default: {
    bool max = isOfLargest(kind);
    bool last = kind == AggregateKind::IndexMax || kind == AggregateKind::IndexMin;
    double best = max ? -INFINITY : INFINITY, index = 1;
    for (size_t i = 0; i < cells.size(); ++i)
      if ((max ? cells[i] > best : cells[i] < best) || (last && cells[i] == best)) {
        best = cells[i];
        index = static_cast<double>(i + 1);
      }
    return index;
  }
  }
}

static Matrix aggregate(tok::AggregateOp op, const Matrix &x) {
  Matrix result{1, 1, {}};
  if (op.getDirection() == AggregateDirection::Full) {
    result.cells = {aggregateCells(op.getKind(), x.cells)};
  } else if (op.getDirection() == AggregateDirection::Row) {
    result.rows = x.rows;
    for (int64_t i = 0; i < x.rows; ++i)
      result.cells.push_back(aggregateCells(
          op.getKind(), {x.cells.begin() + i * x.columns, x.cells.begin() + (i + 1) * x.columns}));
  } else {
    result.columns = x.columns;
    for (int64_t j = 0; j < x.columns; ++j) {
      std::vector<double> column;
      for (int64_t i = 0; i < x.rows; ++i)
        column.push_back(x.cells[i * x.columns + j]);
      result.cells.push_back(aggregateCells(op.getKind(), column));
    }
  }
  return result;
}

static Matrix transpose(const Matrix &x) {
  Matrix result{x.columns, x.rows, {}};
  for (int64_t j = 0; j < x.columns; ++j)
    for (int64_t i = 0; i < x.rows; ++i)
      result.cells.push_back(x.cells[i * x.columns + j]);
  return result;
}

static Matrix product(const Matrix &a, const Matrix &b) {
  Matrix result{a.rows, b.columns, {}};
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j) {
      long double sum = 0;
      for (int64_t k = 0; k < a.columns; ++k)
        sum += static_cast<long double>(a.cells[i * a.columns + k]) * b.cells[k * b.columns + j];
      result.cells.push_back(static_cast<double>(sum));
    }
  return result;
}

static Matrix rounded(Matrix x) {
  for (double &cell : x.cells)
    cell = static_cast<float>(cell);
  return x;
}

std::vector<Matrix> codegen::interpret(func::FuncOp block, const std::vector<Matrix> &inputs,
                                       const std::vector<double> &scalars) {
  llvm::DenseMap<Value, Matrix> values;
  size_t array = 0, scalar = 0;
  for (BlockArgument argument : block.getArguments())
    values[argument] =
        tok::isArray(argument.getType()) ? inputs[array++] : Matrix{1, 1, {scalars[scalar++]}};
  std::vector<Matrix> results;
  auto isF32 = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isF32();
  };
  for (Operation &operation : block.getBody().front()) {
    // A cell operator with an f32 result rounds its scalar operands, too.
    bool roundsOperands = operation.getNumResults() == 1 && isF32(operation.getResult(0)) &&
                          isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp>(operation);
    SmallVector<Matrix> operands;
    for (Value value : operation.getOperands())
      operands.push_back(roundsOperands ? rounded(values[value]) : values[value]);
    auto operand = [&](unsigned i) -> const Matrix & { return operands[i]; };
    Matrix result;
    if (auto unary = dyn_cast<tok::UnaryOp>(operation)) {
      result =
          mapCells({&operand(0)}, [&](const double *x) { return evaluate(unary.getKind(), x[0]); });
    } else if (auto binary = dyn_cast<tok::BinaryOp>(operation)) {
      result = mapCells({&operand(0), &operand(1)},
                        [&](const double *x) { return evaluate(binary.getKind(), x[0], x[1]); });
    } else if (isa<tok::IfElseOp>(operation)) {
      result = mapCells({&operand(0), &operand(1), &operand(2)},
                        [](const double *x) { return x[0] != 0 ? x[1] : x[2]; });
    } else if (auto constant = dyn_cast<tok::ConstantOp>(operation)) {
      auto number = dyn_cast<FloatAttr>(constant.getValue());
      result.cells = {number ? number.getValueAsDouble()
                             : cast<IntegerAttr>(constant.getValue()).getInt()};
    } else if (auto aggregateOp = dyn_cast<tok::AggregateOp>(operation)) {
      result = aggregate(aggregateOp, operand(0));
    } else if (isa<tok::TransposeOp>(operation)) {
      result = transpose(operand(0));
    } else if (isa<tok::MatmulOp>(operation)) {
      result = product(operand(0), operand(1));
    } else if (isa<tok::CastOp>(operation)) {
      result = operand(0);
    } else {
      for (unsigned i = 0; i < operation.getNumOperands(); ++i)
        results.push_back(operand(i));
      break;
    }
    values[operation.getResult(0)] =
        isF32(operation.getResult(0)) ? rounded(std::move(result)) : std::move(result);
  }
  return results;
}
