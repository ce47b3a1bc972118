#include "ir/tok/NativeFacts.h"

#include "base/Sizes.h"
#include "ir/tok/BroadcastSizes.h"
#include "ir/tok/TokDialect.h"
#include "ir/tok/WholeSequence.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::tok;

using Dims = SmallVector<Size, 2>;

const NativeRow *tok::nativeRowOf(Operation *op) {
  auto native = dyn_cast<NativeOpInterface>(op);
  return native ? findNativeRow(std::string_view(native.getNativeName())) : nullptr;
}

//===- sizes of results ----------------------------------------------------------------------===//

// The size that a scalar operand gives an array. Unknown for a constant that is no valid size: the
// operation fails when it runs, or -1 stands for a size that is not given.
static Size sizeOf(const Facts &scalar) {
  Size size = scalar.integer;
  return size.isConstant() && !isSize(size.constantValue()) ? Size::unknown() : size;
}

static Dims sizesAt(ArrayRef<Facts> operands, size_t first) {
  return {sizeOf(operands[first]), sizeOf(operands[first + 1])};
}

static Dims transposed(Dims dims) {
  if (size_t rank = dims.size(); rank >= 2)
    std::swap(dims[rank - 1], dims[rank - 2]);
  return dims;
}

// The product of the matrices in the last two dimensions.
static Dims multiplied(ArrayRef<Size> left, ArrayRef<Size> right) {
  if (left.size() != right.size() || left.size() < 2)
    return {};
  Dims dims = broadcast(left.drop_back(2), right.drop_back(2));
  dims.push_back(left[left.size() - 2]);
  dims.push_back(right.back());
  return dims;
}

static Dims diagonalOf(const Facts &first) {
  if (first.isColumnVector())
    return {first.rows(), first.rows()};
  return first.columns().isConstant() ? Dims{first.rows(), Size::constant(1)} : Dims();
}

static Dims expanded(ArrayRef<Size> dims, ArrayRef<Facts> sizes) {
  Dims result;
  for (auto [own, size] : llvm::zip(dims, sizes))
    result.push_back(own.provedDifferent(Size::constant(1)) ? own : sizeOf(size));
  return result;
}

// The dimension, from 0, that a constant operand numbers; nothing if it is not known or there is none.
static std::optional<size_t> dimensionAt(const Facts &number, size_t rank) {
  auto constant = dyn_cast_or_null<IntegerAttr>(number.value);
  int64_t dimension = constant ? constant.getInt() : 0;
  return dimension >= 1 && dimension <= static_cast<int64_t>(rank)
             ? std::optional(static_cast<size_t>(dimension - 1))
             : std::nullopt;
}

static Dims permuted(ArrayRef<Size> dims, ArrayRef<Facts> order) {
  Dims result;
  for (const Facts &number : order) {
    std::optional<size_t> dimension = dimensionAt(number, dims.size());
    result.push_back(dimension ? dims[*dimension] : Size::unknown());
  }
  return result;
}

// Behind the array stand the beginning, the size and the step of each dimension.
static Dims stridedSlice(ArrayRef<Facts> numbers) {
  Dims result;
  for (size_t i = 0; i + 2 < numbers.size(); i += 3)
    result.push_back(sizeOf(numbers[i + 1]));
  return result;
}

static Dims taken(ArrayRef<Size> dims, ArrayRef<Size> indices, const Facts &number) {
  std::optional<size_t> dimension = dimensionAt(number, dims.size());
  if (!dimension)
    return Dims(dims.size() + indices.size() - 1, Size::unknown());
  Dims result(dims.take_front(*dimension));
  llvm::append_range(result, indices);
  llvm::append_range(result, dims.drop_front(*dimension + 1));
  return result;
}

// Behind the array and the number outside of it stand six numbers for each of the last dimensions.
static Dims windows(ArrayRef<Size> dims, ArrayRef<Facts> numbers) {
  size_t windowed = numbers.size() / 6;
  Dims result;
  if (dims.size() >= windowed)
    result.append(dims.begin(), dims.end() - windowed);
  for (size_t which : {0, 1}) // counts of windows, then of places
    for (size_t i = 0; i < windowed; ++i)
      result.push_back(sizeOf(numbers[6 * i + which]));
  return result;
}

// How many windows there are, behind these dimensions.
static Dims countsOfWindows(Dims leading, ArrayRef<Facts> numbers) {
  for (size_t i = 0; i + 5 < numbers.size(); i += 6)
    leading.push_back(sizeOf(numbers[i]));
  return leading;
}

static Dims pooled(ArrayRef<Size> dims, ArrayRef<Facts> numbers) {
  size_t windowed = numbers.size() / 6;
  return dims.size() < windowed ? Dims() : countsOfWindows(Dims(dims.drop_back(windowed)), numbers);
}

static Dims convolved(ArrayRef<Size> image, ArrayRef<Size> weights, ArrayRef<Facts> numbers) {
  auto first = [](ArrayRef<Size> dims) { return dims.empty() ? Size::unknown() : dims.front(); };
  return countsOfWindows({first(image), first(weights)}, numbers);
}

// Sizes add up along the dimension and are equal along all others.
static Dims joined(ArrayRef<Facts> parts, const Facts &number) {
  Dims result = parts[0].dims;
  std::optional<size_t> dimension = dimensionAt(number, result.size());
  for (const Facts &part : parts.drop_front())
    for (auto [i, size] : llvm::enumerate(part.dims)) {
      Size &total = result[i];
      total = i == dimension ? total + size : dimension ? meet(total, size) : Size::unknown();
      if (total.isConstant() && !isSize(total.constantValue()))
        total = Size::unknown();
    }
  return result;
}

// Sizes of concatenated matrices add up along one dimension and are equal along the other.
static Dims appended(ArrayRef<Facts> operands, bool rows) {
  Size total = Size::constant(0), common = Size::unknown();
  for (const Facts &facts : operands) {
    if (!facts.isMatrix())
      return {};
    total = total + (rows ? facts.rows() : facts.columns());
    if (total.isConstant() && !isSize(total.constantValue()))
      total = Size::unknown();
    common = meet(common, rows ? facts.columns() : facts.rows());
  }
  return rows ? Dims{total, common} : Dims{common, total};
}

static Size lengthOfSequence(const Facts &from, const Facts &to, const Facts &by) {
  std::optional<WholeSequence> sequence = wholeSequence(from, to, by);
  return sequence ? sequence->length : Size::unknown();
}

static Dims withoutEmpty(const Facts &first, const Facts &margin) {
  auto text = dyn_cast_or_null<StringAttr>(margin.value);
  if (!text)
    return {};
  return text.getValue() == "rows" ? Dims{Size::unknown(), first.columns()}
                                   : Dims{first.rows(), Size::unknown()};
}

static Dims sorted(const Facts &first, const Facts &asIndex) {
  auto constant = dyn_cast_or_null<IntegerAttr>(asIndex.value);
  if (!constant)
    return {};
  return constant.getValue().isZero() ? first.dims : Dims{first.rows(), Size::constant(1)};
}

static Dims withLast(Dims dims, const Facts &size) {
  if (!dims.empty())
    dims.back() = sizeOf(size);
  return dims;
}

static Dims withoutMatrix(ArrayRef<Size> dims) {
  return dims.size() < 2 ? Dims() : Dims(dims.drop_back(2));
}

// The sizes of the results, one after the other; without dimensions where nothing is known.
static SmallVector<Dims, 3> sizesOfResults(NativeShape shape, ArrayRef<Facts> operands,
                                           size_t results) {
  const Size one = Size::constant(1);
  auto first = [&]() -> const Facts & { return operands[0]; };
  auto rows = [&](size_t operand) { return operands[operand].rows(); };
  auto columns = [&](size_t operand) { return operands[operand].columns(); };
  auto rank = [&] { return minimum(rows(0), columns(0)); };
  switch (shape) {
  case NativeShape::Unknown:
    return {};
  case NativeShape::LikeFirst:
    return {first().dims};
  case NativeShape::Transposed:
    return {transposed(first().dims)};
  case NativeShape::Diagonal:
    return {diagonalOf(first())};
  case NativeShape::Sequence:
    return {{lengthOfSequence(first(), operands[1], operands[2]), one}};
  case NativeShape::FirstColumn:
    return {{rows(0), one}};
  case NativeShape::Product:
    return {multiplied(first().dims, operands[1].dims)};
  case NativeShape::TransposedLeft:
    return {{columns(0), columns(1)}};
  case NativeShape::TransposedRight:
    return {{rows(0), rows(1)}};
  case NativeShape::Outer:
    return {broadcast(first().dims, operands[1].dims)};
  case NativeShape::Solution:
    return {{columns(0), columns(1)}};
  case NativeShape::SizesAt0:
    return {sizesAt(operands, 0)};
  case NativeShape::SizesAt1:
    return {sizesAt(operands, 1)};
  case NativeShape::SizesAt2:
    return {sizesAt(operands, 2)};
  case NativeShape::SizesAt3:
    return {sizesAt(operands, 3)};
  case NativeShape::ColumnAt1:
    return {{sizeOf(operands[1]), one}};
  case NativeShape::View:
    return {llvm::map_to_vector<2>(operands.drop_front(), sizeOf)};
  case NativeShape::Expand:
    return {expanded(first().dims, operands.drop_front())};
  case NativeShape::Permuted:
    return {permuted(first().dims, operands.drop_front())};
  case NativeShape::StridedSlice:
    return {stridedSlice(operands.drop_front())};
  case NativeShape::Taken:
    return {taken(first().dims, operands[1].dims, operands[2])};
  case NativeShape::Windows:
    return {windows(first().dims, operands.drop_front(2))};
  case NativeShape::Pooled:
    return {pooled(first().dims, operands.drop_front(2))};
  case NativeShape::Convolved:
    return {convolved(first().dims, operands[1].dims, operands.drop_front(3))};
  case NativeShape::Joined:
    return {joined(operands.drop_front(), first())};
  case NativeShape::Slice:
    return {{rangeLength(operands[1], operands[2]), rangeLength(operands[3], operands[4])}};
  case NativeShape::Beside:
    return {appended(operands, /*rows=*/false)};
  case NativeShape::Below:
    return {appended(operands, /*rows=*/true)};
  case NativeShape::NonEmpty:
    return {withoutEmpty(first(), operands[1])};
  case NativeShape::Sorted:
    return {sorted(first(), operands[3])};
  case NativeShape::LastAt1:
    return {withLast(first().dims, operands[1])};
  case NativeShape::Leading:
    return {withoutMatrix(first().dims)};
  case NativeShape::Found:
    return {{Size::unknown()}};
  case NativeShape::Square:
    return SmallVector<Dims, 3>(results, first().dims);
  case NativeShape::Eigen:
    return {{rows(0), one}, first().dims};
  case NativeShape::Qr:
    return {{rows(0), rank()}, first().dims};
  case NativeShape::Svd:
    return {{rows(0), rank()}, {rank(), rank()}, {columns(0), rank()}};
  }
  return {};
}

void tok::inferNativeFacts(Operation *op, ArrayRef<Facts> operands,
                           MutableArrayRef<Facts> results) {
  const NativeRow *native = nativeRowOf(op);
  if (!native || llvm::none_of(op->getResultTypes(), isArray))
    return;
  SmallVector<Dims, 3> sizes = sizesOfResults(native->shape, operands, results.size());
  for (auto [result, type, dims] : llvm::zip(results, op->getResultTypes(), sizes))
    if (isArray(type))
      result.dims = dims;
}

//===- signatures ----------------------------------------------------------------------------===//

static bool isOf(NativeOperand kind, Type type) {
  switch (kind) {
  case NativeOperand::Value:
    return !isa<NoneType>(type);
  case NativeOperand::Array:
    return isArray(type);
  case NativeOperand::Number:
    return isNumber(type) || isa<ScalarType>(type);
  case NativeOperand::String:
    return isa<StringType, ScalarType>(type);
  case NativeOperand::Scalar:
    return isScalar(type);
  case NativeOperand::List:
    return isa<ListType>(type);
  case NativeOperand::Frame:
    return isa<FrameType>(type);
  }
  return false;
}

static StringRef describeOperand(NativeOperand kind) {
  switch (kind) {
  case NativeOperand::Value:
    return "a value";
  case NativeOperand::Array:
    return "an array";
  case NativeOperand::Number:
    return "a number";
  case NativeOperand::String:
    return "a string";
  case NativeOperand::Scalar:
    return "a scalar";
  case NativeOperand::List:
    return "a list";
  case NativeOperand::Frame:
    return "a frame";
  }
  return "";
}

LogicalResult tok::verifyNative(Operation *op) {
  const NativeRow *native = nativeRowOf(op);
  if (!native)
    return op->emitError("the runtime has no native ")
           << cast<NativeOpInterface>(op).getNativeName();
  const NativeSignature &signature = native->signature;
  if (!signature.takes(op->getNumOperands()) || op->getNumResults() != signature.results.size())
    return op->emitError() << native->name << " takes " << signature.operands.size()
                           << " operands and gives " << signature.results.size() << " results, not "
                           << op->getNumOperands() << " and " << op->getNumResults();
  for (auto [number, type] : llvm::enumerate(op->getOperandTypes())) {
    const NativeSignature::Part &part = signature.operand(number);
    if (!isOf(part.kind, type) && !(part.mayBeAbsent && isa<NoneType>(type)))
      return op->emitError() << "operand " << number + 1 << " of " << native->name << " is "
                             << describeOperand(part.kind) << ", not of " << type;
  }
  for (auto [number, type] : llvm::enumerate(op->getResultTypes()))
    if (!isOf(signature.results[number].kind, type))
      return op->emitError() << "result " << number + 1 << " of " << native->name << " is "
                             << describeOperand(signature.results[number].kind) << ", not of "
                             << type;
  return success();
}
