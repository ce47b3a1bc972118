#include "frontend/onnx/file/GraphStructure.h"

#include "base/Error.h"
#include "base/NearestNames.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/SparseCells.h"
#include "frontend/onnx/file/TensorCells.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::onnx {
namespace {

std::vector<std::string_view> namesOf(const std::vector<ValueInfo> &values) {
  std::vector<std::string_view> names;
  for (const ValueInfo &value : values)
    names.push_back(value.name);
  return names;
}

// A name that stands twice, or nothing.
std::optional<std::string_view> repeatedIn(std::vector<std::string_view> names) {
  std::sort(names.begin(), names.end());
  auto found = std::adjacent_find(names.begin(), names.end());
  return found == names.end() ? std::nullopt : std::optional(*found);
}

std::string nameOf(Attribute::Kind kind) {
  constexpr const char *names[] = {
      "nothing", "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
      "strings", "tensors", "graphs", "sparse tensor", "sparse tensors", "type",  "types"};
  auto number = static_cast<size_t>(kind);
  return number < std::size(names) ? names[number] : fmt::format("kind {}", static_cast<int>(kind));
}

bool isKnown(Attribute::Kind kind) {
  return kind > Attribute::Kind::Undefined && kind <= Attribute::Kind::Types;
}

} // namespace

GraphStructure::GraphStructure(const std::vector<OperatorSet> &operatorSets,
                               const Function *function, FunctionCalls &calls,
                               ExternalData *external, ModelErrors &errors)
    : function_(function), calls_(calls), external_(external), errors_(errors) {
  for (const OperatorSet &set : operatorSets)
    versions_.try_emplace(set.domain, set.version);
}

std::string GraphStructure::Subject::text() const {
  return fmt::format("{} {}{}", word, number ? fmt::to_string(*number) : quotedName(name), owner);
}

template <typename Names>
std::vector<std::string> GraphStructure::candidatesFor(std::string_view name, const Names &names) {
  std::vector<std::string> texts;
  for (const auto &other : names) {
    size_t work = name.size() * other.size();
    if (work > comparisons_) {
      comparisons_ = 0;
      break;
    }
    comparisons_ -= work;
    texts.emplace_back(other);
  }
  return nearestCandidates(name, texts);
}

std::string GraphStructure::placeOfNode(const Level &level, size_t index) const {
  const Node &node = (*level.nodes)[index];
  auto version = versions_.find(node.domain);
  return placeOf(node, version == versions_.end() ? std::nullopt : std::optional(version->second));
}

std::string GraphStructure::place() const {
  std::vector<std::string> parts;
  if (function_)
    parts.push_back(placeOf(*function_));
  for (const Level &level : levels_) {
    bool isInnermost = &level == &levels_.back();
    if (isInnermost && !isInNode_)
      break;
    parts.push_back(placeOfNode(level, level.current));
    if (!isInnermost)
      parts.push_back(fmt::format("graph {}", quotedName(level.attribute)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string GraphStructure::describe(const Definition &definition) const {
  switch (definition.kind) {
  case Definition::Kind::Input:
    return "an input";
  case Definition::Kind::Initializer:
    return "an initializer";
  case Definition::Kind::Node:
    return placeOfNode(levels_[static_cast<size_t>(definition.depth) - 1], definition.index);
  case Definition::Kind::None:
    break;
  }
  return "nothing";
}

void GraphStructure::define(std::string_view name, Definition definition, const Subject &what) {
  const Definition *before = names_.find(name);
  if (before) {
    bool isSameGraph = before->depth == names_.depth();
    // The node with this graph, and one that stands behind it, cannot be seen from here.
    bool isLater = before->kind == Definition::Kind::Node &&
                   before->index >= levels_[static_cast<size_t>(before->depth) - 1].current;
    bool mayHide = definition.kind == Definition::Kind::Input || isLater;
    if (isSameGraph || !mayHide)
      return add(fmt::format("{} is {}, as {}{} is already", what.text(), quotedName(name),
                             describe(*before), isSameGraph ? "" : " of a graph around it"));
  }
  names_.define(name, definition);
}

void GraphStructure::defineInput(std::string_view name, size_t number) {
  if (name.empty())
    return add(fmt::format("input {} of the graph has no name", number));
  define(name, {.kind = Definition::Kind::Input}, {"input", number, {}, " of the graph"});
}

void GraphStructure::defineInitializer(std::string_view name, const Subject &what) {
  if (name.empty())
    return add(fmt::format("{} has no name", what.text()));
  const Definition *before = names_.find(name);
  if (!before || before->depth != names_.depth() || before->kind != Definition::Kind::Input)
    define(name, {.kind = Definition::Kind::Initializer}, what);
}

void GraphStructure::defineOutputs(const std::vector<Node> &nodes) {
  isInNode_ = true;
  for (size_t i = 0; i < nodes.size() && !errors_.areEnough(); ++i) {
    levels_.back().current = i;
    for (size_t j = 0; j < nodes[i].outputs.size(); ++j)
      if (std::string_view name = nodes[i].outputs[j]; !name.empty())
        define(name, {.kind = Definition::Kind::Node, .index = i}, {"output", j});
  }
  isInNode_ = false;
}

void GraphStructure::verify(Graph &graph) {
  names_.enterGraph();
  levels_.push_back({.nodes = &graph.nodes});
  for (size_t i = 0; i < graph.inputs.size() && !errors_.areEnough(); ++i) {
    const ValueInfo &input = graph.inputs[i];
    defineInput(input.name, i);
    // Parameters of inner graphs have the types that they are given.
    if (input.type.kind != Type::Kind::None)
      verifyType(input.type, {.word = "input", .name = input.name});
    else if (names_.depth() == 1)
      add(fmt::format("input {} has no type", quotedName(input.name)));
  }
  for (size_t i = 0; i < graph.initializers.size() && !errors_.areEnough(); ++i) {
    const Tensor &tensor = graph.initializers[i];
    defineInitializer(tensor.name, {"initializer", i});
    verifyTensor(tensor, {.word = "initializer", .name = tensor.name});
  }
  for (size_t i = 0; i < graph.sparseInitializers.size() && !errors_.areEnough(); ++i) {
    const SparseTensor &tensor = graph.sparseInitializers[i];
    defineInitializer(tensor.values.name, {"sparse initializer", i});
    verifySparse(tensor, {.word = "sparse initializer", .name = tensor.values.name});
  }
  defineOutputs(graph.nodes);
  verifyNodes(graph.nodes);
  verifyOutputs(namesOf(graph.outputs));
  std::vector<NodeOrder::Edge> uses = std::move(levels_.back().uses);
  sort(graph.nodes, uses);
  levels_.pop_back();
  names_.leaveGraph();
}

void GraphStructure::verifyBody(Function &function) {
  names_.enterGraph();
  levels_.push_back({.nodes = &function.nodes});
  if (function.name.empty())
    add("the function has no name");
  for (size_t i = 0; i < function.inputs.size() && !errors_.areEnough(); ++i)
    defineInput(function.inputs[i], i);
  std::vector<std::string_view> attributes = function.attributes;
  for (Attribute &attribute : function.defaults) {
    if (errors_.areEnough())
      break;
    attributes.push_back(attribute.name);
    Subject what = {.word = "attribute", .name = attribute.name};
    // It would be unclear which names it sees.
    if (std::holds_alternative<std::vector<Graph>>(attribute.value))
      add(fmt::format("{} has a graph for a default, but only nodes can have graphs", what.text()));
    else
      verifyValue(attribute, what);
  }
  if (std::optional<std::string_view> name = repeatedIn(attributes))
    add(fmt::format("attribute {} stands twice", quotedName(*name)));
  defineOutputs(function.nodes);
  verifyNodes(function.nodes);
  verifyOutputs(function.outputs);
  std::vector<NodeOrder::Edge> uses = std::move(levels_.back().uses);
  sort(function.nodes, uses);
  levels_.pop_back();
  names_.leaveGraph();
}

void GraphStructure::verifyNodes(std::vector<Node> &nodes) {
  for (size_t i = 0; i < nodes.size() && !errors_.areEnough(); ++i) {
    levels_.back().current = i;
    isInNode_ = true;
    verifyNode(nodes[i]);
    isInNode_ = false;
  }
}

void GraphStructure::verifyNode(Node &node) {
  const Function *callee = calls_.find(node);
  calls_.add(function_, callee);
  if (node.opType.empty())
    add("it has no operator");
  if (!versions_.contains(node.domain)) {
    std::vector<std::string_view> domains;
    for (auto [domain, version] : versions_)
      domains.push_back(domain);
    std::string ofDomain =
        node.domain.empty() ? "" : fmt::format(" of domain {}", quotedName(node.domain));
    add(fmt::format("no version of the operators{} is listed (opset_import)", ofDomain),
        candidatesFor(node.domain, domains));
  }
  for (size_t i = 0; i < node.inputs.size() && !errors_.areEnough(); ++i)
    if (!node.inputs[i].empty())
      use(node.inputs[i], {"input", i});
  if (callee)
    verifyCall(node, *callee);
  verifyAttributes(node.attributes);
}

void GraphStructure::verifyCall(const Node &node, const Function &callee) {
  auto check = [&](const char *what, size_t found, size_t most) {
    if (found > most)
      add(fmt::format("it has {} {}, but {} has {}", found, what, placeOf(callee), most));
  };
  check("inputs", node.inputs.size(), callee.inputs.size());
  check("outputs", node.outputs.size(), callee.outputs.size());
  const std::set<std::string_view> &known = calls_.attributesOf(callee);
  for (const Attribute &attribute : node.attributes)
    if (!errors_.areEnough() && !known.contains(attribute.name))
      add(fmt::format("{} has no attribute {}", placeOf(callee), quotedName(attribute.name)),
          candidatesFor(attribute.name, known));
}

// Names an inner graph that gives a value of an outer one as its result, too.
void GraphStructure::verifyOutputs(const std::vector<std::string_view> &names) {
  for (size_t i = 0; i < names.size() && !errors_.areEnough(); ++i) {
    if (names[i].empty())
      add(fmt::format("output {} of the graph has no name", i));
    else
      use(names[i], {"output", i, {}, " of the graph"});
  }
  if (std::optional<std::string_view> name = repeatedIn(names); name && !name->empty())
    add(fmt::format("output {} of the graph stands twice", quotedName(*name)));
}

void GraphStructure::use(std::string_view name, const Subject &what) {
  const Definition *definition = names_.find(name);
  if (!definition)
    return add(fmt::format("{} is {}, which nothing defines", what.text(), quotedName(name)),
               candidatesFor(name, names_.names()));
  if (definition->kind != Definition::Kind::Node)
    return;
  Level &level = levels_[static_cast<size_t>(definition->depth) - 1];
  bool isOutput = !isInNode_ && &level == &levels_.back();
  if (!isOutput)
    level.uses.push_back({.from = definition->index, .to = level.current});
}

void GraphStructure::sort(std::vector<Node> &nodes, const std::vector<NodeOrder::Edge> &uses) {
  if (std::all_of(uses.begin(), uses.end(),
                  [](const NodeOrder::Edge &use) { return use.from < use.to; }))
    return;
  NodeOrder order(nodes.size(), uses);
  if (order.nodes().size() < nodes.size()) {
    constexpr size_t mostShown = 8;
    std::vector<std::string> places;
    for (size_t node : order.cycle())
      if (places.size() < mostShown)
        places.push_back(placeOfNode(levels_.back(), node));
    if (order.cycle().size() > mostShown)
      places.push_back(fmt::format("{} more", order.cycle().size() - mostShown));
    std::string text = fmt::format("{}", fmt::join(places, " needs "));
    return add(fmt::format("the graph has a cycle: {} needs {}", text, places.front()));
  }
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (size_t node : order.nodes())
    sorted.push_back(std::move(nodes[node]));
  nodes = std::move(sorted);
}

void GraphStructure::verifyAttributes(std::vector<Attribute> &attributes) {
  std::vector<std::string_view> names;
  for (Attribute &attribute : attributes) {
    if (errors_.areEnough())
      return;
    names.push_back(attribute.name);
    if (attribute.name.empty())
      add(fmt::format("attribute {} has no name", names.size() - 1));
    levels_.back().attribute = attribute.name;
    verifyValue(attribute, {.word = "attribute", .name = attribute.name});
  }
  if (std::optional<std::string_view> name = repeatedIn(names); name && !name->empty())
    add(fmt::format("attribute {} stands twice", quotedName(*name)));
}

void GraphStructure::verifyValue(Attribute &attribute, const Subject &what) {
  using Kind = Attribute::Kind;
  if (!attribute.reference.empty()) {
    if (!function_)
      return add(fmt::format("{} refers to {}, but stands in no function", what.text(),
                             quotedName(attribute.reference)));
    const std::set<std::string_view> &known = calls_.attributesOf(*function_);
    if (!known.contains(attribute.reference))
      add(fmt::format("{} refers to {}, which the function doesn't have", what.text(),
                      quotedName(attribute.reference)),
          candidatesFor(attribute.reference, known));
    return;
  }
  Kind kind = attribute.kind;
  unsigned others = attribute.present & ~(1U << static_cast<unsigned>(kind) % 32);
  if (kind == Kind::Undefined && others == 0)
    return add(fmt::format("{} has no value", what.text()));
  if (kind == Kind::Undefined)
    return add(fmt::format("{} has values of several kinds", what.text()));
  if (!isKnown(kind))
    return add(fmt::format("{} is of kind {}; ONNX has kinds 1 to {}", what.text(),
                           static_cast<int>(kind), static_cast<int>(Kind::Types)));
  if (others != 0)
    return add(fmt::format("{} is said to be of kind '{}', but has a value of kind '{}'",
                           what.text(), nameOf(kind),
                           nameOf(static_cast<Kind>(std::countr_zero(others)))));
  bool needsMessage = kind == Kind::Tensor || kind == Kind::Graph || kind == Kind::SparseTensor ||
                      kind == Kind::Type;
  if (needsMessage && attribute.present == 0)
    return add(fmt::format("{} has no value", what.text()));
  if (auto *tensors = std::get_if<std::vector<Tensor>>(&attribute.value))
    for (const Tensor &tensor : *tensors)
      verifyTensor(tensor, what);
  if (auto *tensors = std::get_if<std::vector<SparseTensor>>(&attribute.value))
    for (const SparseTensor &tensor : *tensors)
      verifySparse(tensor, what);
  if (auto *types = std::get_if<std::vector<Type>>(&attribute.value))
    for (const Type &type : *types)
      verifyType(type, what);
  if (auto *graphs = std::get_if<std::vector<Graph>>(&attribute.value)) {
    for (Graph &graph : *graphs) {
      isInNode_ = false;
      verify(graph);
      isInNode_ = true;
    }
  }
}

void GraphStructure::verifyTensor(const Tensor &tensor, const Subject &what) {
  if (errors_.areEnough())
    return;
  try {
    TensorCells(tensor, external_);
  } catch (const Error &error) {
    add(fmt::format("{}: {}", what.text(), error.message()));
  }
}

void GraphStructure::verifySparse(const SparseTensor &tensor, const Subject &what) {
  if (errors_.areEnough())
    return;
  try {
    SparseCells(tensor, external_);
  } catch (const Error &error) {
    add(fmt::format("{}: {}", what.text(), error.message()));
  }
}

void GraphStructure::verifyType(const Type &type, const Subject &what) {
  switch (type.kind) {
  case Type::Kind::None:
    return add(fmt::format("{}: a type says neither what it is nor of what", what.text()));
  case Type::Kind::Tensor:
  case Type::Kind::SparseTensor:
    if (!isKnown(type.dataType))
      add(fmt::format("{}: its cells have {}; ONNX has types 1 to {}", what.text(),
                      nameOf(type.dataType), static_cast<int>(DataType::Float6E3M2)));
    return;
  case Type::Kind::Opaque:
    return;
  case Type::Kind::Map:
    if (!isKnown(type.dataType))
      add(fmt::format("{}: its keys have {}", what.text(), nameOf(type.dataType)));
    break;
  case Type::Kind::Sequence:
  case Type::Kind::Optional:
    break;
  }
  if (type.element)
    verifyType(*type.element, what);
  else
    add(fmt::format("{}: its elements have no type", what.text()));
}

} // namespace tokamak::onnx
