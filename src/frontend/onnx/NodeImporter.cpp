#include "frontend/onnx/NodeImporter.h"

#include "base/Error.h"
#include "frontend/onnx/QuotedName.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

static constexpr int64_t mostCells = 64; // of an array whose cells are known one by one

//===- operands ------------------------------------------------------------------------------===//

bool NodeImporter::hasOperand(size_t number) const {
  return number < node_.inputs.size() && !node_.inputs[number].empty();
}

ImportedValue &NodeImporter::valueAt(size_t number) {
  if (!hasOperand(number))
    throw Error(fmt::format("operand {} is missing", number + 1));
  auto found = values_.find(node_.inputs[number]);
  if (found == values_.end())
    throw Error(fmt::format("operand {}, {}, is defined nowhere before", number + 1,
                            quotedName(node_.inputs[number])));
  return found->second;
}

Value NodeImporter::operand(size_t number) {
  ImportedValue &value = valueAt(number);
  if (!value.array) {
    Values cells;
    for (Value cell : *value.cells) {
      Value one = graph_.builder().create<tok::FillOp>(
          graph_.location(), graph_.arrayType(2, graph_.builder().getI64Type()), cell,
          graph_.integer(1), graph_.integer(1));
      cells.push_back(graph_.view(one, value.isScalar ? Values() : Values{graph_.integer(1)}));
    }
    if (cells.empty())
      cells.push_back(graph_.literal(DenseElementsAttr::get(
          RankedTensorType::get({0}, graph_.builder().getI64Type()), ArrayRef<int64_t>())));
    value.array = graph_.join(cells, 0);
  }
  return value.array;
}

Values NodeImporter::operands() {
  Values all;
  for (size_t i = 0; i < operandCount(); ++i)
    all.push_back(operand(i));
  return all;
}

std::optional<Values> NodeImporter::cells(size_t number) {
  ImportedValue &value = valueAt(number);
  if (value.cells || !value.array)
    return value.cells;
  if (GraphBuilder::rankOf(value.array) > 1 || isFloat(GraphBuilder::elementTypeOf(value.array)))
    return std::nullopt;
  if (isa<BlockArgument>(value.array))
    wanted_.insert(node_.inputs[number]);
  auto literal = value.array.getDefiningOp<tok::LiteralOp>();
  auto cells =
      literal ? dyn_cast<DenseIntElementsAttr>(literal.getCells()) : DenseIntElementsAttr();
  if (!cells || cells.getNumElements() > mostCells)
    return std::nullopt;
  Values known;
  bool isTruth = cells.getElementType().isInteger(1);
  for (const APInt &cell : cells.getValues<APInt>())
    known.push_back(
        graph_.integer(isTruth ? static_cast<int64_t>(cell.getZExtValue()) : cell.getSExtValue()));
  value.cells = known;
  value.isScalar = cells.getType().getRank() == 0;
  return known;
}

std::optional<Values> NodeImporter::sizesAt(size_t number) {
  if (std::optional<Values> known = cells(number))
    return known;
  Value array = operand(number);
  std::optional<int64_t> count =
      GraphBuilder::rankOf(array) == 1 ? graph_.knownSize(array, 0) : std::nullopt;
  // A parameter's cells become known if the model is imported for its value.
  if (!count || *count > mostCells || isa<BlockArgument>(array) ||
      isFloat(GraphBuilder::elementTypeOf(array)))
    return std::nullopt;
  Values read;
  for (int64_t place = 0; place < *count; ++place)
    read.push_back(graph_.number(graph_.part(array, 0, graph_.integer(place))));
  return read;
}

Value NodeImporter::scalarAt(size_t number) {
  ImportedValue &value = valueAt(number);
  // Parameters stay parameters.
  std::optional<Values> known =
      value.array && isa<BlockArgument>(value.array) ? value.cells : cells(number);
  if (known && known->size() == 1)
    return known->front();
  return graph_.number(operand(number));
}

int64_t NodeImporter::rank(size_t number) {
  ImportedValue &value = valueAt(number);
  return value.array ? GraphBuilder::rankOf(value.array) : !value.isScalar;
}

ElementType NodeImporter::elementType(size_t number) {
  ImportedValue &value = valueAt(number);
  return value.array ? GraphBuilder::elementTypeOf(value.array) : ElementType::I64;
}

std::optional<Numbers> NodeImporter::constantsIfKnown(size_t number) {
  std::optional<Values> known = cells(number);
  if (!known)
    return std::nullopt;
  Numbers numbers;
  for (Value cell : *known) {
    std::optional<int64_t> constant = constantInteger(cell);
    if (!constant)
      return std::nullopt;
    numbers.push_back(*constant);
  }
  return numbers;
}

Numbers NodeImporter::constants(size_t number, StringRef what) {
  if (std::optional<Numbers> numbers = constantsIfKnown(number))
    return *numbers;
  refuse(fmt::format("{} that are not numbers of the model", what.str()));
}

SmallVector<double> NodeImporter::realConstants(size_t number, StringRef what) {
  ImportedValue &value = valueAt(number);
  auto literal = value.array ? value.array.getDefiningOp<tok::LiteralOp>() : tok::LiteralOp();
  auto cells = literal ? dyn_cast<DenseFPElementsAttr>(literal.getCells()) : DenseFPElementsAttr();
  if (value.array && isa<BlockArgument>(value.array))
    wanted_.insert(node_.inputs[number]);
  if (!cells)
    refuse(fmt::format("{} that are not numbers of the model", what.str()));
  SmallVector<double> numbers;
  for (APFloat cell : cells.getValues<APFloat>())
    numbers.push_back(cell.convertToDouble());
  return numbers;
}

//===- attributes ----------------------------------------------------------------------------===//

const onnx::Attribute *NodeImporter::find(StringRef name) const {
  for (const onnx::Attribute &attribute : node_.attributes)
    if (StringRef(attribute.name) == name)
      return &attribute;
  return nullptr;
}

template <typename T> static const T &valueOf(const onnx::Attribute &attribute, const char *kind) {
  if (const T *value = std::get_if<T>(&attribute.value))
    return *value;
  throw Error(fmt::format("attribute {} is expected to be {}", quotedName(attribute.name), kind));
}

int64_t NodeImporter::integer(StringRef name, int64_t otherwise) const {
  const onnx::Attribute *attribute = find(name);
  return attribute ? valueOf<int64_t>(*attribute, "an integer") : otherwise;
}

double NodeImporter::real(StringRef name, double otherwise) const {
  const onnx::Attribute *attribute = find(name);
  return attribute ? valueOf<float>(*attribute, "a float") : otherwise;
}

StringRef NodeImporter::text(StringRef name, StringRef otherwise) const {
  const onnx::Attribute *attribute = find(name);
  return attribute ? StringRef(valueOf<std::string_view>(*attribute, "a string")) : otherwise;
}

Numbers NodeImporter::integers(StringRef name, Numbers otherwise) const {
  const onnx::Attribute *attribute = find(name);
  if (!attribute)
    return otherwise;
  const auto &values = valueOf<std::vector<int64_t>>(*attribute, "a list of integers");
  return Numbers(values.begin(), values.end());
}

SmallVector<double> NodeImporter::reals(StringRef name) const {
  const onnx::Attribute *attribute = find(name);
  if (!attribute)
    return {};
  const auto &values = valueOf<std::vector<float>>(*attribute, "a list of floats");
  return SmallVector<double>(values.begin(), values.end());
}

const Tensor *NodeImporter::tensor(StringRef name) const {
  const onnx::Attribute *attribute = find(name);
  return attribute ? valueOf<std::vector<Tensor>>(*attribute, "a tensor").data() : nullptr;
}

std::optional<Numbers> NodeImporter::integersOrOperand(StringRef attribute, size_t operand) {
  if (has(attribute))
    return integers(attribute);
  if (hasOperand(operand))
    return constants(operand, attribute);
  return std::nullopt;
}

int64_t NodeImporter::axis(int64_t number, int64_t rank) const {
  int64_t axis = number < 0 ? number + rank : number;
  if (axis < 0 || axis >= rank)
    throw Error(fmt::format("axis {} of an array of {} dimensions", number, rank));
  return axis;
}

Numbers NodeImporter::axes(ArrayRef<int64_t> numbers, int64_t rank) const {
  Numbers axes;
  for (int64_t number : numbers)
    axes.push_back(axis(number, rank));
  return axes;
}

//===- results -------------------------------------------------------------------------------===//

bool NodeImporter::wantsResult(size_t number) const {
  return number < node_.outputs.size() && !node_.outputs[number].empty();
}

void NodeImporter::setResult(size_t number, Value array) {
  if (wantsResult(number))
    values_[node_.outputs[number]] = {array, std::nullopt, false};
}

void NodeImporter::setCells(size_t number, Values cells, bool isScalar) {
  if (wantsResult(number))
    values_[node_.outputs[number]] = {Value(), std::move(cells), isScalar};
}

void NodeImporter::refuse(const std::string &what) const {
  throw Error(fmt::format("{} is not supported yet", what));
}
