// Sequences and optionals. How many elements there are is known while a model is imported, so that nothing of them
// is left in the program but their tensors.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

using Elements = std::vector<ImportedValue>;

const Elements &elementsOf(NodeImporter &node, size_t number) {
  const ImportedValue &value = node.value(number);
  if (value.kind != ImportedValue::Kind::Sequence)
    throw Error(fmt::format("operand {} is a tensor, where a sequence is expected", number + 1));
  return *value.elements;
}

void setElements(NodeImporter &node, Elements elements) {
  node.spend(static_cast<int64_t>(elements.size()));
  node.setValue(0, ImportedValue::ofElements(std::move(elements)));
}

// A place in a sequence, which an operand gives: `count` places from 0, negative ones from the end of `length`.
int64_t placeOf(NodeImporter &node, size_t operand, size_t length, size_t count) {
  Numbers numbers = node.constants(operand, "a place in a sequence");
  auto size = static_cast<int64_t>(length);
  int64_t place = numbers.size() == 1 ? numbers.front() : size;
  if (place < -size || place >= static_cast<int64_t>(count) || numbers.size() != 1)
    throw Error(fmt::format("place {} of a sequence of {} elements", place, size));
  return place < 0 ? place + size : place;
}

//===- sequences -----------------------------------------------------------------------------===//

void importSequenceEmpty(NodeImporter &node) {
  node.ignore({"dtype"}); // elements have their own
  setElements(node, {});
}

void importSequenceConstruct(NodeImporter &node) {
  Elements elements;
  for (size_t i = 0; i < node.operandCount(); ++i)
    elements.push_back(node.value(i));
  setElements(node, std::move(elements));
}

void importSequenceLength(NodeImporter &node) {
  auto length = static_cast<int64_t>(elementsOf(node, 0).size());
  node.setCells(0, {node.graph().integer(length)}, true);
}

void importSequenceAt(NodeImporter &node) {
  const Elements &elements = elementsOf(node, 0);
  node.setValue(0,
                elements[static_cast<size_t>(placeOf(node, 1, elements.size(), elements.size()))]);
}

void importSequenceInsert(NodeImporter &node) {
  Elements elements = elementsOf(node, 0);
  int64_t place = node.hasOperand(2) ? placeOf(node, 2, elements.size(), elements.size() + 1)
                                     : static_cast<int64_t>(elements.size());
  elements.insert(elements.begin() + place, node.value(1));
  setElements(node, std::move(elements));
}

void importSequenceErase(NodeImporter &node) {
  Elements elements = elementsOf(node, 0);
  if (elements.empty())
    throw Error("the sequence has no element that could be erased");
  int64_t place = node.hasOperand(1) ? placeOf(node, 1, elements.size(), elements.size())
                                     : static_cast<int64_t>(elements.size()) - 1;
  elements.erase(elements.begin() + place);
  setElements(node, std::move(elements));
}

void importConcatFromSequence(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Values arrays;
  for (ImportedValue element : elementsOf(node, 0))
    arrays.push_back(arrayOf(element, graph));
  if (arrays.empty())
    throw Error("the sequence has no elements");
  bool isNew = node.integer("new_axis", 0) != 0;
  int64_t rank = GraphBuilder::rankOf(arrays.front()) + (isNew ? 1 : 0);
  int64_t axis = node.axis(node.integer("axis", 0), rank);
  if (isNew)
    for (Value &array : arrays)
      array = graph.unsqueeze(array, {axis});
  node.setResult(0, graph.join(arrays, axis));
}

// The sizes of the parts: given one by one, or equal but for the last.
Values partSizes(NodeImporter &node, int64_t axis) {
  GraphBuilder &graph = node.graph();
  std::optional<Values> given = node.hasOperand(1) ? node.cells(1) : std::nullopt;
  if (given && !node.isScalar(1))
    return *given;
  int64_t part = node.hasOperand(1) ? node.constants(1, "sizes of parts").front() : 1;
  std::optional<int64_t> size = node.knownSize(0, axis);
  if (!size || part < 1)
    node.refuse("SplitToSequence into an unknown number of parts");
  node.spend(*size / part);
  Values sizes;
  for (int64_t begin = 0; begin < *size; begin += part)
    sizes.push_back(graph.integer(std::min(part, *size - begin)));
  return sizes;
}

void importSplitToSequence(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  bool dropsAxis = !node.hasOperand(1) && node.integer("keepdims", 1) == 0;
  Elements elements;
  Value begin = graph.integer(0);
  for (Value size : partSizes(node, axis)) {
    Value part = graph.slice(x, axis, begin, size);
    elements.push_back(ImportedValue::ofArray(dropsAxis ? graph.squeeze(part, {axis}) : part));
    begin = graph.scalar(Binary::Add, begin, size);
  }
  setElements(node, std::move(elements));
}

// The body for each element of the first sequence; of other sequences it takes the element at the same place.
void importSequenceMap(NodeImporter &node) {
  size_t length = elementsOf(node, 0).size(), outputs = node.innerGraph("body").outputs.size();
  std::vector<Elements> results(outputs);
  for (size_t i = 0; i < length; ++i) {
    std::vector<ImportedValue> arguments;
    for (size_t operand = 0; operand < node.operandCount(); ++operand) {
      const ImportedValue &value = node.value(operand);
      bool isSequence = value.kind == ImportedValue::Kind::Sequence;
      if (isSequence && value.elements->size() != length)
        throw Error(fmt::format("sequences of {} and {} elements", length, value.elements->size()));
      arguments.push_back(isSequence ? (*value.elements)[i] : value);
    }
    for (auto [elements, value] :
         llvm::zip(results, node.importGraph("body", std::move(arguments))))
      elements.push_back(value);
  }
  for (auto [number, elements] : llvm::enumerate(results))
    node.setValue(number, ImportedValue::ofElements(std::move(elements)));
}

//===- optionals -----------------------------------------------------------------------------===//

void importOptional(NodeImporter &node) {
  node.setValue(0, node.hasOperand(0) ? node.value(0) : ImportedValue::absent());
}

void importOptionalHasElement(NodeImporter &node) {
  auto type = RankedTensorType::get({}, node.graph().builder().getI1Type());
  node.setResult(0, node.graph().literal(DenseElementsAttr::get(type, node.hasOperand(0))));
}

void importOptionalGetElement(NodeImporter &node) {
  if (!node.hasOperand(0))
    throw Error("the optional has no value");
  node.setValue(0, node.value(0));
}

constexpr ImportRule rules[] = {
    {"ConcatFromSequence", 11, importConcatFromSequence},
    {"Optional", 15, importOptional},
    {"OptionalGetElement", 15, importOptionalGetElement},
    {"OptionalHasElement", 15, importOptionalHasElement},
    {"SequenceAt", 11, importSequenceAt},
    {"SequenceConstruct", 11, importSequenceConstruct},
    {"SequenceEmpty", 11, importSequenceEmpty},
    {"SequenceErase", 11, importSequenceErase},
    {"SequenceInsert", 11, importSequenceInsert},
    {"SequenceLength", 11, importSequenceLength},
    {"SequenceMap", 17, importSequenceMap},
    {"SplitToSequence", 11, importSplitToSequence},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::sequenceRules() { return rules; }
