// Natives that write parts of an array to places that another array numbers.
#include "base/CellOperators.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/RowCopies.h"

namespace tokamak::runtime {
namespace {

// Parts of `array` along its first dimension, of `width` cells each, for the cells of `indices`, from 1.
struct Updates {
  ArrayReference indices; // of I64
  int64_t width;

  Updates(const Array &array, const Array &updates, const Value &places, std::string_view native)
      : indices(Array::withElementType(places.array(), ElementType::I64)), width(0) {
    const Shape &shape = array.shape();
    if (shape.rank() == 0)
      throw Error(fmt::format("{}: an array without dimensions has no parts", native));
    width = productOfSizes(shape.sizes().subspan(1)).value_or(0);
    if (updates.elementType() != array.elementType())
      throw Error(fmt::format("{}: updates of {} for cells of {}", native,
                              nameOf(updates.elementType()), nameOf(array.elementType())));
    if (updates.cells() != indices->cells() * width)
      throw Error(fmt::format("{}: {} updates of {} do not have {} cells", native, indices->cells(),
                              shape.text(), updates.cells()));
    for (int64_t i = 0; i < indices->cells(); ++i)
      if (int64_t index = indices->cellsAs<int64_t>()[i]; index < 1 || index > shape[0])
        throw Error(fmt::format("{}: there is no place {} among {}", native, index, shape[0]));
  }

  // The cell at which the part begins that an update is for.
  int64_t beginOf(int64_t update) const {
    return (indices->cellsAs<int64_t>()[update] - 1) * width;
  }
};

// Integers are combined in their type, floats in doubles: they are rounded once, at the end.
template <typename Combine>
void combineCells(Array &result, const Array &updates, const Updates &parts,
                  const Combine &combine) {
  withCellType(result.elementType(), [&]<typename Cell>() {
    auto *cells = result.mutableCellsAs<Cell>();
    const auto *next = updates.cellsAs<Cell>();
    for (int64_t i = 0; i < parts.indices->cells(); ++i) {
      Cell *cell = cells + parts.beginOf(i);
      for (int64_t j = 0; j < parts.width; ++j)
        cell[j] = combine(cell[j], *next++);
    }
  });
}

BinaryOperator combinationNamed(const std::string &name) {
  constexpr std::pair<std::string_view, BinaryOperator> combinations[] = {
      {"add", BinaryOperator::Add},
      {"mul", BinaryOperator::Mul},
      {"min", BinaryOperator::Min},
      {"max", BinaryOperator::Max}};
  for (auto [known, combination] : combinations)
    if (known == name)
      return combination;
  throw Error(
      fmt::format("scatter_reduce: unknown reduction \"{}\": expected add, mul, min or max", name));
}

} // namespace

// One update after the other: the last one of a place stays.
void runScatter(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &updates = denseOperand(operands[1], "scatter");
  Updates parts(denseOperand(operands[0], "scatter"), updates, operands[2], "scatter");
  ArrayPointer result = takeOrCopy(operands[0]);
  int64_t cell = byteSize(updates.elementType()), bytes = parts.width * cell;
  const std::byte *from = updates.rawBytes();
  std::byte *to = result->mutableBytes();
  withRowCopy(bytes, [&](auto copy) {
    for (int64_t i = 0; i < parts.indices->cells(); ++i)
      copy(to + parts.beginOf(i) * cell, from + i * bytes);
  });
  results[0] = std::move(result);
}

void runScatterReduce(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const Array &array = denseOperand(operands[0], "scatter_reduce");
  Updates parts(array, denseOperand(operands[1], "scatter_reduce"), operands[2], "scatter_reduce");
  BinaryOperator combination =
      combinationNamed(textOperand(operands[3], "scatter_reduce", "the reduction"));
  ElementType own = array.elementType(), type = isFloat(own) ? ElementType::F64 : own;
  if (!takes(combination, own))
    throw Error(fmt::format("scatter_reduce: {} of {}", mnemonic(combination), nameOf(own)));
  for (Value &operand : operands.first(2))
    operand.array() = Array::withElementType(operand.array(), type);
  ArrayReference updates = operands[1].array();
  ArrayPointer result = takeOrCopy(operands[0]);
  combineCells(*result, *updates, parts, [&]<typename Cell>(Cell cell, Cell with) {
    if constexpr (isFloatCell<Cell>)
      return convertCell<Cell>(
          evaluate(combination, convertCell<double>(cell), convertCell<double>(with)));
    else
      return convertCell<Cell>(
          evaluate(combination, type, static_cast<int64_t>(cell), static_cast<int64_t>(with)));
  });
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
