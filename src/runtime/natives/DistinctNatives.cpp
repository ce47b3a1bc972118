// Natives for distinct values: unique, countDistinct, contains.
#include "runtime/natives/CellSort.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/CellOrder.h"

namespace tokamak::runtime {
namespace {

BudgetedVector<double> distinct(ExecutionContext &context, BudgetedVector<double> cells) {
  constexpr size_t fewCells = 500;
  BudgetedVector<double> sorted(cells.size() > fewCells ? cells.size() : 0);
  if (!sorted.empty() &&
      sortCells(context, cells.data(), std::ssize(cells), /*decreasing=*/false, sorted.data()))
    cells.swap(sorted);
  else
    std::sort(cells.begin(), cells.end(),
              [](double a, double b) { return compareCells(a, b) < 0; });
  cells.erase(std::unique(cells.begin(), cells.end(), sameCell), cells.end());
  return cells;
}

// The distinct values of the whole matrix, of each row or of each column, ascending.
BudgetedVector<BudgetedVector<double>> distinctGroups(ExecutionContext &context,
                                                      const Array &source,
                                                      const std::string &direction,
                                                      std::string_view native) {
  BudgetedVector<BudgetedVector<double>> groups;
  if (direction == "rc") {
    groups.push_back(distinct(context, {source.data(), source.data() + source.cells()}));
  } else if (direction == "r") {
    for (int64_t i = 0; i < source.rows(); ++i)
      groups.push_back(distinct(context, {source.data() + i * source.columns(),
                                          source.data() + (i + 1) * source.columns()}));
  } else if (direction == "c") {
    for (int64_t j = 0; j < source.columns(); ++j) {
      BudgetedVector<double> column(source.rows());
      for (int64_t i = 0; i < source.rows(); ++i)
        column[i] = source.at(i, j);
      groups.push_back(distinct(context, std::move(column)));
    }
  } else {
    throw Error(
        fmt::format("{}: unknown direction \"{}\": expected rc, r or c", native, direction));
  }
  return groups;
}

} // namespace

// The distinct values; shorter rows or columns are padded with zeros.
void runUnique(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const std::string &direction = textOperand(operands[1], "unique", "dir");
  auto groups = distinctGroups(context, matrixOperand(operands[0], "unique"), direction, "unique");
  size_t longest = 0;
  for (const auto &group : groups)
    longest = std::max(longest, group.size());
  auto length = static_cast<int64_t>(longest), count = static_cast<int64_t>(groups.size());
  bool alongRow = direction == "r";
  ArrayPointer result =
      alongRow ? Array::filled({count, length}, 0) : Array::filled({length, count}, 0);
  for (int64_t g = 0; g < count; ++g)
    for (size_t i = 0; i < groups[g].size(); ++i)
      result->mutableData()[alongRow ? g * length + static_cast<int64_t>(i)
                                     : static_cast<int64_t>(i) * count + g] = groups[g][i];
  results[0] = std::move(result);
}

// The number of distinct values: a scalar for the matrix, a column for rows, a row for columns.
void runCountDistinct(ExecutionContext &context, std::span<Value> operands,
                      std::span<Value> results) {
  const std::string &direction = textOperand(operands[1], "countDistinct", "dir");
  auto groups = distinctGroups(context, matrixOperand(operands[0], "countDistinct"), direction,
                               "countDistinct");
  auto count = static_cast<int64_t>(groups.size());
  if (direction == "rc") {
    results[0] = static_cast<int64_t>(groups[0].size());
    return;
  }
  ArrayPointer result = Array::create(direction == "r" ? Shape{count, 1} : Shape{1, count});
  for (int64_t g = 0; g < count; ++g)
    result->mutableData()[g] = static_cast<double>(groups[g].size());
  results[0] = std::move(result);
}

// Whether the matrix contains a scalar, or all rows of a pattern matrix.
void runContains(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &target = matrixOperand(operands[0], "contains");
  auto hasCell = [&](double pattern) {
    return std::any_of(target.data(), target.data() + target.cells(),
                       [&](double cell) { return sameCell(cell, pattern); });
  };
  if (!operands[1].isArray() || operands[1].array()->cells() == 1) {
    results[0] = hasCell(operands[1].asDouble());
    return;
  }
  const Array &pattern = matrixOperand(operands[1], "contains");
  if (pattern.columns() != target.columns())
    throw Error(fmt::format("contains: a pattern of {} columns cannot occur in a {} matrix",
                            pattern.columns(), target.shape().text()));
  auto comesBefore = [columns = target.columns()](const double *row, const double *other) {
    for (int64_t j = 0; j < columns; ++j)
      if (int order = compareCells(row[j], other[j]); order != 0)
        return order < 0;
    return false;
  };
  BudgetedVector<const double *> wanted; // distinct, in order
  for (int64_t i = 0; i < pattern.rows(); ++i)
    wanted.push_back(pattern.data() + i * pattern.columns());
  std::ranges::sort(wanted, comesBefore);
  auto repeated = std::ranges::unique(
      wanted, [&](const double *row, const double *next) { return !comesBefore(row, next); });
  wanted.erase(repeated.begin(), repeated.end());
  BudgetedVector<uint8_t> found(wanted.size());
  size_t left = wanted.size();
  for (int64_t i = 0; i < target.rows() && left > 0; ++i) {
    const double *row = target.data() + i * target.columns();
    auto next = std::ranges::lower_bound(wanted, row, comesBefore);
    if (next != wanted.end() && !comesBefore(row, *next))
      left -= std::exchange(found[next - wanted.begin()], 1) == 0;
  }
  results[0] = left == 0;
}

} // namespace tokamak::runtime
