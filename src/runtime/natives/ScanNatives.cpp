// Natives for cumulative sums, products, minima and maxima along columns, and along rows for sums.
#include "base/CellOperators.h"
#include "base/ConstantOf.h"
#include "base/Extremes.h"
#include "runtime/natives/NativeOperands.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace tokamak::runtime {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Where the result is written: over the operand if it has no other owner.
ArrayPointer resultLike(Value &operand, std::string_view native) {
  const Array &source = matrixOperand(operand, native);
  return isSoleOwner(operand) ? std::const_pointer_cast<Array>(operand.array())
                              : Array::create(source.shape());
}

// As many columns at a time as a thread's share, in whole cache lines, and as the nearest cache holds of two rows.
int64_t columnsTogether(const ExecutionContext &context, int64_t cells, int64_t columns) {
  constexpr int64_t line = 8, mostColumns = 1024;
  int64_t share = columns / partsOf(context, cells, parallelGrain);
  return std::clamp((share + line - 1) / line * line, line, mostColumns);
}

// result[i] = combine(result[i-1], source[i]) for each column, where result[-1] is `ofNothing`; columns are
// independent, rows are not.
template <typename Combine>
void scanColumns(ExecutionContext &context, std::span<Value> operands, std::span<Value> results,
                 std::string_view native, const Combine &combine, double ofNothing) {
  ArrayPointer result = resultLike(operands[0], native);
  int64_t rows = result->rows(), columns = result->columns(), cells = result->cells();
  double *to = result->mutableData(); // first: it may be where the operand is
  const double *from = operands[0].array()->data();
  results[0] = std::move(result);
  if (cells == 0)
    return;
  if (columns == 1) {
    double value = ofNothing;
    for (int64_t i = 0; i < rows; ++i)
      to[i] = value = combine(value, from[i]);
    return;
  }
  int64_t grain = columnsTogether(context, cells, columns);
  forEachRange(context, columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      to[j] = combine(ofNothing, from[j]);
    for (int64_t i = 1; i < rows; ++i) {
      const double *previous = to + (i - 1) * columns, *source = from + i * columns;
      double *row = to + i * columns;
      for (int64_t j = begin; j < end; ++j)
        row[j] = combine(previous[j], source[j]);
    }
  });
}

// Cumulative sums along columns, in units of rows: a cell is the sum of all units before its own, added to the sum of the
// cells of its unit up to it. Units depend on the sizes alone, and so do all bits. Where one of the two sums gets so large
// that they might overflow although the sum of all cells in their order doesn't, or the other way round, a unit goes on from
// the sum of all cells before instead.
class SumsInUnits {
public:
  SumsInUnits(const double *from, double *to, int64_t rows, int64_t columns)
      : from_(from), to_(to), rows_(rows), columns_(columns),
        rowsOfUnit_(std::max<int64_t>(1, cellsOfUnit / columns)),
        units_((rows + rowsOfUnit_ - 1) / rowsOfUnit_), before_(units_ * columns),
        goesOn_(static_cast<size_t>(units_)) {}

  void run(ExecutionContext &context) {
    int64_t threads = context.scheduler ? context.scheduler->threads() : 1;
    if (units_ == 1)
      return scan(0, 1);
    std::vector<double> sum(static_cast<size_t>(columns_), none);
    if (threads == 1) { // while the cells of a unit are in the cache
      for (int64_t begin = 0; begin < units_; begin += lanes) {
        int64_t end = std::min(units_, begin + lanes);
        addUp(begin, end);
        addBefore(begin, end, sum);
        scan(begin, end);
      }
      return;
    }
    constexpr int64_t grain = parallelGrain / cellsOfUnit;
    forEachRange(context, units_, grain, [&](int64_t begin, int64_t end) { addUp(begin, end); });
    addBefore(0, units_, sum);
    forEachRange(context, units_, grain, [&](int64_t begin, int64_t end) { scan(begin, end); });
  }

private:
  static constexpr int64_t cellsOfUnit = 1024;
  static constexpr int64_t lanes = 8; // units at a time: additions don't wait for each other
  static constexpr double none = 0.0;

  bool isFull(int64_t unit) const { return (unit + 1) * rowsOfUnit_ <= rows_; }
  bool hasLanes(int64_t unit, int64_t end) const {
    auto goesOn = goesOn_.begin() + unit;
    return columns_ == 1 && unit + lanes <= end && isFull(unit + lanes - 1) &&
           std::none_of(goesOn, goesOn + lanes, std::identity());
  }

  // The sums of units.
  void addUp(int64_t unit, int64_t end) {
    for (; hasLanes(unit, end); unit += lanes) {
      double sums[lanes];
      std::fill_n(sums, lanes, none);
      const double *cells = from_ + unit * cellsOfUnit;
      for (int64_t i = 0; i < cellsOfUnit; ++i)
        for (int64_t lane = 0; lane < lanes; ++lane)
          sums[lane] += cells[lane * cellsOfUnit + i];
      std::copy(sums, sums + lanes, before_.data() + unit);
    }
    for (; unit < end; ++unit)
      withSums([&](auto &sums) {
        forEachRowOf(unit, [&](int64_t first) {
          for (size_t j = 0; j < sums.size(); ++j)
            sums[j] += from_[first + j];
        });
        std::copy(sums.begin(), sums.end(), before_.data() + unit * columns_);
      });
  }

  // Turns the sums of units into those of all units before.
  void addBefore(int64_t unit, int64_t end, std::vector<double> &sum) {
    for (; unit < end; ++unit) {
      double *own = before_.data() + unit * columns_;
      bool goesOn = false;
      for (int64_t j = 0; j < columns_; ++j)
        goesOn |= mayOverflow(sum[j], own[j]);
      goesOn_[unit] = goesOn;
      for (int64_t j = 0; j < columns_; ++j) {
        double ofUnit = std::exchange(own[j], sum[j]);
        if (!goesOn)
          sum[j] += ofUnit;
      }
      if (goesOn)
        forEachRowOf(unit, [&](int64_t first) {
          for (int64_t j = 0; j < columns_; ++j)
            sum[j] += from_[first + j];
        });
    }
  }

  // A sum of some cells that overflows makes that of all of them infinite or NaN. What is less than half a unit in the last
  // place of the largest double makes no finite number overflow.
  static bool mayOverflow(double before, double ofUnit) {
    if (std::isnan(before))
      return false;
    return !std::isfinite(ofUnit) || (std::isfinite(before) && std::fabs(before) >= 0x1p970);
  }

  void scan(int64_t unit, int64_t end) {
    for (; hasLanes(unit, end); unit += lanes) {
      double sums[lanes];
      std::fill_n(sums, lanes, none);
      const double *cells = from_ + unit * cellsOfUnit, *before = before_.data() + unit;
      double *to = to_ + unit * cellsOfUnit;
      for (int64_t i = 0; i < cellsOfUnit; ++i)
        for (int64_t lane = 0; lane < lanes; ++lane) {
          sums[lane] += cells[lane * cellsOfUnit + i];
          to[lane * cellsOfUnit + i] = before[lane] + sums[lane];
        }
    }
    for (; unit < end; ++unit)
      withSums([&](auto &sums) {
        auto before = sums;
        std::copy_n(before_.data() + unit * columns_, columns_, before.begin());
        if (goesOn_[unit])
          std::swap(before, sums);
        forEachRowOf(unit, [&](int64_t first) {
          for (size_t j = 0; j < sums.size(); ++j) {
            sums[j] += from_[first + j];
            to_[first + j] = before[j] + sums[j];
          }
        });
      });
  }

  // Calls body(sums) with one of each column, none so far: those of few columns stay in registers.
  template <typename Body> void withSums(const Body &body) const {
    auto ofFew = [&]<int64_t few>() {
      std::array<double, few> sums;
      sums.fill(none);
      body(sums);
    };
    if (withConstantOf<1, 2, 3, 4, 5, 6, 7, 8>(columns_, ofFew))
      return;
    std::vector<double> sums(static_cast<size_t>(columns_), none);
    body(sums);
  }

  template <typename Body> void forEachRowOf(int64_t unit, const Body &body) const {
    for (int64_t i = unit * rowsOfUnit_; i < std::min(rows_, (unit + 1) * rowsOfUnit_); ++i)
      body(i * columns_);
  }

  const double *from_;
  double *to_;
  int64_t rows_, columns_, rowsOfUnit_, units_;
  BudgetedVector<double> before_; // for each unit and column
  std::vector<uint8_t> goesOn_;   // for each unit
};

} // namespace

void runCumsum(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  constexpr int64_t wide = 32; // more columns are enough for all threads
  const Array &source = matrixOperand(operands[0], "cumsum");
  if (source.columns() > wide || source.cells() == 0)
    return scanColumns(
        context, operands, results, "cumsum", [](double a, double b) { return a + b; }, 0.0);
  ArrayPointer result = resultLike(operands[0], "cumsum");
  double *to = result->mutableData(); // first: it may be where the operand is
  SumsInUnits(source.data(), to, source.rows(), source.columns()).run(context);
  results[0] = std::move(result);
}

void runCumprod(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(context, operands, results, "cumprod", [](double a, double b) { return a * b; }, 1.0);
}

// Of cells of any type, in their type: integers wrap. Columns are independent.
void runCumprodcells(ExecutionContext &context, std::span<Value> operands,
                     std::span<Value> results) {
  denseMatrixOperand(operands[0], "cumprodcells");
  ArrayPointer result = takeOrCopy(operands[0]);
  int64_t rows = result->rows(), columns = result->columns();
  ElementType type = result->elementType();
  withCellType(type, [&]<typename Cell>() {
    auto *cells = result->mutableCellsAs<Cell>();
    int64_t grain = columnsTogether(context, result->cells(), columns);
    forEachRange(context, columns, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 1; i < rows; ++i)
        for (int64_t j = begin; j < end; ++j) {
          Cell previous = cells[(i - 1) * columns + j], &cell = cells[i * columns + j];
          if constexpr (isFloatCell<Cell>)
            cell = convertCell<Cell>(convertCell<double>(previous) * convertCell<double>(cell));
          else
            cell = convertCell<Cell>(evaluate(BinaryOperator::Mul, type,
                                              static_cast<int64_t>(previous),
                                              static_cast<int64_t>(cell)));
        }
    });
  });
  results[0] = std::move(result);
}

void runCummin(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(
      context, operands, results, "cummin", [](double a, double b) { return minimum(a, b); },
      infinity);
}

void runCummax(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  scanColumns(
      context, operands, results, "cummax", [](double a, double b) { return maximum(a, b); },
      -infinity);
}

void runRowcumsum(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  matrixOperand(operands[0], "rowcumsum");
  ArrayPointer result = takeOrCopy(operands[0]);
  int64_t columns = result->columns();
  double *data = result->mutableData();
  forEachRowRange(context, result->rows(), columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0; // to which -0 is added, too: a sum has no sign of its own
      for (int64_t j = 0; j < columns; ++j)
        data[i * columns + j] = sum += data[i * columns + j];
    }
  });
  results[0] = std::move(result);
}

// y[i] = a[i] + b[i] * y[i-1], y[0] = a[0], where a and b are the columns of the operand.
void runCumsumprod(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &source = matrixOperand(operands[0], "cumsumprod");
  if (source.columns() != 2)
    throw Error(fmt::format("cumsumprod: expected two columns, got {}", source.columns()));
  ArrayPointer result = Array::create({source.rows(), 1});
  double previous = 0;
  for (int64_t i = 0; i < source.rows(); ++i) {
    previous = i == 0 ? source.at(0, 0) : source.at(i, 0) + source.at(i, 1) * previous;
    result->mutableData()[i] = previous;
  }
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
