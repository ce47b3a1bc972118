// table: contingency tables.
#include "base/CellOperators.h"
#include "runtime/NativeTables.h"
#include "runtime/ScalarOperations.h"
#include "runtime/SparseMatrix.h"

#include <cmath>

namespace tokamak::runtime {
namespace {

// One of the parameters of table(): a vector, a scalar that stands for every position, or absent
// (1).
class TableColumn {
public:
  TableColumn(const Value &operand, int64_t length) {
    if (operand.isNothing())
      return;
    if (!operand.isArray()) {
      scalar_ = operand.asDouble();
      return;
    }
    const Array &array = matrixOperand(operand, "table");
    if (array.cells() != length)
      throw Error(fmt::format("table: the vectors have different lengths, {} and {}", length,
                              array.cells()));
    data_ = array.data();
  }
  double operator[](int64_t i) const { return data_ ? data_[i] : scalar_; }

private:
  const double *data_ = nullptr;
  double scalar_ = 1;
};

int64_t tableKey(double cell) {
  int64_t key = truncateToInteger(cell);
  if (key < 1)
    throw Error(fmt::format("table: keys must be at least 1, got {}", textOf(cell + 0.0)));
  return key;
}

struct TableEntry {
  int64_t row, column; // from 0
  double weight;
};

ArrayPointer denseTable(const std::vector<TableEntry> &entries, int64_t rows, int64_t columns) {
  ArrayPointer result = Array::filled({rows, columns}, 0);
  for (const TableEntry &entry : entries)
    result->mutableData()[entry.row * columns + entry.column] += entry.weight;
  return result;
}

// Entries of one cell add up in the order they come in, as in a dense table.
ArrayReference sparseTable(ExecutionContext &context, const std::vector<TableEntry> &entries,
                           int64_t rows, int64_t columns) {
  std::vector<int64_t> begins(rows + 1, 0), places;
  for (const TableEntry &entry : entries)
    ++begins[entry.row + 1];
  for (int64_t row = 0; row < rows; ++row)
    begins[row + 1] += begins[row];
  places.assign(begins.begin(), begins.end() - 1);
  std::vector<int64_t> sorted(entries.size());
  for (size_t i = 0; i < entries.size(); ++i)
    sorted[places[entries[i].row]++] = static_cast<int64_t>(i);
  auto isNewCell = [&](int64_t row, int64_t i) {
    return i == begins[row] || entries[sorted[i]].column != entries[sorted[i - 1]].column;
  };
  auto countCells = [&](int64_t row) {
    std::sort(
        sorted.begin() + begins[row], sorted.begin() + begins[row + 1], [&](int64_t a, int64_t b) {
          return entries[a].column != entries[b].column ? entries[a].column < entries[b].column
                                                        : a < b;
        });
    int64_t count = 0;
    for (int64_t i = begins[row]; i < begins[row + 1]; ++i)
      count += isNewCell(row, i);
    return count;
  };
  return buildCsr(context, rows, columns, countCells,
                  [&](int64_t row, int32_t *indices, double *values) {
                    for (int64_t i = begins[row]; i < begins[row + 1]; ++i) {
                      const TableEntry &entry = entries[sorted[i]];
                      if (isNewCell(row, i)) {
                        *indices++ = static_cast<int32_t>(entry.column);
                        *values++ = 0;
                      }
                      values[-1] += entry.weight;
                    }
                  });
}

void table(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &rowKeys = matrixOperand(operands[0], "table");
  int64_t length = rowKeys.cells();
  TableColumn columnKeys(operands[1], length), weights(operands[2], length);
  std::vector<TableEntry> entries;
  entries.reserve(length);
  int64_t rows = 0, columns = 0;
  for (int64_t i = 0; i < length; ++i) {
    double a = rowKeys.data()[i], b = columnKeys[i];
    if (std::isnan(a) || std::isnan(b))
      continue;
    int64_t row = tableKey(a), column = tableKey(b);
    entries.push_back({row - 1, column - 1, weights[i]});
    rows = std::max(rows, row);
    columns = std::max(columns, column);
  }
  if (!operands[3].isNothing()) {
    rows = sizeOperand(operands[3], "table", "rows");
    std::erase_if(entries, [&](const TableEntry &entry) { return entry.row >= rows; });
  }
  if (!operands[4].isNothing()) {
    columns = sizeOperand(operands[4], "table", "columns");
    std::erase_if(entries, [&](const TableEntry &entry) { return entry.column >= columns; });
  }
  bool isSparse = Array::isBetterCsr({rows, columns}, static_cast<int64_t>(entries.size()));
  results[0] = isSparse ? Value(sparseTable(context, entries, rows, columns))
                        : Value(denseTable(entries, rows, columns));
}

constexpr Native natives[] = {{"table", table}};

} // namespace

std::span<const Native> tableNatives() { return natives; }

} // namespace tokamak::runtime
