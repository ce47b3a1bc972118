#include "HandWrittenCompressed.h"

using namespace bench;

CompressedRows bench::scatter(int64_t rows, int64_t columns, double density) {
  struct Entry {
    int64_t row;
    int32_t column;
    double value;
  };
  int64_t count = std::llround(static_cast<double>(rows) * static_cast<double>(columns) * density);
  std::vector<Entry> entries(count);
  for (int64_t p = 1; p <= count; ++p) {
    int64_t a = p * 7919 % 1000003, b = (a * a + p) % 999983;
    entries[p - 1] = {(b * 7907 + p * 31) % rows, static_cast<int32_t>((b + p) * 104729 % columns),
                      static_cast<double>(p * 7919 % 1009) / 1009 + 0.5};
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  CompressedRows result;
  result.columns = columns;
  result.offsets.assign(rows + 1, 0);
  for (int64_t p = 0; p < count; ++p) {
    const Entry &entry = entries[p];
    if (p > 0 && entry.row == entries[p - 1].row && entry.column == entries[p - 1].column) {
      result.values.back() += entry.value;
      continue;
    }
    result.indices.push_back(entry.column);
    result.values.push_back(entry.value);
    ++result.offsets[entry.row + 1];
  }
  for (int64_t row = 0; row < rows; ++row)
    result.offsets[row + 1] += result.offsets[row];
  return result;
}

CompressedRows bench::transposed(const CompressedRows &X) {
  CompressedRows result;
  result.columns = X.rows();
  result.offsets.assign(X.columns + 1, 0);
  for (int32_t column : X.indices)
    ++result.offsets[column + 1];
  for (int64_t column = 0; column < X.columns; ++column)
    result.offsets[column + 1] += result.offsets[column];
  result.indices.resize(X.indices.size());
  result.values.resize(X.values.size());
  std::vector<int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (int64_t i = 0; i < X.rows(); ++i)
    for (int64_t p = X.offsets[i]; p < X.offsets[i + 1]; ++p) {
      int64_t to = next[X.indices[p]]++;
      result.indices[to] = static_cast<int32_t>(i);
      result.values[to] = X.values[p];
    }
  return result;
}
