#include "frontend/onnx/NodeImporter.h"

#include "base/Error.h"
#include "frontend/onnx/ConstantCells.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/file/QuotedName.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

static constexpr int64_t mostCells = 64; // of an array whose cells are known one by one

NodeImporter::NodeImporter(const Node &node, GraphImporter &importer)
    : node_(node), importer_(importer), graph_(importer.graph()),
      version_(importer.versionOf(node)) {
  // Which operands' memory results may take, until operators were said to be pure.
  constexpr int64_t pureFrom = 6;
  if (version_ < pureFrom)
    ignore({"consumed_inputs"});
}

//===- operands ------------------------------------------------------------------------------===//

bool NodeImporter::hasOperand(size_t number) const {
  if (number >= node_.inputs.size() || node_.inputs[number].empty())
    return false;
  const ImportedValue *value = importer_.scope().find(node_.inputs[number]);
  return !value || value->kind != ImportedValue::Kind::Absent;
}

ImportedValue &NodeImporter::value(size_t number) {
  if (!hasOperand(number))
    throw Error(fmt::format("operand {} is missing", number + 1));
  if (ImportedValue *found = importer_.scope().find(node_.inputs[number]))
    return *found;
  throw Error(fmt::format("operand {}, {}, is defined nowhere before", number + 1,
                          quotedName(node_.inputs[number])));
}

ImportedValue &NodeImporter::tensorAt(size_t number) {
  ImportedValue &found = value(number);
  if (!found.isTensor())
    throw Error(fmt::format("operand {} is a sequence, where a tensor is expected", number + 1));
  return found;
}

mlir::Value NodeImporter::operand(size_t number) { return arrayOf(tensorAt(number), graph_); }

Values NodeImporter::operands() {
  Values all;
  for (size_t i = 0; i < operandCount(); ++i)
    all.push_back(operand(i));
  return all;
}

std::optional<Values> NodeImporter::cellsOf(ImportedValue &value) {
  if (value.cells || !value.array)
    return value.cells;
  if (GraphBuilder::rankOf(value.array) > 1 || isFloat(GraphBuilder::elementTypeOf(value.array)))
    return std::nullopt;
  importer_.want(value.array);
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
  if (std::optional<Numbers> constants = constantsIfKnown(number)) {
    Values numbers;
    for (int64_t constant : *constants)
      numbers.push_back(graph_.integer(constant));
    return numbers;
  }
  mlir::Value array = operand(number);
  std::optional<int64_t> count =
      GraphBuilder::rankOf(array) == 1 ? graph_.knownSize(array, 0) : std::nullopt;
  // A parameter's cells become known if the model is imported for its value.
  if (!count || *count > mostCells || isa<BlockArgument>(array) ||
      isFloat(GraphBuilder::elementTypeOf(array)))
    return std::nullopt;
  Values read;
  for (int64_t place = 0; place < *count; ++place)
    read.push_back(graph_.scalarOf(graph_.part(array, 0, graph_.integer(place))));
  return read;
}

mlir::Value NodeImporter::scalarOf(ImportedValue &tensor) {
  // Parameters stay parameters.
  std::optional<Values> known =
      tensor.array && isa<BlockArgument>(tensor.array) ? tensor.cells : cellsOf(tensor);
  return known && known->size() == 1 ? known->front() : graph_.scalarOf(arrayOf(tensor, graph_));
}

int64_t NodeImporter::rank(size_t number) {
  ImportedValue &value = tensorAt(number);
  return value.array ? GraphBuilder::rankOf(value.array) : !value.isScalar;
}

ElementType NodeImporter::elementType(size_t number) {
  ImportedValue &value = tensorAt(number);
  return value.array ? GraphBuilder::elementTypeOf(value.array) : ElementType::I64;
}

std::optional<Numbers> NodeImporter::constantsOf(ImportedValue &tensor) {
  std::optional<Values> known = cellsOf(tensor);
  if (!known && tensor.array) {
    std::optional<Numbers> numbers =
        constantCells(graph_, tensor.array, importer_.evaluationsLeft(),
                      [&](mlir::Value other) { importer_.wantBehind(other); });
    bool isList = numbers && (GraphBuilder::rankOf(tensor.array) <= 1 || numbers->size() == 1);
    return isList ? numbers : std::nullopt;
  }
  if (!known)
    return std::nullopt;
  Numbers numbers;
  for (mlir::Value cell : *known) {
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

std::optional<int64_t> NodeImporter::knownSize(size_t number, int64_t dimension) {
  mlir::Value array = operand(number);
  std::optional<int64_t> size = graph_.knownSize(array, dimension);
  if (!size)
    importer_.wantBehind(array);
  return size;
}

SmallVector<double> NodeImporter::realConstants(size_t number, StringRef what) {
  ImportedValue &value = tensorAt(number);
  auto literal = value.array ? value.array.getDefiningOp<tok::LiteralOp>() : tok::LiteralOp();
  auto cells = literal ? dyn_cast<DenseFPElementsAttr>(literal.getCells()) : DenseFPElementsAttr();
  if (value.array)
    importer_.want(value.array);
  if (!cells)
    refuse(fmt::format("{} that are not numbers of the model", what.str()));
  SmallVector<double> numbers;
  for (APFloat cell : cells.getValues<APFloat>())
    numbers.push_back(cell.convertToDouble());
  return numbers;
}

//===- attributes ----------------------------------------------------------------------------===//

const onnx::Attribute *NodeImporter::find(StringRef name) const {
  asked_.insert(name);
  return importer_.attributeOf(node_, name).attribute;
}

template <typename T> static const T &valueOf(const onnx::Attribute &attribute, const char *kind) {
  if (const T *value = std::get_if<T>(&attribute.value))
    return *value;
  throw Error(fmt::format("attribute {} is expected to be {}", quotedName(attribute.name), kind));
}

void NodeImporter::ignore(ArrayRef<StringRef> attributes) const {
  for (StringRef attribute : attributes)
    asked_.insert(attribute);
}

std::vector<std::string> NodeImporter::askedFor() const {
  std::vector<std::string> names;
  for (StringRef name : asked_.keys())
    names.push_back(name.str());
  llvm::sort(names);
  return names;
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

SmallVector<StringRef> NodeImporter::texts(StringRef name) const {
  const onnx::Attribute *attribute = find(name);
  if (!attribute)
    return {};
  const auto &values = valueOf<std::vector<std::string_view>>(*attribute, "a list of strings");
  return SmallVector<StringRef>(values.begin(), values.end());
}

const Tensor *NodeImporter::tensor(StringRef name) const {
  const onnx::Attribute *attribute = find(name);
  return attribute ? valueOf<std::vector<Tensor>>(*attribute, "a tensor").data() : nullptr;
}

const Graph &NodeImporter::innerGraph(StringRef name) const {
  const onnx::Attribute *attribute = find(name);
  if (!attribute)
    throw Error(fmt::format("attribute {} is missing", quotedName(name)));
  return valueOf<std::vector<Graph>>(*attribute, "a graph").front();
}

std::vector<ImportedValue> NodeImporter::importGraph(StringRef name,
                                                     std::vector<ImportedValue> arguments) {
  // A graph that a call gives to a function sees the names of the call.
  return importer_.attributeOf(node_, name)
      .importer->importInner(innerGraph(name), node_, name, std::move(arguments));
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

mlir::Value NodeImporter::applied(StringRef opType, mlir::Value array,
                                  ArrayRef<std::pair<StringRef, double>> attributes) {
  Node node;
  node.opType = opType;
  node.inputs = {"x"};
  node.outputs = {"y"};
  for (auto [name, value] : attributes) {
    onnx::Attribute &attribute = node.attributes.emplace_back();
    attribute.name = name;
    attribute.value = static_cast<float>(value);
  }
  return importer_.importAlone(node, array);
}

//===- results -------------------------------------------------------------------------------===//

bool NodeImporter::wantsResult(size_t number) const {
  return number < node_.outputs.size() && !node_.outputs[number].empty();
}

void NodeImporter::setValue(size_t number, ImportedValue value) {
  if (wantsResult(number))
    importer_.scope().define(node_.outputs[number], std::move(value));
}

void NodeImporter::setValues(std::vector<ImportedValue> values) {
  for (auto [number, value] : llvm::enumerate(values))
    setValue(number, std::move(value));
}

void NodeImporter::setResult(size_t number, mlir::Value array) {
  setValue(number, ImportedValue::ofArray(array));
}

void NodeImporter::setCells(size_t number, Values cells, bool isScalar, ElementType type) {
  ImportedValue value = ImportedValue::ofCells(std::move(cells), isScalar);
  if (type != ElementType::I64)
    value.array = graph_.cast(arrayOf(value, graph_), type);
  if (value.cells->size() > mostCells)
    value = ImportedValue::ofArray(arrayOf(value, graph_));
  setValue(number, std::move(value));
}

void NodeImporter::spend(int64_t nodes) { importer_.spend(nodes); }

void NodeImporter::refuse(const std::string &what) const {
  throw Error(fmt::format("{} is not supported yet", what));
}
