// Natives whose result depends on the values of cells: sorting, removing and
// replacing; and outer products.
#include "base/CellOperators.h"
#include "runtime/natives/CellSort.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/RowCopies.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseReorganization.h"
#include "runtime/values/CellOrder.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace tokamak::runtime {
void runReplace(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  matrixOperand(operands[0], "replace");
  double pattern = operands[1].asDouble(), replacement = operands[2].asDouble();
  // Cells without an entry match, too.
  if (pattern == 0)
    operands[0] = Array::asDense(operands[0].array());
  ArrayPointer result = takeOrCopy(operands[0]);
  double *data = result->mutableData();
  int64_t count = result->cells();
  if (result->isSparse()) {
    data += result->rowOffsets()[0];
    count = result->entries();
  }
  forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
    if (std::isnan(pattern)) {
      for (int64_t i = begin; i < end; ++i)
        data[i] = std::isnan(data[i]) ? replacement : data[i];
    } else {
      for (int64_t i = begin; i < end; ++i)
        data[i] = data[i] == pattern ? replacement : data[i];
    }
  });
  results[0] = std::move(result);
}

namespace {

BudgetedVector<int64_t> sortColumns(const Value &operand, const Array &target) {
  BudgetedVector<int64_t> columns;
  if (operand.isArray())
    for (int64_t i = 0; i < operand.array()->cells(); ++i)
      columns.push_back(truncateToInteger(operand.array()->data()[i]));
  else
    columns.push_back(operand.asInteger());
  if (columns.empty())
    throw Error("order: 'by' names no column");
  for (int64_t &column : columns) {
    if (column < 1 || column > target.columns())
      throw Error(fmt::format("order: there is no column {} in a {} matrix", column,
                              target.shape().text()));
    --column;
  }
  return columns;
}

// The order of the rows by these columns, which are sorted from the last to the first: each sort keeps the order of equal
// ones.
BudgetedVector<int64_t> sortedRows(ExecutionContext &context, const Array &target,
                                   const BudgetedVector<int64_t> &columns, bool decreasing) {
  int64_t count = target.rows();
  BudgetedVector<int64_t> rows;
  for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
    const double *cells = target.data() + *column;
    RowKeys order;
    if (rows.empty()) {
      order = rowsInOrder(context, cells, target.columns(), count, decreasing);
    } else {
      for (int64_t i = 0; i < count; ++i)
        order.push_back(
            {static_cast<uint64_t>(i), keyOfCell(cells[rows[i] * target.columns()], decreasing)});
      sortRowKeys(context, order);
    }
    BudgetedVector<int64_t> sorted(static_cast<size_t>(count));
    forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        sorted[i] = rows.empty() ? static_cast<int64_t>(order[i].row) : rows[order[i].row];
    });
    rows.swap(sorted);
  }
  return rows;
}

ArrayPointer orderRows(ExecutionContext &context, const Array &target,
                       const BudgetedVector<int64_t> &by, bool decreasing, bool asIndex) {
  BudgetedVector<int64_t> rows = sortedRows(context, target, by, decreasing);
  int64_t columns = asIndex ? 1 : target.columns();
  ArrayPointer result = Array::create({target.rows(), columns});
  if (asIndex) {
    double *to = result->mutableData();
    forEachRowRange(context, target.rows(), columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = static_cast<double>(rows[i] + 1);
    });
    return result;
  }
  const std::byte *from = target.rawBytes();
  std::byte *to = result->mutableBytes();
  int64_t bytes = columns * byteSize(target.elementType());
  forEachRowRange(context, target.rows(), columns, [&](int64_t begin, int64_t end) {
    copyRows({to, bytes}, {from, bytes}, begin, end, bytes,
             [row = rows.data()](int64_t i) { return row[i]; });
  });
  return result;
}

} // namespace

void runOrder(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &target = matrixOperand(operands[0], "order");
  BudgetedVector<int64_t> by = sortColumns(operands[1], target);
  bool decreasing = operands[2].asBoolean(), asIndex = operands[3].asBoolean();
  if (!asIndex && target.columns() == 1) { // sorted without its rows
    ArrayPointer result = Array::create(target.shape());
    if (sortCells(context, target.data(), target.cells(), decreasing, result->mutableData())) {
      results[0] = std::move(result);
      return;
    }
  }
  results[0] = orderRows(context, target, by, decreasing, asIndex);
}

namespace {

using Marks = BudgetedVector<uint8_t>; // 1 for what is kept

// Marks each row of so many cells if one of them isn't 0.
void markRows(const double *cells, int64_t columns, int64_t rows, uint8_t *marks) {
  constexpr int64_t withoutBranch = 16;
  for (int64_t i = 0; i < rows; ++i, cells += columns) {
    uint64_t found = 0; // without the bit of the sign
    for (int64_t first = 0; first < columns && found == 0; first += withoutBranch)
#pragma clang loop vectorize(disable) unroll(disable) // most rows are short
      for (int64_t j = first; j < std::min(columns, first + withoutBranch); ++j)
        found |= std::bit_cast<uint64_t>(cells[j]) << 1;
    marks[i] = found != 0;
  }
}

// The rows or columns that `select` marks or, without it, those with a non-zero cell.
Marks keptOf(ExecutionContext &context, const Array &target, bool byRows, const Value &select) {
  int64_t size = byRows ? target.rows() : target.columns();
  Marks keep(static_cast<size_t>(size), 0);
  auto markNonZeros = [&](const double *cells) {
    forEachRange(context, size, parallelGrain, [&](int64_t begin, int64_t end) {
      markRows(cells + begin, 1, end - begin, keep.data() + begin);
    });
  };
  if (!select.isNothing()) {
    matrixOperand(select, "removeEmpty");
    ArrayReference selection = Array::asDense(select.array());
    if (selection->cells() != size)
      throw Error(fmt::format("removeEmpty: select has {} cells, the matrix {} {}",
                              selection->cells(), size, byRows ? "rows" : "columns"));
    markNonZeros(selection->data());
  } else if (target.isSparse()) {
    for (int64_t i = 0; i < target.rows(); ++i) {
      SparseRow row = rowOf(target, i);
      for (int64_t p = 0; p < row.count; ++p)
        keep[byRows ? i : row.columns[p]] |= row.values[p] != 0;
    }
  } else if (byRows) {
    forEachRowRange(context, size, target.columns(), [&](int64_t begin, int64_t end) {
      markRows(target.data() + begin * target.columns(), target.columns(), end - begin,
               keep.data() + begin);
    });
  } else {
    for (int64_t i = 0; i < target.rows(); ++i)
      for (int64_t j = 0; j < size; ++j)
        keep[j] |= target.data()[i * size + j] != 0;
  }
  return keep;
}

BudgetedVector<int64_t> indicesOf(const Marks &keep) {
  BudgetedVector<int64_t> kept;
  for (int64_t i = 0; i < std::ssize(keep); ++i)
    if (keep[i])
      kept.push_back(i);
  return kept;
}

// Copies the rows that are kept, from the first one on, to [to, end).
template <typename Copy, typename Kept>
void takeKept(Copy copy, std::byte *to, const std::byte *end, const std::byte *from, int64_t first,
              int64_t bytes, Kept isKept) {
  // A short row is always written; the next one replaces it if it isn't kept.
  constexpr int64_t shortRow = 64;
  if (bytes <= shortRow)
    for (; to < end; from += bytes, to += isKept(first++) ? bytes : 0)
      copy(to, from);
  else
    for (; to < end; from += bytes)
      if (isKept(first++)) {
        copy(to, from);
        to += bytes;
      }
}

// Parts of the rows are counted first, so that each knows where its rows go. Null if there are none.
template <typename Kept>
ArrayPointer takeRows(ExecutionContext &context, const Array &target, const Kept &isKept) {
  int64_t rows = target.rows(), columns = target.columns(), size = parallelGrain,
          parts = (rows + size - 1) / size;
  BudgetedVector<int64_t> begins(static_cast<size_t>(parts) + 1);
  forEachRange(context, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      int64_t count = 0;
      for (int64_t i = part * size; i < std::min(rows, (part + 1) * size); ++i)
        count += isKept(i);
      begins[part + 1] = count;
    }
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  if (begins.back() == 0)
    return nullptr;
  ArrayPointer result = Array::create({begins.back(), columns});
  std::byte *to = result->mutableBytes();
  const std::byte *from = target.rawBytes();
  int64_t bytes = columns * byteSize(target.elementType());
  forEachRange(context, parts, 1, [&](int64_t first, int64_t last) {
    withRowCopy(bytes, [&](auto copy) {
      for (int64_t part = first; part < last; ++part)
        takeKept(copy, to + begins[part] * bytes, to + begins[part + 1] * bytes,
                 from + part * size * bytes, part * size, bytes, isKept);
    });
  });
  return result;
}

} // namespace

void runRemoveEmpty(ExecutionContext &context, std::span<Value> operands,
                    std::span<Value> results) {
  const Array &target = matrixOperand(operands[0], "removeEmpty");
  const std::string &margin = textOperand(operands[1], "removeEmpty", "margin");
  if (margin != "rows" && margin != "cols")
    throw Error(fmt::format("removeEmpty: unknown margin \"{}\": expected rows or cols", margin));
  bool byRows = margin == "rows";
  auto nothing = [&] {
    int64_t remaining = operands[3].asBoolean() ? 1 : 0;
    return byRows ? Array::filled({remaining, target.columns()}, 0)
                  : Array::filled({target.rows(), remaining}, 0);
  };
  if (byRows && !target.isSparse()) {
    ArrayPointer taken;
    if (target.columns() == 1 && operands[2].isNothing()) {
      const double *cells = target.data();
      taken = takeRows(context, target, [=](int64_t i) { return cells[i] != 0; });
    } else {
      Marks keep = keptOf(context, target, byRows, operands[2]);
      taken = takeRows(context, target, [kept = keep.data()](int64_t i) { return kept[i]; });
    }
    results[0] = taken ? std::move(taken) : nothing();
    return;
  }
  BudgetedVector<int64_t> kept = indicesOf(keptOf(context, target, byRows, operands[2]));
  if (kept.empty()) {
    results[0] = nothing();
    return;
  }
  if (target.isSparse()) {
    results[0] =
        byRows ? takeSparseRows(context, target, kept) : takeSparseColumns(context, target, kept);
    return;
  }
  auto count = static_cast<int64_t>(kept.size());
  ArrayPointer result = Array::create({target.rows(), count});
  double *to = result->mutableData();
  forEachRowRange(context, target.rows(), count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < count; ++j)
        to[i * count + j] = target.data()[i * target.columns() + kept[j]];
  });
  results[0] = std::move(result);
}

namespace {

// The most frequent operators of outer products have their own instance, which the C++ compiler
// vectorises.
template <typename Cell>
void outerCells(ExecutionContext &context, const Array &u, const Array &v, Array &result,
                const Cell &cell) {
  int64_t columns = result.columns();
  double *to = result.mutableData();
  forEachRowRange(context, result.rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double *row = to + i * columns;
      const double *a = u.data() + (u.rows() == 1 ? 0 : i) * u.columns(),
                   *b = v.data() + (v.rows() == 1 ? 0 : i) * v.columns();
      if (u.columns() == 1 && v.columns() == columns)
        for (int64_t j = 0; j < columns; ++j)
          row[j] = cell(*a, b[j]);
      else
        for (int64_t j = 0; j < columns; ++j)
          row[j] = cell(a[u.columns() == 1 ? 0 : j], b[v.columns() == 1 ? 0 : j]);
    }
  });
}

} // namespace

void runOuter(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &u = matrixOperand(operands[0], "outer"), &v = matrixOperand(operands[1], "outer");
  const std::string &name = textOperand(operands[2], "outer", "the operator");
  std::optional<BinaryOperator> op = findBinaryBySpelling(name);
  if (!op)
    throw Error(fmt::format("outer: unknown operator \"{}\"", name));
  auto agree = [](int64_t a, int64_t b) { return a == b || a == 1 || b == 1; };
  if (!agree(u.rows(), v.rows()) || !agree(u.columns(), v.columns()))
    throw Error(fmt::format("sizes do not agree: {} {} {}; expected equal sizes, or 1 where they "
                            "differ",
                            u.shape().text(), name, v.shape().text()));
  ArrayPointer result = Array::create(
      {u.rows() == 1 ? v.rows() : u.rows(), u.columns() == 1 ? v.columns() : u.columns()});
  auto apply = [&](const auto &cell) { outerCells(context, u, v, *result, cell); };
  switch (*op) {
  case BinaryOperator::Add:
    apply([](double a, double b) { return a + b; });
    break;
  case BinaryOperator::Sub:
    apply([](double a, double b) { return a - b; });
    break;
  case BinaryOperator::Mul:
    apply([](double a, double b) { return a * b; });
    break;
  case BinaryOperator::Div:
    apply([](double a, double b) { return a / b; });
    break;
  case BinaryOperator::Eq:
    apply([](double a, double b) { return a == b ? 1.0 : 0.0; });
    break;
  case BinaryOperator::Lt:
    apply([](double a, double b) { return a < b ? 1.0 : 0.0; });
    break;
  case BinaryOperator::Gt:
    apply([](double a, double b) { return a > b ? 1.0 : 0.0; });
    break;
  default:
    apply([op = *op](double a, double b) { return evaluate(op, a, b); });
    break;
  }
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
