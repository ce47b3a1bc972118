// cbind and rbind of matrices, frames, lists and strings.
#include "runtime/natives/NativeOperands.h"
#include "runtime/natives/RowCopies.h"
#include "runtime/sparse/SparseMatrix.h"
#include "runtime/sparse/SparseReorganization.h"
#include "runtime/values/Frame.h"

namespace tokamak::runtime {
namespace {

// The operands of cbind and rbind as matrices of the result's type, or of f64 if one of them is
// sparse: a scalar becomes a 1x1 matrix, a single list its elements.
std::vector<ArrayReference>
boundMatrices(ExecutionContext &context, std::span<const Value> operands, std::string_view native) {
  if (operands.size() == 1 && operands[0].isList())
    return boundMatrices(context, operands[0].list()->elements, native);
  ElementType type = hasSparse(operands) ? ElementType::F64 : context.resultType;
  std::vector<ArrayReference> arrays;
  for (const Value &operand : operands) {
    if (operand.isNumber()) {
      arrays.push_back(filledWith(context, {1, 1}, type, operand));
      continue;
    }
    if (!operand.isArray() || operand.array()->shape().rank() != 2)
      throw Error(fmt::format("{}: expected a matrix, got {}", native, operand.describe()));
    // The executor converts operands, but not the elements of lists.
    arrays.push_back(Array::withElementType(operand.array(), type));
  }
  if (arrays.empty())
    throw Error(fmt::format("{}: nothing to bind", native));
  return arrays;
}

// Binds frames; false if there are none. The elements of a single list are bound like operands.
bool bindFrames(std::span<const Value> operands, bool byRows, Value &result) {
  if (operands.size() == 1 && operands[0].isList())
    operands = operands[0].list()->elements;
  if (operands.empty() || !operands[0].isFrame())
    return false;
  result = byRows ? bindFrameRows(operands) : bindFrameColumns(operands);
  return true;
}

// Appends an operand to a list: a list of one element contributes this element and its name; any
// other value, also a longer list, becomes one element without a name.
void append(List &list, const Value &operand) {
  const List *single =
      operand.isList() && operand.list()->elements.size() == 1 ? operand.list().get() : nullptr;
  bool isNamed = single && !single->names.empty();
  if (isNamed)
    list.names.resize(list.elements.size());
  list.elements.push_back(single ? single->elements.front() : operand);
  if (!list.names.empty() || isNamed)
    list.names.push_back(isNamed ? single->names.front() : std::string());
}

// Appends values to a list, or joins strings with line breaks.
bool bindOthers(std::span<Value> operands, bool byRows, Value &result) {
  if (operands.size() > 1 && operands[0].isList()) {
    std::shared_ptr<List> list = takeOrCopyList(operands[0]);
    for (const Value &operand : operands.subspan(1))
      append(*list, operand);
    result = Value(std::shared_ptr<const List>(std::move(list)));
    return true;
  }
  bool areTexts = !operands.empty();
  for (const Value &operand : operands)
    areTexts &= operand.isString();
  if (!areTexts)
    return bindFrames(operands, byRows, result);
  size_t size = 0;
  for (const Value &operand : operands)
    size += operand.text().size() + 1;
  MemoryCharge charge(static_cast<int64_t>(size));
  std::string text;
  text.reserve(size);
  text = operands[0].text();
  for (const Value &operand : operands.subspan(1))
    (text += '\n') += operand.text();
  charge.resize(0); // the value charges the memory from here on
  result = Value(std::move(text));
  return true;
}

bool isBetterBoundSparse(const std::vector<ArrayReference> &arrays, Shape shape) {
  bool anySparse = std::any_of(arrays.begin(), arrays.end(),
                               [](const ArrayReference &array) { return array->isSparse(); });
  int64_t entries = 0;
  for (const ArrayReference &array : arrays)
    if (anySparse)
      entries += array->isSparse() ? array->entries() : array->countNonZeros();
  return anySparse && Array::isBetterSparse(shape, entries);
}

void makeDense(std::vector<ArrayReference> &arrays) {
  for (ArrayReference &array : arrays)
    array = Array::asDense(array);
}

} // namespace

// Matrices are bound side by side in pieces of about so many cells.
static constexpr int64_t cellsTogether = 2048;

void runCbind(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  if (bindOthers(operands, false, results[0]))
    return;
  std::vector<ArrayReference> arrays = boundMatrices(context, operands, "cbind");
  int64_t rows = arrays[0]->rows(), columns = 0;
  for (const ArrayReference &array : arrays) {
    if (array->rows() != rows)
      throw Error(fmt::format("cbind: the matrices have different numbers of rows, {} and {}",
                              arrays[0]->shape().text(), array->shape().text()));
    columns = checkedSum(columns, array->columns(), "cbind", "columns");
  }
  if (isBetterBoundSparse(arrays, {rows, columns})) {
    results[0] = bindSparseColumns(context, arrays);
    return;
  }
  makeDense(arrays);
  ArrayPointer result = Array::create({rows, columns}, arrays[0]->elementType());
  // A few rows at a time, whose lines of the cache are written by all matrices.
  int64_t together = std::max<int64_t>(1, cellsTogether / std::max<int64_t>(1, columns));
  MutableRows into{result->mutableBytes(), columns};
  forEachRowRange(context, rows, columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += together) {
      int64_t column = 0;
      for (const ArrayReference &array : arrays) {
        copyRectangle(*array, {i, 0}, into, {i, column}, std::min(together, end - i),
                      array->columns());
        column += array->columns();
      }
    }
  });
  results[0] = std::move(result);
}

void runRbind(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  if (bindOthers(operands, true, results[0]))
    return;
  std::vector<ArrayReference> arrays = boundMatrices(context, operands, "rbind");
  int64_t columns = arrays[0]->columns(), rows = 0;
  for (const ArrayReference &array : arrays) {
    if (array->columns() != columns)
      throw Error(fmt::format("rbind: the matrices have different numbers of columns, {} and {}",
                              arrays[0]->shape().text(), array->shape().text()));
    rows = checkedSum(rows, array->rows(), "rbind", "rows");
  }
  if (isBetterBoundSparse(arrays, {rows, columns})) {
    results[0] = bindSparseRows(context, arrays);
    return;
  }
  makeDense(arrays);
  ArrayPointer result = Array::create({rows, columns}, arrays[0]->elementType());
  std::byte *to = result->mutableBytes();
  for (const ArrayReference &array : arrays)
    to = std::copy_n(array->rawBytes(), array->cells() * byteSize(array->elementType()), to);
  results[0] = std::move(result);
}

} // namespace tokamak::runtime
