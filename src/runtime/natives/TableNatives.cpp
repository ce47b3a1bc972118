// The native table: contingency tables.
#include "runtime/natives/CompleteTable.h"
#include "runtime/sparse/RowCompression.h"

#include <optional>

namespace tokamak::runtime {
namespace {

ArrayPointer denseTable(const TableEntries &entries, int64_t rows, int64_t columns) {
  ArrayPointer result = Array::filled({rows, columns}, 0);
  double *cells = result->mutableData();
  entries.forEach([&](int64_t row, int64_t column, double weight) {
    if (row < rows && column < columns)
      cells[row * columns + column] += weight;
  });
  return result;
}

// `count`: the number of entries within the table. The weights of a cell are added in the order of positions, as in a dense table.
ArrayPointer sparseTable(ExecutionContext &context, const TableEntries &entries, int64_t count,
                         int64_t rows, int64_t columns) {
  auto forEachWithin = [&](const auto &body) {
    entries.forEach([&](int64_t row, int64_t column, double weight) {
      if (row < rows && column < columns)
        body(row, column, weight + 0.0); // -0 counts as 0
    });
  };
  return RowCompression(context, rows, columns, count)
      .of(forEachWithin, RowCompression::SamePlace::Added);
}

} // namespace

void runTable(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &rowKeys = matrixOperand(operands[0], "table");
  TableEntries entries(rowKeys, operands[1], operands[2]);
  auto sizeGiven = [](const Value &operand, std::string_view what) -> std::optional<int64_t> {
    if (operand.isNothing())
      return std::nullopt;
    return sizeOperand(operand, "table", what);
  };
  std::optional<int64_t> givenRows = sizeGiven(operands[3], "rows"),
                         givenColumns = sizeGiven(operands[4], "columns");
  if (rowKeys.cells() > 0)
    if (CompleteTable table(context, rowKeys, operands[1], operands[2]); table.isComplete()) {
      results[0] =
          table.matrix(givenRows.value_or(table.rows()), givenColumns.value_or(table.columns()));
      return;
    }
  int64_t rows = 0, columns = 0, count = 0;
  entries.forEach([&](int64_t row, int64_t column, double) {
    rows = std::max(rows, row + 1);
    columns = std::max(columns, column + 1);
    count += (!givenRows || row < *givenRows) && (!givenColumns || column < *givenColumns);
  });
  rows = givenRows ? *givenRows : checkedSize(rows, "table", "rows");
  columns = givenColumns ? *givenColumns : checkedSize(columns, "table", "columns");
  results[0] = Array::isBetterSparse({rows, columns}, count)
                   ? sparseTable(context, entries, count, rows, columns)
                   : denseTable(entries, rows, columns);
}

} // namespace tokamak::runtime
