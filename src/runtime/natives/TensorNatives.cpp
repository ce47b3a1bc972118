// Natives on arrays of any rank: views of the same cells in another shape or of the same bits as cells of another
// type, and broadcasts along dimensions of size 1.
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/Expansion.h"

namespace tokamak::runtime {
namespace {

Shape shapeOperand(std::span<const Value> sizes, std::string_view native) {
  std::array<int64_t, Shape::maxRank> values{};
  for (size_t i = 0; i < sizes.size(); ++i)
    values[i] = sizeOfDimension(sizes[i], native, static_cast<int>(i));
  return Shape(std::span<const int64_t>(values.data(), sizes.size()));
}

} // namespace

void runView(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "view");
  Shape shape = shapeOperand(operands.subspan(1), "view");
  if (productOfSizes(shape.sizes()) != source.cells())
    throw Error(fmt::format("an array of {} has not as many cells as one of {}",
                            source.shape().text(), shape.text()));
  results[0] = source.reshaped(shape);
  context.touchedBytes = 0;
}

void runExpand(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "expand");
  const Shape &from = source.shape();
  Shape to = shapeOperand(operands.subspan(1), "expand");
  for (int i = 0; i < from.rank(); ++i)
    if (from[i] != 1 && from[i] != to[i])
      throw Error(fmt::format("expand: only dimensions of size 1 can be repeated, not {} to {}",
                              from.text(), to.text()));
  if (from == to) {
    results[0] = operands[0];
    context.touchedBytes = 0;
    return;
  }
  ArrayPointer result = Array::create(to, source.elementType());
  const Expansion expansion(from, to);
  forEachRowRange(context, expansion.rows(), expansion.columns(), [&](int64_t begin, int64_t end) {
    expansion.copyRows(source, *result, begin, end);
  });
  results[0] = std::move(result);
}

void runRepeatedCell(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  results[0] = operands[0].array()->repeatedCell();
}

void runBitcast(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Array &source = denseOperand(operands[0], "bitcast");
  std::optional<ElementType> from = elementTypeNamed(operands[1].text()),
                             to = elementTypeNamed(operands[2].text());
  if (from != source.elementType() || !to || byteSize(*from) != byteSize(*to))
    throw Error(fmt::format("bitcast: cells of {} as {} for {}", nameOf(source.elementType()),
                            operands[1].text(), operands[2].text()));
  ArrayPointer result = Array::create(source.shape(), *to);
  withCellSize(*to, [&]<typename Bits>() {
    const Bits *bits = source.cellsAs<Bits>();
    Bits *cells = result->mutableCellsAs<Bits>();
    forEachRowRange(context, source.cells(), 1, [&](int64_t begin, int64_t end) {
      if (*to == ElementType::Bool)
        std::transform(bits + begin, bits + end, cells + begin,
                       [](Bits cell) { return static_cast<Bits>(cell != 0); });
      else
        std::copy(bits + begin, bits + end, cells + begin);
    });
  });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
