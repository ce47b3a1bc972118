// Kernels on arrays of integers, i1 and 16-bit floats: every operator on every element type that it
// takes, conversions between all types, aggregates, and bodies of several types.
#include "codegen/testing/KernelCompilerFixture.h"

namespace tokamak::codegen {
namespace {

constexpr ElementType integerTypes[] = {ElementType::I8,  ElementType::I16, ElementType::I32,
                                        ElementType::I64, ElementType::U8,  ElementType::U16,
                                        ElementType::U32, ElementType::U64, ElementType::Bool};

class IntegerKernelTest : public KernelCompilerFixture {
protected:
  static std::string arrayOf(ElementType type) {
    return "tensor<?x?x" + std::string(nameOf(type)) + ">";
  }

  // Small and extreme cells; all are exact as doubles.
  Matrix cellsOf(ElementType type, int64_t rows, int64_t columns) {
    Matrix matrix{rows, columns, {}};
    auto [least, largest] = withCellType(type, [&]<typename Cell>() {
      if constexpr (isFloatCell<Cell>)
        return std::pair(-1000.0, 1000.0);
      else
        return std::pair(static_cast<double>(std::numeric_limits<Cell>::min()),
                         std::min(static_cast<double>(std::numeric_limits<Cell>::max()), 0x1p53));
    });
    double special[] = {least, largest, 0, 1, 2, 3, 7, 100, -1, -2, -7};
    std::uniform_int_distribution<size_t> pick(0, std::size(special) - 1);
    for (int64_t i = 0; i < rows * columns; ++i) {
      double cell = special[pick(generator)];
      matrix.cells.push_back(isFloat(type) ? roundedTo(type, cell)
                                           : doubleOf(type, integerOf(type, cell)));
    }
    return matrix;
  }

  std::vector<Matrix> run(const std::string &text, std::vector<Matrix> inputs) {
    plan::OperatorOp op = parse(text);
    if (!op)
      return {};
    auto plan = compiler.compile(op);
    if (failed(plan))
      return {};
    Launch launch{std::move(inputs), {}, /*tile=*/24};
    std::vector<Matrix> results = launch.run(*plan);
    EXPECT_TRUE(launch.guardsIntact) << text;
    return results;
  }
};

constexpr UnaryOperator unaryOperators[] = {
#define TOKAMAK_UNARY(Name, ...) UnaryOperator::Name,
#include "base/CellOperators.def"
};
constexpr BinaryOperator binaryOperators[] = {
#define TOKAMAK_BINARY(Name, ...) BinaryOperator::Name,
#include "base/CellOperators.def"
};

TEST_F(IntegerKernelTest, EveryOperatorOfEveryType) {
  for (ElementType type : integerTypes) {
    std::string array = arrayOf(type);
    Matrix left = cellsOf(type, 9, 11), right = cellsOf(type, 9, 11);
    auto check = [&](const std::string &operation, const std::string &name, auto expected) {
      std::string text = "block sizes [s0, s1, s0, s1] (%x: " + array + ", %y: " + array + ") -> " +
                         array + " {\n%0 = " + operation + "\nreturn %0 : " + array + "\n}";
      std::vector<Matrix> results = run(text, {left, right});
      ASSERT_EQ(results.size(), 1u) << text;
      for (size_t i = 0; i < left.cells.size(); ++i) {
        int64_t a = integerOf(type, left.cells[i]), b = integerOf(type, right.cells[i]);
        ASSERT_EQ(results[0].cells[i], doubleOf(type, expected(a, b)))
            << name << " of " << a << " and " << b << " in " << nameOf(type);
      }
    };
    for (UnaryOperator op : unaryOperators)
      if (takes(op, type))
        check("tok.unary " + std::string(mnemonic(op)) + " %x : " + array + " -> " + array,
              std::string(mnemonic(op)), [&](int64_t a, int64_t) { return evaluate(op, type, a); });
    for (BinaryOperator op : binaryOperators)
      if (takes(op, type))
        check("tok.binary " + std::string(mnemonic(op)) + " %x, %y : (" + array + ", " + array +
                  ") -> " + array,
              std::string(mnemonic(op)),
              [&](int64_t a, int64_t b) { return evaluate(op, type, a, b); });
    if (HasFatalFailure())
      return;
  }
}

// A conversion is part of the kernel; it gives what base/ElementType.h says.
TEST_F(IntegerKernelTest, ConversionsBetweenAllTypes) {
  for (int from = 0; from < elementTypeCount; ++from)
    for (int to = 0; to < elementTypeCount; ++to) {
      auto source = static_cast<ElementType>(from), target = static_cast<ElementType>(to);
      if (source == target)
        continue; // folded
      std::string in = arrayOf(source), out = arrayOf(target);
      Matrix cells = cellsOf(source, 5, 7);
      if (isFloat(source))
        for (double cell : {1e30, -1e30, 0.5, -0.5, 2.5, 65520.0, 300.7, -300.7, double(NAN),
                            double(INFINITY), -double(INFINITY), 3e9, -3e9, 1e19})
          cells.cells.push_back(roundedTo(source, cell));
      cells.columns = static_cast<int64_t>(cells.cells.size());
      cells.rows = 1;
      std::string text = "block sizes [1, s1] (%x: " + in + ") -> " + out +
                         " {\n%0 = tok.cast %x : " + in + " -> " + out + "\nreturn %0 : " + out +
                         "\n}";
      std::vector<Matrix> results = run(text, {cells});
      ASSERT_EQ(results.size(), 1u) << text;
      for (size_t i = 0; i < cells.cells.size(); ++i) {
        double expected = withCellType(source, [&]<typename From>() {
          return withCellType(target, [&]<typename To>() {
            return convertCell<double>(convertCell<To>(convertCell<From>(cells.cells[i])));
          });
        });
        double is = results[0].cells[i];
        ASSERT_TRUE(is == expected || (std::isnan(is) && std::isnan(expected)))
            << nameOf(source) << " " << cells.cells[i] << " -> " << nameOf(target) << ": " << is
            << " instead of " << expected;
      }
    }
}

TEST_F(IntegerKernelTest, AggregatesAreExact) {
  for (ElementType type : integerTypes) {
    std::string array = arrayOf(type);
    for (const char *kind : {"sum", "prod", "min", "max"}) {
      std::string k = kind;
      std::string text = "block sizes [s0, s1] (%x: " + array +
                         ") -> (i64, tensor<?x?xi64>, tensor<?x?xi64>) {\n%0 = tok.aggregate " + k +
                         " full %x : " + array + " -> i64\n%1 = tok.aggregate " + k +
                         " row %x : " + array + " -> tensor<?x?xi64>\n%2 = tok.aggregate " + k +
                         " column %x : " + array +
                         " -> tensor<?x?xi64>\n"
                         "return %0, %1, %2 : i64, tensor<?x?xi64>, tensor<?x?xi64>\n}";
      for (auto [rows, columns] : {std::pair(1, 1), {7, 5}, {30, 33}}) {
        Matrix x = cellsOf(type, rows, columns);
        std::vector<Matrix> results = run(text, {x});
        ASSERT_EQ(results.size(), 3u) << text;
        auto reduce = [&](auto begin, auto end, auto step) {
          AggregateKind aggregate = *findAggregateKind(kind);
          int64_t total = integerOf(type, x.cells[begin]);
          for (auto i = begin + step; i < end; i += step) {
            int64_t cell = integerOf(type, x.cells[i]);
            total = aggregate == AggregateKind::Sum
                        ? evaluate(BinaryOperator::Add, ElementType::I64, total, cell)
                    : aggregate == AggregateKind::Prod
                        ? evaluate(BinaryOperator::Mul, ElementType::I64, total, cell)
                    : aggregate == AggregateKind::Min
                        ? evaluate(BinaryOperator::Min, type, total, cell)
                        : evaluate(BinaryOperator::Max, type, total, cell);
          }
          return static_cast<double>(total);
        };
        int64_t cells = static_cast<int64_t>(rows) * columns;
        ASSERT_EQ(results[0].cells[0], reduce(int64_t{0}, cells, int64_t{1})) << kind << text;
        for (int64_t row = 0; row < rows; ++row)
          ASSERT_EQ(results[1].cells[row], reduce(row * columns, (row + 1) * columns, int64_t{1}))
              << kind << " of row " << row << " in " << nameOf(type);
        for (int64_t column = 0; column < columns; ++column)
          ASSERT_EQ(results[2].cells[column], reduce(column, cells, int64_t{columns}))
              << kind << " of column " << column << " in " << nameOf(type);
      }
    }
  }
}

// Cells of 16 bits are rounded after each operator, sums are in doubles; i1 selects.
TEST_F(IntegerKernelTest, SeveralTypesInOneBody) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    std::string array = arrayOf(type);
    std::string text =
        "block sizes [s0, s1, 1, s1] (%x: " + array + ", %y: " + array +
        ") -> (tensor<?x?xf32>, tensor<?x?xi8>) {\n%0 = tok.binary mul %x, %y : (" + array + ", " +
        array + ") -> " + array + "\n%1 = tok.binary gt %0, %x : (" + array + ", " + array +
        ") -> tensor<?x?xi1>\n%2 = tok.ifelse %1, %0, %y : (tensor<?x?xi1>, " + array + ", " +
        array + ") -> " + array + "\n%3 = tok.cast %2 : " + array +
        " -> tensor<?x?xf32>\n%4 = tok.aggregate sum row %3 : tensor<?x?xf32> -> "
        "tensor<?x?xf32>\n%5 = tok.cast %2 : " +
        array + " -> tensor<?x?xi8>\nreturn %4, %5 : tensor<?x?xf32>, tensor<?x?xi8>\n}";
    Matrix x = random(19, 21, -20, 20), y = random(1, 21, -20, 20);
    for (Matrix *matrix : {&x, &y})
      for (double &cell : matrix->cells)
        cell = roundedTo(type, cell);
    std::vector<Matrix> results = run(text, {x, y});
    ASSERT_EQ(results.size(), 2u) << text;
    for (int64_t i = 0; i < 19; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < 21; ++j) {
        double product = roundedTo(type, x.at(i, j) * y.at(0, j));
        double chosen = product > x.at(i, j) ? product : y.at(0, j);
        sum += chosen;
        ASSERT_EQ(results[1].at(i, j), convertCell<int8_t>(chosen));
      }
      ASSERT_NEAR(results[0].cells[i], sum, 1e-4 * (1 + std::fabs(sum)));
    }
  }
}

} // namespace
} // namespace tokamak::codegen
