#include "frontend/onnx/ConstantCells.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

using Known = std::optional<Numbers>;

class CellEvaluation {
public:
  CellEvaluation(GraphBuilder &graph, int64_t &visits, function_ref<void(Value)> unknown)
      : graph_(graph), visits_(visits), unknown_(unknown) {}

  // Of an array, or of a scalar of the program, which is one cell.
  Known cellsOf(Value value) {
    if (auto found = known_.find(value); found != known_.end())
      return found->second;
    if (visits_ <= 0 || ++visited_ > mostVisited)
      return std::nullopt;
    --visits_;
    if (isa<BlockArgument>(value))
      unknown_(value);
    Operation *op = value.getDefiningOp();
    Known cells = one(graph_.knownInteger(value));
    if (!cells && op)
      cells = evaluated(value, op);
    if (cells && (cells->size() > mostCells || !isAsLargeAs(*cells, value)))
      cells.reset();
    known_.try_emplace(value, cells);
    return cells;
  }

private:
  // What is farther away, or larger, is computed when the program runs.
  static constexpr int mostVisited = 128;
  static constexpr size_t mostCells = 64;

  Known evaluated(Value value, Operation *op) {
    return TypeSwitch<Operation *, Known>(op)
        .Case([&](tok::ConstantOp) { return one(constantInteger(value)); }) // truth values
        .Case([&](tok::FillOp fill) {
          bool isOne =
              constantInteger(fill.getRows()) == 1 && constantInteger(fill.getColumns()) == 1;
          return isOne ? cellsOf(fill.getValue()) : std::nullopt;
        })
        .Case([&](tok::SizeOp size) {
          unknown_(size.getOperand());
          return std::nullopt;
        })
        .Case([&](tok::ViewOp view) { return cellsOf(view.getOperand()); })
        .Case([&](tok::LiteralOp literal) { return cellsOfLiteral(literal); })
        .Case([&](tok::CastOp cast) { return converted(cast); })
        .Case([&](tok::UnaryOp unary) { return computed(unary); })
        .Case([&](tok::BinaryOp binary) { return computed(binary); })
        .Case([&](tok::IfElseOp choice) { return chosen(choice); })
        .Case([&](tok::ExpandOp expand) {
          return gathered(value, expand.getOperand(),
                          [&](ArrayRef<int64_t> place, ArrayRef<int64_t> from) {
                            Numbers own(place);
                            for (auto [at, size] : llvm::zip(own, from))
                              at = size == 1 ? 0 : at;
                            return own;
                          });
        })
        .Case([&](tok::TransposeOp transpose) {
          auto rank = static_cast<size_t>(GraphBuilder::rankOf(value));
          return gathered(value, transpose.getOperand(), [&](ArrayRef<int64_t> place, auto) {
            Numbers own(place);
            std::swap(own[rank - 1], own[rank - 2]);
            return own;
          });
        })
        .Case([&](tok::CallNativeOp call) { return moved(value, call); })
        .Default([](Operation *) { return std::nullopt; });
  }

  static Known one(std::optional<int64_t> number) {
    return number ? Known(Numbers{*number}) : std::nullopt;
  }

  // Of an array's cells or a scalar, if they are whole.
  static std::optional<ElementType> wholeType(Value value) {
    mlir::Type type = value.getType();
    std::optional<ElementType> element = tok::isArray(type)   ? tok::elementTypeOf(type)
                                         : type.isInteger(1)  ? std::optional(ElementType::Bool)
                                         : type.isInteger(64) ? std::optional(ElementType::I64)
                                                              : std::nullopt;
    return element && !isFloat(*element) ? element : std::nullopt;
  }

  std::optional<Numbers> sizesOf(Value array) {
    Numbers sizes;
    for (int64_t i = 0; i < GraphBuilder::rankOf(array); ++i) {
      std::optional<int64_t> size = graph_.knownSize(array, i);
      if (!size)
        return std::nullopt;
      sizes.push_back(*size);
    }
    return sizes;
  }

  static std::optional<size_t> countOf(ArrayRef<int64_t> sizes) {
    size_t count = 1;
    for (int64_t size : sizes) {
      if (size < 0 || static_cast<size_t>(size) > mostCells)
        return std::nullopt;
      count *= static_cast<size_t>(size);
      if (count > mostCells)
        return std::nullopt;
    }
    return count;
  }

  // Sizes are known to be right where they are known at all.
  bool isAsLargeAs(const Numbers &cells, Value value) {
    if (!tok::isArray(value.getType()))
      return cells.size() == 1;
    std::optional<Numbers> sizes = sizesOf(value);
    return !sizes || countOf(*sizes) == cells.size();
  }

  static Known cellsOfLiteral(tok::LiteralOp literal) {
    auto cells = dyn_cast<DenseIntElementsAttr>(literal.getCells());
    if (!cells || cells.getNumElements() > static_cast<int64_t>(mostCells))
      return std::nullopt;
    bool isUnsigned =
        cells.getElementType().isInteger(1) || cells.getElementType().isUnsignedInteger();
    Numbers numbers;
    for (const APInt &cell : cells.getValues<APInt>())
      numbers.push_back(isUnsigned ? static_cast<int64_t>(cell.getZExtValue())
                                   : cell.getSExtValue());
    return numbers;
  }

  // To truth values and from them, and to wider integers.
  Known converted(tok::CastOp cast) {
    std::optional<ElementType> from = wholeType(cast.getOperand()),
                               to = wholeType(cast.getResult());
    bool isExact = to == ElementType::Bool || to == ElementType::I64;
    Known cells = from && isExact ? cellsOf(cast.getOperand()) : std::nullopt;
    if (cells && to == ElementType::Bool)
      for (int64_t &cell : *cells)
        cell = cell != 0;
    return cells;
  }

  Known computed(tok::UnaryOp unary) {
    std::optional<ElementType> type = wholeType(unary.getOperand());
    Known cells = type ? cellsOf(unary.getOperand()) : std::nullopt;
    if (cells)
      for (int64_t &cell : *cells)
        cell = evaluate(unary.getKind(), *type, cell);
    return cells;
  }

  // Of arrays with equally many cells, or with one.
  Known computed(tok::BinaryOp binary) {
    Value array = tok::isArray(binary.getLhs().getType()) ? binary.getLhs() : binary.getRhs();
    std::optional<ElementType> type = wholeType(array);
    if (!type)
      return std::nullopt;
    Known lhs = cellsOf(binary.getLhs()), rhs = cellsOf(binary.getRhs());
    if (!lhs || !rhs || (lhs->size() != rhs->size() && lhs->size() != 1 && rhs->size() != 1) ||
        !haveOneShape(binary.getLhs(), binary.getRhs(), lhs->size(), rhs->size()))
      return std::nullopt;
    size_t count = lhs->size() == 1 ? rhs->size() : lhs->size();
    Numbers results;
    for (size_t i = 0; i < count; ++i)
      results.push_back(evaluate(binary.getKind(), *type, (*lhs)[lhs->size() == 1 ? 0 : i],
                                 (*rhs)[rhs->size() == 1 ? 0 : i]));
    return results;
  }

  // Operands have equally many cells, or one.
  Known chosen(tok::IfElseOp choice) {
    if (!wholeType(choice.getResult()))
      return std::nullopt;
    std::vector<Numbers> operands;
    size_t count = 1;
    Value longest;
    for (Value operand : choice->getOperands()) {
      Known cells = cellsOf(operand);
      if (!cells || (cells->size() != 1 && longest &&
                     (cells->size() != count || !haveOneShape(longest, operand, count, count))))
        return std::nullopt;
      if (cells->size() != 1) {
        count = cells->size();
        longest = operand;
      }
      operands.push_back(std::move(*cells));
    }
    auto cellAt = [](const Numbers &cells, size_t place) {
      return cells[cells.size() == 1 ? 0 : place];
    };
    Numbers results;
    for (size_t i = 0; i < count; ++i)
      results.push_back(cellAt(operands[cellAt(operands[0], i) != 0 ? 1 : 2], i));
    return results;
  }

  // Whether cells in the same order belong together: a row and a column of equal length do not.
  bool haveOneShape(Value lhs, Value rhs, size_t left, size_t right) {
    if (left == 1 || right == 1)
      return true;
    std::optional<Numbers> own = sizesOf(lhs), other = sizesOf(rhs);
    return own && own == other;
  }

  // A result whose cell at each place is the operand's at the one that `from` gives.
  Known gathered(Value result, Value operand,
                 function_ref<Numbers(ArrayRef<int64_t> place, ArrayRef<int64_t> sizes)> from) {
    Known cells = cellsOf(operand);
    std::optional<Numbers> sizes = sizesOf(result), own = sizesOf(operand);
    std::optional<size_t> count = sizes ? countOf(*sizes) : std::nullopt;
    if (!cells || !count || !own || countOf(*own) != cells->size())
      return std::nullopt;
    Numbers results, place(sizes->size(), 0);
    for (size_t i = 0; i < *count; ++i) {
      int64_t cell = 0;
      for (auto [at, size] : llvm::zip_equal(from(place, *own), *own)) {
        if (at < 0 || at >= size)
          return std::nullopt;
        cell = cell * size + at;
      }
      results.push_back((*cells)[static_cast<size_t>(cell)]);
      for (size_t d = place.size(); d-- > 0 && ++place[d] == (*sizes)[d];)
        place[d] = 0;
    }
    return results;
  }

  // Natives that move cells.
  Known moved(Value result, tok::CallNativeOp call) {
    Numbers numbers; // those of the operands that are no arrays
    for (Value operand : call.getOperands())
      if (!tok::isArray(operand.getType())) {
        Known number = wholeType(operand) ? cellsOf(operand) : std::nullopt;
        if (!number)
          return std::nullopt;
        numbers.push_back(number->front());
      }
    StringRef native = call.getNative();
    if (native == "permute")
      return gathered(result, call.getOperand(0), [&](ArrayRef<int64_t> place, auto) {
        Numbers own(place.size(), -1);
        for (auto [at, dimension] : llvm::zip(place, numbers))
          if (dimension >= 1 && dimension <= static_cast<int64_t>(own.size()))
            own[dimension - 1] = at;
        return own;
      });
    if (native == "strided_slice")
      return gathered(result, call.getOperand(0), [&](ArrayRef<int64_t> place, auto) {
        Numbers own;
        for (auto [i, at] : llvm::enumerate(place))
          own.push_back(beginning(numbers[3 * i], at, numbers[3 * i + 2]));
        return own;
      });
    return native == "join" ? joined(call, numbers.front()) : std::nullopt;
  }

  // A place from 0 on, or -1 if it is beyond all.
  static int64_t beginning(int64_t first, int64_t steps, int64_t step) {
    int64_t reach = 0, place = 0;
    bool isBeyond =
        __builtin_mul_overflow(steps, step, &reach) || __builtin_add_overflow(first, reach, &place);
    return isBeyond ? -1 : place - 1;
  }

  // Along the first dimension.
  Known joined(tok::CallNativeOp call, int64_t dimension) {
    if (dimension != 1)
      return std::nullopt;
    Numbers all;
    for (Value part : call.getOperands().drop_front()) {
      Known cells = cellsOf(part);
      if (!cells || all.size() + cells->size() > mostCells)
        return std::nullopt;
      llvm::append_range(all, *cells);
    }
    return all;
  }

  GraphBuilder &graph_;
  int64_t &visits_;
  function_ref<void(Value)> unknown_;
  llvm::DenseMap<Value, Known> known_;
  int visited_ = 0;
};

} // namespace

std::optional<Numbers> onnx::constantCells(GraphBuilder &graph, Value array, int64_t &visits,
                                           function_ref<void(Value)> unknown) {
  return CellEvaluation(graph, visits, unknown).cellsOf(array);
}
