#include "built-in-kernels/SingleOperators.h"

#include "base/CellOperators.h"

#include <fmt/format.h>
#include <map>

using namespace tokamak;
using runtime::PlanConditions;

namespace {

constexpr UnaryOperator unaryOperators[] = {
#define TOKAMAK_UNARY(Name, ...) UnaryOperator::Name,
#include "base/CellOperators.def"
};
constexpr BinaryOperator binaryOperators[] = {
#define TOKAMAK_BINARY(Name, ...) BinaryOperator::Name,
#include "base/CellOperators.def"
};
constexpr AggregateKind aggregates[] = {
    AggregateKind::Sum, AggregateKind::Prod,     AggregateKind::Min,
    AggregateKind::Max, AggregateKind::IndexMax, AggregateKind::IndexMin,
};
constexpr AggregateDirection directions[] = {AggregateDirection::Full, AggregateDirection::Row,
                                             AggregateDirection::Column};

// Sizes, by the number of a symbol, or one of the names.
struct Shape {
  int rows, columns;
};
constexpr int one = -1;
constexpr int narrow = -10; // for which a product is not left to a native
constexpr int mostNarrow = 10;
constexpr Shape matrix{0, 1}, column{0, one}, row{one, 1}, cell{one, one};
constexpr Shape shapes[] = {matrix, column, row, cell};
enum class Format : uint8_t { Dense, Sparse };

// Writes a function and the conditions on its arguments.
class BlockText {
public:
  explicit BlockText(std::string_view element) : array_(fmt::format("tensor<?x?x{}>", element)) {}

  // The name of a new argument.
  std::string add(Shape shape, Format format = Format::Dense) {
    PlanConditions::Input input;
    input.kind = PlanConditions::Input::Kind::Array;
    for (int size : {shape.rows, shape.columns})
      input.sizes.push_back(size < 0
                                ? Size::constant(-size)
                                : Size::symbol(size, /*estimate=*/1000, {mostNarrow + 1, 1 << 20}));
    if (format == Format::Sparse)
      input.sparseDensity = PlanConditions::Density{0.001, 0.1, 0.01};
    return addArgument(array_, std::move(input));
  }
  std::string addScalar(std::string_view type = "f64") {
    return addArgument(std::string(type), {});
  }
  std::string addNumber(double number) {
    std::string name = fmt::format("%n{}", types_.size());
    types_[name] = "f64";
    body_ += fmt::format("  {} = tok.constant {:.1f} : f64\n", name, number);
    return name;
  }

  // An operation on arguments. Its result is an array unless `result` says otherwise.
  void apply(const std::string &operation, std::vector<std::string> operands,
             std::string_view result = {}) {
    std::string types;
    for (const std::string &operand : operands)
      types += (types.empty() ? "" : ", ") + types_.at(operand);
    bool isOne = operation.starts_with("unary") || operation.starts_with("aggregate");
    std::string type(result.empty() ? array_ : result);
    std::string name = fmt::format("%r{}", results_.size());
    body_ += fmt::format("  {} = tok.{} {} : {} -> {}\n", name, operation,
                         fmt::join(operands, ", "), isOne ? types : "(" + types + ")", type);
    results_.push_back(name);
    resultTypes_.push_back(type);
  }
  // A product of two arguments, each of which may be transposed.
  void multiply(std::string a, bool isTurned, std::string b, bool isOtherTurned) {
    for (auto [factor, turned] : {std::pair(&a, isTurned), std::pair(&b, isOtherTurned)}) {
      if (!turned)
        continue;
      std::string name = fmt::format("%t{}", turned_++);
      body_ += fmt::format("  {} = tok.transpose {} : ({}) -> {}\n", name, *factor, array_, array_);
      *factor = name;
    }
    std::string name = fmt::format("%r{}", results_.size());
    body_ += fmt::format("  {} = tok.matmul {}, {} : ({}, {}) -> {}\n", name, a, b, array_, array_,
                         array_);
    results_.push_back(name);
    resultTypes_.push_back(array_);
  }

  OperatorBlock block() {
    conditions_.narrowLimit = mostNarrow;
    return {fmt::format("func.func @block({}) -> ({}) {{\n{}  return {} : {}\n}}\n",
                        fmt::join(arguments_, ", "), fmt::join(resultTypes_, ", "), body_,
                        fmt::join(results_, ", "), fmt::join(resultTypes_, ", ")),
            conditions_};
  }

private:
  std::string addArgument(std::string type, PlanConditions::Input input) {
    for (const Size &size : input.sizes)
      if (size.isSymbol())
        conditions_.symbolCount = std::max(conditions_.symbolCount, size.symbolId() + 1);
    conditions_.inputs.push_back(std::move(input));
    std::string name = fmt::format("%a{}", arguments_.size());
    arguments_.push_back(name + ": " + type);
    types_[name] = std::move(type);
    return name;
  }

  std::string array_, body_;
  std::map<std::string, std::string> types_; // of operands by name
  std::vector<std::string> arguments_, results_, resultTypes_;
  int turned_ = 0;
  PlanConditions conditions_;
};

using Blocks = std::vector<OperatorBlock>;

void addUnary(std::string_view element, Blocks &blocks) {
  for (Shape shape : shapes) {
    BlockText text(element);
    std::string x = text.add(shape);
    for (UnaryOperator op : unaryOperators)
      text.apply(fmt::format("unary {}", mnemonic(op)), {x});
    blocks.push_back(text.block());
  }
}

// `add`: adds two arguments to a block.
template <typename Add> void addBinary(std::string_view element, Blocks &blocks, const Add &add) {
  BlockText text(element);
  std::vector<std::string> operands = add(text);
  for (BinaryOperator op : binaryOperators)
    text.apply(fmt::format("binary {}", mnemonic(op)), operands);
  blocks.push_back(text.block());
}

void addBinary(std::string_view element, Blocks &blocks) {
  using Operands = std::vector<std::string>;
  // All pairs of shapes: where one of them has several rows, the other one has as many or one.
  for (Shape a : shapes)
    for (Shape b : shapes)
      addBinary(element, blocks,
                [&](BlockText &text) { return Operands{text.add(a), text.add(b)}; });
  for (Shape a : shapes) {
    for (std::string_view scalar : {"f64", "i64"}) {
      addBinary(element, blocks,
                [&](BlockText &text) { return Operands{text.add(a), text.addScalar(scalar)}; });
      addBinary(element, blocks, [&](BlockText &text) {
        std::string s = text.addScalar(scalar);
        return Operands{s, text.add(a)};
      });
    }
    BlockText square(element);
    std::string x = square.add(a);
    square.apply("binary mul", {x, x});
    blocks.push_back(square.block());
  }
}

// The condition and the two choices may each be a scalar.
void addChoices(std::string_view element, Blocks &blocks) {
  for (Shape shape : shapes) {
    BlockText same(element);
    std::string condition = same.add(shape), choice = same.add(shape);
    same.apply("ifelse", {condition, choice, choice});
    blocks.push_back(same.block());
    for (unsigned arrays = 1; arrays < 8; ++arrays) {
      BlockText text(element);
      std::vector<std::string> operands;
      for (unsigned operand : {0U, 1U, 2U})
        operands.push_back(arrays >> operand & 1 ? text.add(shape) : text.addScalar());
      text.apply("ifelse", operands);
      blocks.push_back(text.block());
    }
  }
}

void addAggregates(std::string_view element, Blocks &blocks, Format format) {
  for (Shape shape : {matrix, column, row})
    for (AggregateKind kind : aggregates)
      for (AggregateDirection direction : directions) {
        bool isFull = direction == AggregateDirection::Full;
        if ((direction != AggregateDirection::Row && isIndex(kind)) ||
            (format == Format::Sparse && shape.columns == one))
          continue;
        BlockText text(element);
        text.apply(fmt::format("aggregate {} {}", mnemonic(kind), mnemonic(direction)),
                   {text.add(shape, format)}, isFull ? "f64" : "");
        blocks.push_back(text.block());
      }
}

void addProducts(std::string_view element, Blocks &blocks, Format format) {
  // A, of n rows and k columns, %*% B, of k rows and m columns, each transposed or not.
  for (int n : {0, narrow, one})
    for (int k : {1, narrow, one})
      for (int m : {2, narrow, one})
        for (bool isTurned : {false, true})
          for (bool isOtherTurned : {false, true})
            for (Format other : {format, Format::Dense}) {
              BlockText text(element);
              std::string a = text.add(isTurned ? Shape{k, n} : Shape{n, k}, format);
              std::string b = text.add(isOtherTurned ? Shape{m, k} : Shape{k, m}, other);
              text.multiply(a, isTurned, b, isOtherTurned);
              blocks.push_back(text.block());
            }
  for (int columns : {1, narrow})
    for (bool isTurned : {true, false}) { // t(X) %*% X, X %*% t(X)
      BlockText text(element);
      std::string x = text.add({0, columns}, format);
      text.multiply(x, isTurned, x, !isTurned);
      blocks.push_back(text.block());
    }
}

// With a sparse operand; each alone, because what a block wants to know of cells differs.
void addSparse(std::string_view element, Blocks &blocks) {
  for (UnaryOperator op : unaryOperators) {
    BlockText text(element);
    text.apply(fmt::format("unary {}", mnemonic(op)), {text.add(matrix, Format::Sparse)});
    blocks.push_back(text.block());
  }
  for (BinaryOperator op : binaryOperators) {
    auto apply = [&](const auto &add) {
      BlockText text(element);
      std::vector<std::string> operands = add(text);
      text.apply(fmt::format("binary {}", mnemonic(op)), operands);
      blocks.push_back(text.block());
    };
    using Operands = std::vector<std::string>;
    for (Shape shape : {matrix, column, row}) {
      apply([&](BlockText &text) {
        std::string x = text.add(matrix, Format::Sparse);
        return Operands{x, text.add(shape)};
      });
      apply([&](BlockText &text) {
        std::string x = text.add(shape);
        return Operands{x, text.add(matrix, Format::Sparse)};
      });
    }
    apply([&](BlockText &text) {
      std::string x = text.add(matrix, Format::Sparse);
      return Operands{x, text.add(matrix, Format::Sparse)};
    });
    apply([&](BlockText &text) {
      std::string x = text.add(matrix, Format::Sparse);
      return Operands{x, text.addScalar()};
    });
    apply([&](BlockText &text) {
      std::string s = text.addScalar();
      return Operands{s, text.add(matrix, Format::Sparse)};
    });
    // What a number is decides whether the operator keeps zeros.
    for (double number : {0.0, 1.0, -1.0})
      for (bool isFirst : {false, true})
        apply([&](BlockText &text) {
          Operands operands{text.add(matrix, Format::Sparse), text.addNumber(number)};
          if (isFirst)
            std::swap(operands[0], operands[1]);
          return operands;
        });
  }
  BlockText square(element);
  std::string x = square.add(matrix, Format::Sparse);
  square.apply("binary mul", {x, x});
  blocks.push_back(square.block());
  addAggregates(element, blocks, Format::Sparse);
  addProducts(element, blocks, Format::Sparse);
}

} // namespace

std::vector<OperatorBlock> tokamak::singleOperators() {
  Blocks blocks;
  for (std::string_view element : {"f64", "f32"}) {
    addUnary(element, blocks);
    addBinary(element, blocks);
    addChoices(element, blocks);
    addAggregates(element, blocks, Format::Dense);
    addProducts(element, blocks, Format::Dense);
    addSparse(element, blocks);
  }
  return blocks;
}
