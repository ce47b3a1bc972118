#include "exec/KernelCalibration.h"

#include "codegen/target/Target.h"
#include "cost/CalibrationLoops.h"
#include "exec/CalibrationKernels.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Value;

namespace {

//===- functions of cells -------------------------------------------------------------------===//

// Arrays that fit the nearest cache together with each other.
constexpr int64_t rows = 16, columns = 64;

// sum(cell), where the cell %3 is computed of %1 and %2 at its place. The same text for all operators, but
// for one line.
std::string sumOf(const std::string &cell, ElementType type) {
  return textOf({.axes = "s0 reduced, s1 reduced",
                 .sizes = "scalar",
                 .body = fmt::format(R"(
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.read %y (d0, d1) -> (d0, d1) : !m -> !ij
    %2 = plan.binary max %0, %1 : (!ij, !ij) -> !ij
    {}
    %4 = plan.reduce sum %3 over [d0, d1] in f64 : !ij -> !c
    plan.write %4 to 0 (d0, d1) -> () : !c)",
                                     cell)},
                type);
}

std::string sumOfUnary(UnaryOperator op, ElementType type) {
  return sumOf(fmt::format("%3 = plan.unary {} %2 : !ij -> !ij", mnemonic(op)), type);
}

std::string sumOfBinary(BinaryOperator op, ElementType type) {
  return sumOf(fmt::format("%3 = plan.binary {} %2, %1 : (!ij, !ij) -> !ij", mnemonic(op)), type);
}

class CellCalibration {
public:
  CellCalibration(CalibrationKernels &kernels, cost::CellCosts &costs) : kernels_(kernels) {
    for (ElementType type : {ElementType::F64, ElementType::F32}) {
      auto cost = [&](cost::CellCost &both) -> double & {
        return type == ElementType::F64 ? both.f64 : both.f32;
      };
      Value x = calibrationNumbers(rows, columns, type, 0),
            y = calibrationNumbers(rows, columns, type, 0.1);
      size_t base = kernels.add(sumOfBinary(BinaryOperator::Min, type), x, y);
      for (UnaryOperator op : cost::measuredUnaryOperators())
        cells_.push_back({cost(costs.unary[static_cast<size_t>(op)]),
                          kernels.add(sumOfUnary(op, type), x, y), base});
      for (BinaryOperator op : cost::measuredBinaryOperators())
        cells_.push_back({cost(costs.binary[static_cast<size_t>(op)]),
                          kernels.add(sumOfBinary(op, type), x, y), base});
    }
  }
  void setCosts(double flopsPerNanosecond) const {
    constexpr double cellCount = rows * columns;
    for (const Cell &cell : cells_) {
      double longer = kernels_.nanoseconds(cell.kernel) - kernels_.nanoseconds(cell.base);
      cell.additions = std::max(longer / cellCount * flopsPerNanosecond, 0.0) + 1;
    }
  }

private:
  struct Cell {
    double &additions;
    size_t kernel, base;
  };
  const CalibrationKernels &kernels_;
  std::vector<Cell> cells_;
};

//===- products -----------------------------------------------------------------------------===//

// x %*% y, y with few columns.
constexpr int64_t productRows = 256, productWidth = 64, productColumns = 16, manyColumns = 64,
                  fewProducts = 4;

std::string product(ElementType type, int64_t columnsOfProduct) {
  std::string columns = std::to_string(columnsOfProduct);
  return textOf({.y = "[s1, " + columns + "]",
                 .axes = "s0, s1 reduced, " + columns,
                 .sizes = "[s0, " + columns + "]",
                 .body = fmt::format(R"(
    %0 = plan.read %x (d0, d1, d2) -> (d0, d1) : !m -> !ij
    %1 = plan.read %y (d0, d1, d2) -> (d1, d2) : !m -> !plan.cell<(d1, d2) -> {0}>
    %2 = plan.binary mul %0, %1 : (!ij, !plan.cell<(d1, d2) -> {0}>) -> !plan.cell<(d0, d1, d2) -> {0}>
    %3 = plan.reduce sum %2 over [d1] in {0} : !plan.cell<(d0, d1, d2) -> {0}> -> !plan.cell<(d0, d2) -> {0}>
    plan.write %3 to 0 (d0, d1, d2) -> (d0, d2) : !plan.cell<(d0, d2) -> {0}>)",
                                     nameOf(type))},
                type);
}

// All cells of an image of 28 x 28 with some filters: with larger windows, kernels are at most a third faster.
constexpr int64_t filters = 64, channels = 64, imageColumns = 28 * 28, windowPlaces = 1;

std::string convolution(ElementType type) {
  return textOf({.x = fmt::format("[s0, {}]", channels * windowPlaces),
                 .y = fmt::format("[{}, {}]", channels, imageColumns),
                 .axes = fmt::format("s0, {}, {} reduced, {} reduced",
                                     imageColumns - windowPlaces + 1, channels, windowPlaces),
                 .sizes = fmt::format("[s0, {}]", imageColumns - windowPlaces + 1),
                 .body = fmt::format(R"(
    %0 = plan.read %x (d0, d1, d2, d3) -> (d0, {1} * d2 + d3) : !m -> !plan.cell<(d0, d2, d3) -> {0}>
    %1 = plan.read %y (d0, d1, d2, d3) -> (d2, d1 + d3) : !m -> !plan.cell<(d1, d2, d3) -> {0}>
    %2 = plan.binary mul %0, %1 : (!plan.cell<(d0, d2, d3) -> {0}>, !plan.cell<(d1, d2, d3) -> {0}>)
        -> !plan.cell<(d0, d1, d2, d3) -> {0}>
    %3 = plan.reduce sum %2 over [d2, d3] in {0} : !plan.cell<(d0, d1, d2, d3) -> {0}> -> !ij
    plan.write %3 to 0 (d0, d1, d2, d3) -> (d0, d1) : !ij)",
                                     nameOf(type), windowPlaces)},
                type);
}

class ProductCalibration {
public:
  explicit ProductCalibration(CalibrationKernels &kernels) : kernels_(kernels) {
    auto add = [&](ElementType type, int64_t rows, int64_t width,
                   int64_t columns = productColumns) {
      return kernels.add(product(type, columns), calibrationNumbers(rows, width, type, 0),
                         calibrationNumbers(width, columns, type, 0));
    };
    wide_ = add(ElementType::F64, productRows, productWidth);
    single_ = add(ElementType::F32, productRows, productWidth, manyColumns);
    narrowSingle_ = add(ElementType::F32, productRows, productWidth);
    narrow_ = add(ElementType::F64, productRows, fewProducts);
    short_ = add(ElementType::F64, productRows / 8, fewProducts);
    auto addConvolution = [&](ElementType type) {
      return kernels.add(convolution(type),
                         calibrationNumbers(filters, channels * windowPlaces, type, 0),
                         calibrationNumbers(channels, imageColumns, type, 0));
    };
    convolution_ = addConvolution(ElementType::F64);
    singleConvolution_ = addConvolution(ElementType::F32);
  }
  void setRates(cost::MachineModel &model) const {
    constexpr double results = productRows * productColumns,
                     convolved =
                         filters * channels * windowPlaces * (imageColumns - windowPlaces + 1);
    double launch = model.launchNanoseconds + 3 * model.arrayNanoseconds;
    auto rateOf = [&](size_t kernel, double multiplications) {
      return multiplications / std::max(kernels_.nanoseconds(kernel) - launch, 1.0);
    };
    model.productsPerNanosecond = rateOf(wide_, results * productWidth);
    constexpr double multiplied = productRows * productWidth;
    model.singleProductsPerNanosecond = rateOf(single_, multiplied * manyColumns);
    model.narrowSingleProductsPerNanosecond = rateOf(narrowSingle_, multiplied * productColumns);
    model.convolutionsPerNanosecond = rateOf(convolution_, convolved);
    model.singleConvolutionsPerNanosecond = rateOf(singleConvolution_, convolved);
    double ofResult =
        (kernels_.nanoseconds(narrow_) - kernels_.nanoseconds(short_)) / (results - results / 8);
    model.productResultNanoseconds =
        std::max(ofResult - fewProducts / model.productsPerNanosecond, 0.0);
  }
  // Of the longest kernel.
  double spread() const { return kernels_.spread(wide_); }

private:
  const CalibrationKernels &kernels_;
  size_t wide_, single_, narrowSingle_, narrow_, short_, convolution_, singleConvolution_;
};

//===- loops --------------------------------------------------------------------------------===//

const char *readsBoth = R"(
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.read %y (d0, d1) -> (d0, d1) : !m -> !ij
    %2 = plan.binary max %0, %1 : (!ij, !ij) -> !ij
)";

const char *multipliesByRow = R"(
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.read %y (d0, d1) -> (d0, 0) : !m -> !i
    %2 = plan.binary mul %0, %1 : (!ij, !i) -> !ij
)";

const char *multipliesByColumn = R"(
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.read %y (d0, d1) -> (d1, 0) : !m -> !plan.cell<(d1) -> f64>
    %2 = plan.binary mul %0, %1 : (!ij, !plan.cell<(d1) -> f64>) -> !ij
)";

// What loops take beside their operators, of doubles that fit the nearest cache. Each kernel is measured
// over many rows and over some: the difference is without the launch.
class LoopCalibration {
public:
  explicit LoopCalibration(CalibrationKernels &kernels) : kernels_(kernels) {
    auto aggregate = [&](const char *kind) {
      return add({.axes = "s0 reduced, s1 reduced",
                  .sizes = "scalar",
                  .body = readsBoth + fmt::format(R"(
    %3 = plan.reduce {} %2 over [d0, d1] in f64 : !ij -> !c
    plan.write %3 to 0 (d0, d1) -> () : !c)",
                                                  kind),
                  .isCompact = true},
                 longColumns, longColumns);
    };
    sum_ = aggregate("sum");
    extreme_ = aggregate("min");
    std::string narrow = std::to_string(narrowColumns), narrowSizes = "[s0, " + narrow + "]";
    narrowSums_ = add({.x = narrowSizes,
                       .y = narrowSizes,
                       .axes = "s0, " + narrow + " reduced",
                       .sizes = "[s0, 1]",
                       .body = std::string(readsBoth) + R"(
    %3 = plan.reduce sum %2 over [d1] in f64 : !ij -> !i
    plan.write %3 to 0 (d0, d1) -> (d0, 0) : !i)",
                       .isCompact = true},
                      narrowColumns, narrowColumns);
    auto repeating = [&](const std::string &sizes, const std::string &columns, int64_t number) {
      return add({.x = sizes,
                  .y = "[s0, 1]",
                  .axes = "s0, " + columns,
                  .sizes = sizes,
                  .body = std::string(multipliesByRow) + R"(
    plan.write %2 to 0 (d0, d1) -> (d0, d1) : !ij)"},
                 number, 1);
    };
    narrowCells_ = repeating(narrowSizes, narrow, narrowColumns);
    wholeVectors_ = repeating("[s0, s1]", "s1", wholeColumns);
    maskedVectors_ = repeating("[s0, s1]", "s1", maskedVectors * 8 - 4);
    entries_ = add({.x = "driver [s0, s1]",
                    .y = "[s0, 1]",
                    .axes = "s0 reduced, s1 reduced",
                    .sizes = "scalar",
                    .body = std::string(multipliesByRow) + R"(
    %3 = plan.reduce sum %2 over [d0, d1] in f64 : !ij -> !c
    plan.write %3 to 0 (d0, d1) -> () : !c)"},
                   sparseColumns, 1);
    auto sumsOfRows = [](const char *sizes, const char *products) {
      return KernelText{.x = "driver [s0, s1]",
                        .y = sizes,
                        .axes = "s0, s1 reduced",
                        .sizes = "[s0, 1]",
                        .body = std::string(products) + R"(
    %3 = plan.reduce sum %2 over [d1] in f64 : !ij -> !i
    plan.write %3 to 0 (d0, d1) -> (d0, 0) : !i)"};
    };
    KernelText byRow = sumsOfRows("[s0, 1]", multipliesByRow);
    rowsOfEntries_ = add(byRow, sparseColumns, 1);
    rowsOfFewEntries_ = add(byRow, sparseColumns, 1, fewEntries);
    gathered_ = add(sumsOfRows("[s1, 1]", multipliesByColumn), sparseColumns, 1);
    scattered_ = add({.x = "driver [s0, s1]",
                      .y = "[s0, 1]",
                      .axes = "s0 reduced, s1",
                      .sizes = "[s1, 1]",
                      .body = std::string(multipliesByRow) + R"(
    %3 = plan.reduce sum %2 over [d0] in f64 : !ij -> !plan.cell<(d1) -> f64>
    plan.write %3 to 0 (d0, d1) -> (d1, 0) : !plan.cell<(d1) -> f64>)"},
                     sparseColumns, 1);
  }

  void setCosts(cost::MachineModel &model) const {
    auto additionsOf = [&](const ManyAndSome &kernel, int64_t cells) {
      return nanosecondsPerRow(kernel) * model.flopsPerNanosecond / static_cast<double>(cells);
    };
    // Beside the maximum of each cell.
    model.compactSumAdditions = std::max(additionsOf(sum_, longColumns) - 1, 1.0);
    model.compactExtremeAdditions = std::max(additionsOf(extreme_, longColumns) - 1, 1.0);
    // A maximum and an addition for each cell.
    model.compactRowSlowness = std::max(additionsOf(narrowSums_, narrowColumns) / 2, 1.0);
    // A multiplication of each cell, which is read across first.
    model.narrowWriteAdditions = std::max(additionsOf(narrowCells_, narrowColumns) - 2, 0.0);
    // Longer than a whole vector.
    model.maskedVectorNanoseconds =
        std::max(nanosecondsPerRow(maskedVectors_) / maskedVectors -
                     nanosecondsPerRow(wholeVectors_) / (wholeColumns / 8),
                 0.0);
    // A multiplication and an addition for each entry.
    double ofFew = additionsOf(rowsOfFewEntries_, 1),
           ofEntry =
               std::max(additionsOf(rowsOfEntries_, 1) - ofFew, 0.0) / (entriesOfRow - fewEntries);
    model.entryAdditions = std::max(ofEntry - 2, 0.1);
    model.entryRowAdditions = std::max(ofFew - fewEntries * ofEntry, 0.0);
    model.nearestGatherNanoseconds =
        std::max(nanosecondsPerRow(gathered_) - nanosecondsPerRow(rowsOfEntries_), 0.0) /
        entriesOfRow;
    model.scatterNanoseconds =
        std::max(nanosecondsPerRow(scattered_) - nanosecondsPerRow(entries_), 0.0) / entriesOfRow;
  }

private:
  struct ManyAndSome {
    size_t many, some;
  };
  static constexpr int64_t manyRows = 128, someRows = 16;
  static constexpr int64_t longColumns = 20, narrowColumns = 10, wholeColumns = 32;
  static constexpr int64_t maskedVectors = 3; // of eight cells, the last not full
  static constexpr int64_t sparseColumns = 96, entriesOfRow = 8; // a whole vector
  static constexpr int64_t fewEntries = 2;

  // Of sparse rows, with so many entries each, if they have `sparseColumns`.
  ManyAndSome add(const KernelText &kernel, int64_t xColumns, int64_t yColumns,
                  int64_t entries = entriesOfRow) {
    constexpr ElementType type = ElementType::F64;
    auto withRows = [&](int64_t rows) {
      return kernels_.add(
          textOf(kernel, type),
          xColumns == sparseColumns ? calibrationEntries(rows, sparseColumns, entries)
                                    : calibrationNumbers(rows, xColumns, type, 0),
          calibrationNumbers(kernel.y.starts_with("[s1") ? xColumns : rows, yColumns, type, 0));
    };
    return {withRows(manyRows), withRows(someRows)};
  }

  double nanosecondsPerRow(const ManyAndSome &kernel) const {
    return std::max(kernels_.nanoseconds(kernel.many) - kernels_.nanoseconds(kernel.some), 0.0) /
           (manyRows - someRows);
  }

  CalibrationKernels &kernels_;
  ManyAndSome sum_, extreme_, narrowSums_, narrowCells_, wholeVectors_, maskedVectors_, entries_,
      rowsOfEntries_, rowsOfFewEntries_, gathered_, scattered_;
};

//===- prefetching --------------------------------------------------------------------------===//

// Kernels that read arrays from memory at several distances, which are compared with each other. One distance
// is preferred to the target's only if it is clearly faster.
class StreamCalibration {
public:
  StreamCalibration() {
    constexpr int64_t columns = 1024, doubles = bytes / 8 / columns, singles = bytes / 4 / columns;
    Value x = calibrationNumbers(doubles, columns, ElementType::F64, 0),
          y = calibrationNumbers(doubles, columns, ElementType::F64, 0.1),
          single = calibrationNumbers(singles, columns, ElementType::F32, 0);
    arrays_ = {x, y, single};
    for (Distance &distance : distances_) {
      distance.severalArrays =
          distance.kernels.add(sumOfBinary(BinaryOperator::Min, ElementType::F64), x, y);
      distance.oneSingle = distance.kernels.add(
          textOf({.axes = "s0 reduced, s1 reduced", .sizes = "scalar", .body = R"(
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !m -> !ij
    %1 = plan.reduce sum %0 over [d0, d1] in f64 : !ij -> !c
    plan.write %1 to 0 (d0, d1) -> () : !c)"},
                 ElementType::F32),
          single, single);
    }
  }
  bool compile(int threads) {
    return llvm::all_of(distances_,
                        [&](Distance &distance) { return distance.kernels.compile(threads); });
  }
  void measure() {
    for (Distance &distance : distances_)
      for (size_t kernel : {distance.severalArrays, distance.oneSingle}) {
        for (const Value &array : arrays_)
          flush(array);
        distance.kernels.measure(kernel, 1);
      }
  }
  void setDistances(cost::MachineModel &model) const {
    const schedule::StreamDistances &usual = codegen::hostTarget().streams;
    model.streamBytesAhead = fastest(&Distance::severalArrays, usual.bytesAhead);
    model.singleStreamBytesAhead = fastest(&Distance::oneSingle, usual.ofOneSingle);
  }

private:
  static constexpr int64_t bytes = 8 << 20; // of each array
  struct Distance {
    explicit Distance(int64_t bytesAhead)
        : bytesAhead(bytesAhead), kernels(schedule::StreamDistances{bytesAhead, bytesAhead}) {}
    int64_t bytesAhead;
    CalibrationKernels kernels;
    size_t severalArrays = 0, oneSingle = 0;
  };

  static void flush(const Value &array) {
    cost::flush(array.array()->cellsAs<double>(), bytes / 8);
  }

  double fastest(size_t Distance::*kernel, int64_t usual) const {
    constexpr double clearly = 0.97;
    auto nanoseconds = [&](const Distance &distance) {
      double found = distance.kernels.nanoseconds(distance.*kernel);
      return distance.bytesAhead == usual ? found * clearly : found;
    };
    return static_cast<double>(
        llvm::min_element(distances_, [&](const Distance &one, const Distance &other) {
          return nanoseconds(one) < nanoseconds(other);
        })->bytesAhead);
  }

  std::vector<Value> arrays_;
  std::array<Distance, 3> distances_{Distance(0), Distance(2048), Distance(4096)};
};

} // namespace

bool exec::measureKernels(cost::MachineModel &model, int threads, int rounds) {
  CalibrationKernels kernels;
  CellCalibration cells(kernels, model.cells);
  ProductCalibration products(kernels);
  LoopCalibration loops(kernels);
  StreamCalibration streams;
  if (!kernels.compile(threads) || !streams.compile(threads))
    return true; // the fixed figures stay
  for (int round = 0; round < rounds; ++round) {
    kernels.measure();
    streams.measure();
  }
  cells.setCosts(model.flopsPerNanosecond);
  products.setRates(model);
  loops.setCosts(model);
  streams.setDistances(model);
  return products.spread() < 1.25;
}
