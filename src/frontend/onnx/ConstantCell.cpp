#include "frontend/onnx/ConstantCell.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

class CellEvaluation {
public:
  explicit CellEvaluation(function_ref<void(Value)> unknown) : unknown_(unknown) {}

  std::optional<int64_t> valueOf(Value value) {
    if (++visited_ > mostVisited)
      return std::nullopt;
    if (isa<BlockArgument>(value))
      unknown_(value);
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    return TypeSwitch<Operation *, std::optional<int64_t>>(op)
        .Case([&](tok::ConstantOp) { return constantInteger(value); })
        .Case([&](tok::FillOp fill) {
          bool isOne =
              constantInteger(fill.getRows()) == 1 && constantInteger(fill.getColumns()) == 1;
          return isOne ? valueOf(fill.getValue()) : std::nullopt;
        })
        .Case([&](tok::ViewOp view) { return valueOf(view.getOperand()); })
        .Case([&](tok::LiteralOp literal) { return cellOf(literal); })
        .Case([&](tok::CastOp cast) { return converted(cast); })
        .Case([&](tok::UnaryOp unary) { return computed(unary); })
        .Case([&](tok::BinaryOp binary) { return computed(binary); })
        .Default([](Operation *) { return std::nullopt; });
  }

private:
  // What is farther away is computed when the program runs.
  static constexpr int mostVisited = 64;

  // Of an array's cells or a scalar, if they are whole.
  static std::optional<ElementType> wholeType(Value value) {
    mlir::Type type = value.getType();
    std::optional<ElementType> element = tok::isArray(type)   ? tok::elementTypeOf(type)
                                         : type.isInteger(1)  ? std::optional(ElementType::Bool)
                                         : type.isInteger(64) ? std::optional(ElementType::I64)
                                                              : std::nullopt;
    return element && !isFloat(*element) ? element : std::nullopt;
  }

  static std::optional<int64_t> cellOf(tok::LiteralOp literal) {
    auto cells = dyn_cast<DenseIntElementsAttr>(literal.getCells());
    if (!cells || cells.getNumElements() != 1)
      return std::nullopt;
    APInt cell = *cells.value_begin<APInt>();
    bool isUnsigned =
        cells.getElementType().isInteger(1) || cells.getElementType().isUnsignedInteger();
    return isUnsigned ? static_cast<int64_t>(cell.getZExtValue()) : cell.getSExtValue();
  }

  // To truth values and from them, and to wider integers.
  std::optional<int64_t> converted(tok::CastOp cast) {
    std::optional<ElementType> from = wholeType(cast.getOperand()),
                               to = wholeType(cast.getResult());
    bool isExact = to == ElementType::Bool || to == ElementType::I64;
    std::optional<int64_t> number = from && isExact ? valueOf(cast.getOperand()) : std::nullopt;
    return number && to == ElementType::Bool ? std::optional<int64_t>(*number != 0) : number;
  }

  std::optional<int64_t> computed(tok::UnaryOp unary) {
    std::optional<ElementType> type = wholeType(unary.getOperand());
    std::optional<int64_t> number = type ? valueOf(unary.getOperand()) : std::nullopt;
    return number ? std::optional(evaluate(unary.getKind(), *type, *number)) : std::nullopt;
  }

  std::optional<int64_t> computed(tok::BinaryOp binary) {
    Value array = tok::isArray(binary.getLhs().getType()) ? binary.getLhs() : binary.getRhs();
    std::optional<ElementType> type = wholeType(array);
    if (!type)
      return std::nullopt;
    std::optional<int64_t> lhs = valueOf(binary.getLhs()), rhs = valueOf(binary.getRhs());
    return lhs && rhs ? std::optional(evaluate(binary.getKind(), *type, *lhs, *rhs)) : std::nullopt;
  }

  function_ref<void(Value)> unknown_;
  int visited_ = 0;
};

} // namespace

std::optional<int64_t> onnx::constantCell(Value array, function_ref<void(Value)> unknown) {
  return CellEvaluation(unknown).valueOf(array);
}
