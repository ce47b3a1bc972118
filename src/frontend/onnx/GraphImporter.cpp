#include "frontend/onnx/GraphImporter.h"

#include "base/Error.h"
#include "base/NearestNames.h"
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/NarrowCells.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/TensorReader.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

// Weights of up to so many cells are literals: numbers, shapes, axes, bounds.
static constexpr int64_t mostCellsOfLiterals = 64;

int64_t GraphImporter::versionOf(const Node &node) const {
  return onnx::versionOf(operatorSets_, node.domain).value_or(1);
}

std::string GraphImporter::placeOf(const Node &node) const {
  return place_ + onnx::placeOf(node, versionOf(node));
}

const ValueInfo *GraphImporter::inputOf(mlir::Value array) const {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!argument || argument.getOwner() != &shared_.function.getBody().front())
    return nullptr;
  const std::vector<const ValueInfo *> &inputs = shared_.imported.inputs;
  return argument.getArgNumber() < inputs.size() ? inputs[argument.getArgNumber()] : nullptr;
}

void GraphImporter::want(mlir::Value array) {
  if (const ValueInfo *input = inputOf(array))
    shared_.inputs.wanted.insert(input->name);
}

void GraphImporter::wantBehind(mlir::Value array) {
  constexpr size_t mostVisited = 4096;
  SetVector<mlir::Value> visited;
  visited.insert(array);
  for (size_t i = 0; i < visited.size() && visited.size() < mostVisited; ++i) {
    if (--shared_.visitsLeft < 0)
      return;
    mlir::Value value = visited[i];
    if (const ValueInfo *input = inputOf(value)) {
      bool isList = GraphBuilder::rankOf(value) <= 1;
      if (isList && !isFloat(GraphBuilder::elementTypeOf(value)))
        want(value);
      shared_.inputs.wantedSizes.insert(input->name);
    }
    if (Operation *operation = value.getDefiningOp())
      visited.insert(operation->operand_begin(), operation->operand_end());
  }
}

void GraphImporter::spend(int64_t nodes) {
  shared_.nodesLeft -= nodes;
  if (shared_.nodesLeft < 0)
    throw Error("the nodes are too many when calls and loops are written out");
}

int GraphImporter::deeper() const {
  if (depth_ == mostNested)
    throw Error(fmt::format("graphs and calls are nested more than {} deep", mostNested));
  return depth_ + 1;
}

void GraphImporter::defineWeight(const Tensor &weight) {
  std::optional<int64_t> count = productOf(weight.dims);
  std::optional<ElementType> element = heldElementTypeOf(weight.dataType);
  if (!element || !count)
    throw Error(fmt::format("weight {} is of type {}, which is not supported yet",
                            quotedName(weight.name), nameOf(weight.dataType)));
  if (*count <= mostCellsOfLiterals || shared_.largeWeights == LargeWeights::Literals)
    return scope_.define(
        weight.name, ImportedValue::ofArray(
                         graph().literal(constantTensor(weight, graph(), &shared_.file.external())),
                         weight.dataType));
  mlir::Value &parameter = shared_.weights[&weight];
  if (!parameter) {
    auto rank = static_cast<int64_t>(weight.dims.size());
    parameter = shared_.function.getBody().addArgument(
        graph().arrayType(rank, graph().typeOf(*element)), graph().builder().getUnknownLoc());
    graph().knowSizes(parameter, weight.dims);
    shared_.imported.weights.push_back(&weight);
  }
  scope_.define(weight.name, ImportedValue::ofArray(parameter, weight.dataType));
}

//===- attributes ----------------------------------------------------------------------------===//

GraphImporter::BoundAttribute GraphImporter::bound(const onnx::Attribute &attribute) {
  if (attribute.reference.empty())
    return {&attribute, this};
  auto found = attributes_->find(attribute.reference);
  return found == attributes_->end() ? BoundAttribute() : found->second;
}

GraphImporter::BoundAttribute GraphImporter::attributeOf(const Node &node, StringRef name) {
  for (const onnx::Attribute &attribute : node.attributes)
    if (StringRef(attribute.name) == name)
      return bound(attribute);
  return {};
}

//===- nodes ---------------------------------------------------------------------------------===//

void GraphImporter::importNodes(const std::vector<Node> &nodes) {
  for (const Node &node : nodes)
    importNode(node);
}

// Of a value that could not be imported, enough was said.
bool GraphImporter::dependsOnFailed(const Node &node) {
  return llvm::any_of(node.inputs, [&](std::string_view input) {
    const ImportedValue *value = scope_.find(input);
    return value && value->kind == ImportedValue::Kind::Failed;
  });
}

// What a rule doesn't know it can't have followed.
void GraphImporter::refuseUnknownAttributes(const Node &node, const NodeImporter &importer) {
  std::vector<std::string> known;
  bool isRefused = false;
  for (const onnx::Attribute &attribute : node.attributes) {
    if (importer.hasAskedFor(attribute.name) || !bound(attribute).attribute)
      continue;
    if (known.empty())
      known = importer.askedFor();
    shared_.errors.add(
        placeOf(node),
        fmt::format("{} has no attribute {}", quotedName(node.opType), quotedName(attribute.name)),
        nearestCandidates(attribute.name, known));
    isRefused = true;
  }
  if (isRefused)
    throw AlreadyReported();
}

void GraphImporter::importBy(const ImportRule &rule, const Node &node) {
  NodeImporter importer(node, *this);
  DataType narrow = DataType::Undefined;
  for (std::string_view input : node.inputs)
    if (const ImportedValue *value = scope_.find(input); value && isNarrow(value->narrow))
      narrow = value->narrow;
  NarrowUse use = narrowUseOf(rule.opType);
  if (isNarrow(narrow) && use == NarrowUse::None)
    throw Error(fmt::format("cells of {} can be moved and converted, but {} does neither",
                            nameOf(narrow), quotedName(node.opType)));
  rule.import(importer);
  refuseUnknownAttributes(node, importer);
  if (!isNarrow(narrow) || use != NarrowUse::Moves)
    return;
  for (std::string_view output : node.outputs)
    if (ImportedValue *value = scope_.find(output);
        value && value->array &&
        GraphBuilder::elementTypeOf(value->array) == heldElementTypeOf(narrow))
      value->narrow = narrow;
}

void GraphImporter::importNode(const Node &node) {
  // What is written for a graph in an attribute or a body of a function is of the node in the model's graph.
  if (depth_ == 0)
    graph().setLocation(FileLineColLoc::get(graph().builder().getContext(),
                                            shared_.file.path() + ": " + placeOf(node),
                                            static_cast<unsigned>(node.number + 1), 0));
  try {
    const Function *callee = shared_.calls.find(node);
    std::string opType = node.domain.empty() ? std::string(node.opType)
                                             : fmt::format("{}.{}", node.domain, node.opType);
    const ImportRule *rule = callee ? nullptr : findImportRule(opType, versionOf(node));
    if (!callee && !rule)
      throw Error(fmt::format("the operator {} is not supported yet", quotedName(node.opType)));
    if (dependsOnFailed(node))
      throw AlreadyReported();
    if (callee)
      return importCall(node, *callee);
    importBy(*rule, node);
    return;
  } catch (const Error &error) {
    shared_.errors.add(placeOf(node), error.message());
  } catch (const AlreadyReported &) {
  }
  // What depends on the node's results is not looked at any more.
  for (std::string_view output : node.outputs)
    scope_.define(output, ImportedValue::failed());
}

std::vector<ImportedValue> GraphImporter::valuesOf(ArrayRef<std::string_view> names) {
  std::vector<ImportedValue> values;
  for (std::string_view name : names) {
    const ImportedValue *value = scope_.find(name);
    if (!value || value->kind == ImportedValue::Kind::Failed)
      throw AlreadyReported();
    values.push_back(*value);
  }
  return values;
}

void GraphImporter::importCall(const Node &node, const Function &callee) {
  spend(1 + static_cast<int64_t>(callee.nodes.size()));
  BoundAttributes attributes;
  for (const onnx::Attribute &attribute : callee.defaults)
    attributes[attribute.name] = {&attribute, this};
  for (const onnx::Attribute &attribute : node.attributes)
    if (BoundAttribute given = bound(attribute); given.attribute)
      attributes[attribute.name] = given;
  GraphImporter body(shared_, callee.operatorSets, &attributes, nullptr,
                     placeOf(node) + ", " + onnx::placeOf(callee) + ", ", deeper());
  NodeImporter call(node, *this);
  for (auto [number, name] : llvm::enumerate(callee.inputs))
    body.scope().define(name,
                        call.hasOperand(number) ? call.value(number) : ImportedValue::absent());
  body.importNodes(callee.nodes);
  SmallVector<std::string_view> wanted(callee.outputs.begin(), callee.outputs.end());
  wanted.truncate(std::min(wanted.size(), node.outputs.size()));
  for (auto [number, value] : llvm::enumerate(body.valuesOf(wanted)))
    call.setValue(number, value);
}

std::vector<ImportedValue> GraphImporter::importInner(const Graph &inner, const Node &node,
                                                      StringRef attribute,
                                                      std::vector<ImportedValue> arguments) {
  if (inner.inputs.size() != arguments.size())
    throw Error(fmt::format("graph {} has {} inputs, but {} values go into it",
                            quotedName(attribute), inner.inputs.size(), arguments.size()));
  spend(1 + static_cast<int64_t>(inner.nodes.size()));
  GraphImporter body(shared_, operatorSets_, attributes_, &scope_,
                     fmt::format("{}, graph {}, ", placeOf(node), quotedName(attribute)), deeper());
  for (auto [input, argument] : llvm::zip(inner.inputs, arguments))
    body.scope().define(input.name, std::move(argument));
  for (const Tensor &weight : inner.initializers)
    body.defineWeight(weight);
  body.importNodes(inner.nodes);
  SmallVector<std::string_view> outputs;
  for (const ValueInfo &output : inner.outputs)
    outputs.push_back(output.name);
  std::vector<ImportedValue> values = body.valuesOf(outputs);
  for (const ImportedValue &value : values)
    if (isNarrow(value.narrow))
      throw Error(fmt::format("graph {} gives cells of {}, which is not supported yet",
                              quotedName(attribute), nameOf(value.narrow)));
  return values;
}

mlir::Value GraphImporter::importAlone(const Node &node, mlir::Value operand) {
  const ImportRule *rule = findImportRule(node.opType, versionOf(node));
  if (!rule)
    throw Error(fmt::format("the operator {} is not supported yet", quotedName(node.opType)));
  GraphImporter alone(shared_, operatorSets_, nullptr, nullptr, place_, deeper());
  alone.scope().define(node.inputs.front(), ImportedValue::ofArray(operand));
  NodeImporter importer(node, alone);
  rule->import(importer);
  return arrayOf(*alone.scope().find(node.outputs.front()), graph());
}
