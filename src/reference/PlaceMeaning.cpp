#include "reference/PlaceMeaning.h"

#include "base/CellOperators.h"
#include "reference/MatrixAccess.h"
#include "runtime/values/CellOrder.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace tokamak::reference {
namespace {

using runtime::Shape;

// An array as the reference holds it: doubles, or integers of their own type.
const Array &cellsOfAnyType(const Value &value, std::string_view operation) {
  if (!value.isArray())
    throw Error(fmt::format("{}: expected an array, got {}", operation, value.describe()));
  return *value.array();
}

// -1, 0 or 1 as cell i is less than cell j, equal to it, or larger.
using Comparison = std::function<int(int64_t i, int64_t j)>;
Comparison comparisonOf(const Array &x) {
  return withCellType(x.elementType(), [&]<typename Cell>() -> Comparison {
    const Cell *cells = x.cellsAs<Cell>();
    return [cells](int64_t i, int64_t j) {
      if constexpr (isFloatCell<Cell>)
        return runtime::compareCells(convertCell<double>(cells[i]), convertCell<double>(cells[j]));
      else
        return (cells[i] > cells[j]) - (cells[i] < cells[j]);
    };
  });
}

// Calls write(the place of a part, the number of the update) for all of them.
void forEachUpdate(const Array &x, const Array &updates, const Array &indices,
                   std::string_view operation,
                   const std::function<void(int64_t place, int64_t update)> &write) {
  const Shape &shape = x.shape();
  if (shape.rank() == 0)
    throw Error(fmt::format("{}: an array without dimensions has no parts", operation));
  int64_t width = productOfSizes(shape.sizes().subspan(1)).value_or(0);
  if (updates.cells() != indices.cells() * width)
    throw Error(fmt::format("{}: {} updates of {} do not have {} cells", operation, indices.cells(),
                            shape.text(), updates.cells()));
  for (int64_t i = 0; i < indices.cells(); ++i) {
    double index = indices.data()[i];
    if (!(index >= 1 && index <= static_cast<double>(shape[0])))
      throw Error(fmt::format("{}: there is no place {:.0f} among {}", operation, index, shape[0]));
    write(static_cast<int64_t>(index) - 1, i);
  }
}

BinaryOperator combinationNamed(const std::string &name) {
  if (name == "add")
    return BinaryOperator::Add;
  if (name == "mul")
    return BinaryOperator::Mul;
  if (name == "min")
    return BinaryOperator::Min;
  if (name == "max")
    return BinaryOperator::Max;
  throw Error(
      fmt::format("scatter_reduce: unknown reduction \"{}\": expected add, mul, min or max", name));
}

} // namespace

Value scatter(const Value &operand, const Value &updateValues, const Value &indices) {
  const Array &x = arrayOf(operand, "scatter"), &updates = arrayOf(updateValues, "scatter");
  ArrayPointer result = x.copy();
  forEachUpdate(x, updates, arrayOf(indices, "scatter"), "scatter",
                [&](int64_t place, int64_t update) {
                  int64_t width = x.cells() / x.shape()[0];
                  for (int64_t j = 0; j < width; ++j)
                    result->mutableData()[place * width + j] = updates.data()[update * width + j];
                });
  return result;
}

Value scatterReduce(const Value &operand, const Value &updateValues, const Value &indexValues,
                    const Value &reduction) {
  const Array &x = cellsOfAnyType(operand, "scatter_reduce"),
              &updates = cellsOfAnyType(updateValues, "scatter_reduce");
  ElementType type = x.elementType();
  BinaryOperator combine = combinationNamed(reduction.asText());
  runtime::ArrayReference indices = Array::withElementType(indexValues.array(), ElementType::F64);
  ArrayPointer result = x.copy();
  withCellType(type, [&]<typename Cell>() {
    forEachUpdate(x, updates, *indices, "scatter_reduce", [&](int64_t place, int64_t update) {
      int64_t width = x.cells() / x.shape()[0];
      for (int64_t j = 0; j < width; ++j) {
        Cell &cell = result->mutableCellsAs<Cell>()[place * width + j];
        Cell with = updates.cellsAs<Cell>()[update * width + j];
        if constexpr (isFloatCell<Cell>)
          cell = convertCell<Cell>(
              evaluate(combine, convertCell<double>(cell), convertCell<double>(with)));
        else
          cell = convertCell<Cell>(
              evaluate(combine, type, static_cast<int64_t>(cell), static_cast<int64_t>(with)));
      }
    });
  });
  return result;
}

Value topPlaces(const Value &operand, const Value &countValue, const Value &decreasing) {
  const Array &x = cellsOfAnyType(operand, "top_places");
  int rank = x.shape().rank();
  int64_t count = sizeOf(countValue, "top_places", "places");
  int64_t length = rank == 0 ? 0 : x.shape()[rank - 1];
  if (rank == 0 || count > length)
    throw Error(fmt::format("top_places: {} places of an array of {}", count, x.shape().text()));
  Comparison compare = comparisonOf(x);
  int sign = decreasing.asBoolean() ? -1 : 1;
  ArrayPointer result = Array::create(x.shape().withLast(count));
  for (int64_t row = 0; count > 0 && row < result->cells() / count; ++row) {
    std::vector<bool> isTaken(length, false);
    for (int64_t i = 0; i < count; ++i) {
      int64_t best = -1;
      for (int64_t j = 0; j < length; ++j)
        if (!isTaken[j] && (best < 0 || sign * compare(row * length + j, row * length + best) < 0))
          best = j;
      isTaken[best] = true;
      result->mutableData()[row * count + i] = static_cast<double>(best + 1);
    }
  }
  return result;
}

Value nonzeroPlaces(const Value &operand) {
  const Array &x = cellsOfAnyType(operand, "nonzero_places");
  std::vector<double> places;
  withCellType(x.elementType(), [&]<typename Cell>() {
    for (int64_t i = 0; i < x.cells(); ++i)
      if (convertCell<bool>(x.cellsAs<Cell>()[i]))
        places.push_back(static_cast<double>(i + 1));
  });
  ArrayPointer result = Array::create({static_cast<int64_t>(places.size())});
  std::copy(places.begin(), places.end(), result->mutableData());
  return result;
}

Value rowRanks(const Value &operand) {
  const Array &x = cellsOfAnyType(operand, "row_ranks");
  if (x.shape().rank() != 2)
    throw Error("row_ranks: expected a matrix");
  Comparison compare = comparisonOf(x);
  auto compareRows = [&](int64_t a, int64_t b) {
    for (int64_t j = 0; j < x.columns(); ++j)
      if (int order = compare(a * x.columns() + j, b * x.columns() + j))
        return order;
    return 0;
  };
  ArrayPointer result = Array::create({x.rows(), 1});
  // One more than the number of different rows that are less.
  for (int64_t row = 0; row < x.rows(); ++row) {
    int64_t rank = 1;
    for (int64_t other = 0; other < x.rows(); ++other) {
      bool isNew = compareRows(other, row) < 0;
      for (int64_t before = 0; isNew && before < other; ++before)
        isNew = compareRows(before, other) != 0;
      rank += isNew;
    }
    result->mutableData()[row] = static_cast<double>(rank);
  }
  return result;
}

Value sortedPlaces(const Value &operand, const Value &sortedValue, const Value &behind) {
  const Array &x = cellsOfAnyType(operand, "sorted_places"),
              &sorted = cellsOfAnyType(sortedValue, "sorted_places");
  if (sorted.shape().rank() != 1)
    throw Error(
        fmt::format("sorted_places: expected a vector, got an array of {}", sorted.shape().text()));
  ArrayPointer result = Array::create(x.shape());
  withCellType(x.elementType(), [&]<typename Cell>() {
    for (int64_t i = 0; i < x.cells(); ++i) {
      int64_t place = 1;
      for (int64_t j = 0; j < sorted.cells(); ++j) {
        Cell cell = x.cellsAs<Cell>()[i], other = sorted.cellsAs<Cell>()[j];
        int order = 0;
        if constexpr (isFloatCell<Cell>)
          order = runtime::compareCells(convertCell<double>(other), convertCell<double>(cell));
        else
          order = (other > cell) - (other < cell);
        place += order < 0 || (order == 0 && behind.asBoolean());
      }
      result->mutableData()[i] = static_cast<double>(place);
    }
  });
  return result;
}

Value checkedIndices(const Value &operand, const Value &sizeValue, const Value &isFromEnd) {
  const Array &indices = cellsOfAnyType(operand, "checked_indices");
  if (indices.elementType() != ElementType::I64)
    throw Error(
        fmt::format("checked_indices: indices of {}, not i64", nameOf(indices.elementType())));
  int64_t size = sizeValue.asInteger(), least = isFromEnd.asBoolean() ? -size : 0;
  ArrayPointer result = indices.copy();
  for (int64_t i = 0; i < indices.cells(); ++i) {
    int64_t &index = result->mutableCellsAs<int64_t>()[i];
    if (size == 0)
      throw Error(fmt::format("the index {} is of a dimension without places", index));
    if (index < least || index >= size)
      throw Error(fmt::format("the index {} is outside of {} to {}", index, least, size - 1));
    if (index < 0)
      index += size;
  }
  return result;
}

} // namespace tokamak::reference
