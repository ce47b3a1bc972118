#include "frontend/onnx/ImportModel.h"

#include "base/Error.h"
#include "base/NearestNames.h"
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/QuotedName.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

// Weights of up to so many cells are literals: numbers, shapes, axes, bounds.
static constexpr int64_t mostCellsOfLiterals = 64;

namespace {

class GraphImporter {
public:
  GraphImporter(ModelFile &file, KnownInputs &inputs, MLIRContext &context, ModelErrors &errors)
      : file_(file), model_(file.model()), inputs_(inputs), errors_(errors),
        module_(ModuleOp::create(UnknownLoc::get(&context))), graph_(OpBuilder(&context)),
        version_(versionOf(model_.operatorSets, "").value_or(1)) {}

  std::optional<ImportedModel> import() {
    declare();
    if (!errors_.empty())
      return std::nullopt;
    for (const Node &node : model_.graph.nodes)
      importNode(node);
    finish();
    if (!errors_.empty())
      return std::nullopt;
    imported_.module = std::move(module_);
    return std::move(imported_);
  }

private:
  std::optional<RankedTensorType> typeOfInput(const ValueInfo &input) {
    const onnx::Type &type = input.type;
    std::optional<ElementType> element = elementTypeOf(type.dataType);
    if (type.kind != onnx::Type::Kind::Tensor || !element)
      errors_.add("", fmt::format("input {} is of a type that is not supported yet",
                                  quotedName(input.name)));
    else if (const Tensor *value = inputs_.values.lookup(input.name))
      return graph_.arrayType(static_cast<int64_t>(value->dims.size()), graph_.typeOf(*element));
    else if (!type.shape)
      errors_.add("", fmt::format("input {} has no rank, which is not supported yet",
                                  quotedName(input.name)));
    else
      return graph_.arrayType(static_cast<int64_t>(type.shape->size()), graph_.typeOf(*element));
    return std::nullopt;
  }

  // Inputs and weights become the function's parameters.
  void declare() {
    SmallVector<mlir::Type> types;
    std::vector<const ValueInfo *> literals;
    for (const ValueInfo *input : inputsWithoutValue(model_.graph)) {
      if (inputs_.values.contains(input->name) && inputs_.wanted.contains(input->name)) {
        literals.push_back(input);
      } else if (std::optional<RankedTensorType> type = typeOfInput(*input)) {
        types.push_back(*type);
        imported_.inputs.push_back(input);
      }
    }
    for (const Tensor &weight : model_.graph.initializers) {
      std::optional<int64_t> count = productOf(weight.dims);
      std::optional<ElementType> element = elementTypeOf(weight.dataType);
      if (!element || !count) {
        errors_.add("", fmt::format("weight {} is of type {}, which is not supported yet",
                                    quotedName(weight.name), nameOf(weight.dataType)));
      } else if (*count > mostCellsOfLiterals) {
        types.push_back(
            graph_.arrayType(static_cast<int64_t>(weight.dims.size()), graph_.typeOf(*element)));
        imported_.weights.push_back(&weight);
      }
    }
    OpBuilder &builder = graph_.builder();
    builder.setInsertionPointToEnd(module_->getBody());
    function_ = builder.create<func::FuncOp>(builder.getUnknownLoc(), "main",
                                             builder.getFunctionType(types, {}));
    builder.setInsertionPointToEnd(function_.addEntryBlock());
    size_t number = 0;
    for (const ValueInfo *input : imported_.inputs)
      if (number < function_.getNumArguments())
        values_[input->name] = {function_.getArgument(number++), std::nullopt, false};
    for (const Tensor *weight : imported_.weights)
      if (number < function_.getNumArguments())
        values_[weight->name] = {function_.getArgument(number++), std::nullopt, false};
    for (const ValueInfo *input : imported_.inputs)
      knowSizes(values_[input->name].array, input->type);
    for (const Tensor *weight : imported_.weights)
      graph_.knowSizes(values_[weight->name].array, weight->dims);
    for (const Tensor &weight : model_.graph.initializers)
      if (!values_.contains(weight.name))
        importLiteral(weight.name, weight);
    for (const ValueInfo *input : literals)
      importLiteral(input->name, *inputs_.values.lookup(input->name));
  }

  // Sizes that the file says; those below 1 mean nothing.
  void knowSizes(Value parameter, const onnx::Type &type) {
    if (!parameter || !type.shape ||
        static_cast<int64_t>(type.shape->size()) != GraphBuilder::rankOf(parameter))
      return;
    SmallVector<int64_t> sizes;
    for (const Dimension &dimension : *type.shape) {
      const auto *size = std::get_if<int64_t>(&dimension);
      sizes.push_back(size && *size > 0 ? *size : -1);
    }
    graph_.knowSizes(parameter, sizes);
  }

  void importLiteral(StringRef name, const Tensor &weight) {
    try {
      values_[name] = {graph_.literal(constantTensor(weight, graph_, &file_.external())),
                       std::nullopt, false};
    } catch (const Error &error) {
      errors_.add("weight " + quotedName(name), error.message());
    }
  }

  // What depends on the node's results is not looked at any more.
  void giveUp(const Node &node) {
    for (std::string_view output : node.outputs)
      failed_.insert(output);
  }

  void importNode(const Node &node) {
    auto report = [&](const std::string &message) {
      errors_.add(placeOf(node, version_), message);
      giveUp(node);
    };
    std::string opType = node.domain.empty() ? std::string(node.opType)
                                             : fmt::format("{}.{}", node.domain, node.opType);
    const ImportRule *rule =
        findImportRule(opType, versionOf(model_.operatorSets, node.domain).value_or(1));
    if (!rule)
      return report(fmt::format("the operator {} is not supported yet", quotedName(node.opType)));
    // Of an operand that could not be imported, enough was said.
    if (llvm::any_of(node.inputs, [&](std::string_view input) { return failed_.contains(input); }))
      return giveUp(node);
    graph_.setLocation(FileLineColLoc::get(graph_.builder().getContext(), file_.path(),
                                           static_cast<unsigned>(node.number + 1), 1));
    NodeImporter importer(node, version_, graph_, values_, inputs_.wanted);
    try {
      rule->import(importer);
    } catch (const Error &error) {
      report(error.message());
    }
  }

  void finish() {
    SmallVector<Value> results;
    SmallVector<mlir::Type> types;
    for (const ValueInfo &output : model_.graph.outputs) {
      if (failed_.contains(output.name))
        continue;
      Node node;
      node.inputs = {output.name};
      try {
        results.push_back(NodeImporter(node, version_, graph_, values_, inputs_.wanted).operand(0));
        types.push_back(results.back().getType());
      } catch (const Error &) {
        errors_.add("", fmt::format("output {} is defined nowhere", quotedName(output.name)));
      }
    }
    graph_.builder().create<func::ReturnOp>(graph_.builder().getUnknownLoc(), results);
    function_.setFunctionType(
        graph_.builder().getFunctionType(function_.getArgumentTypes(), types));
  }

  ModelFile &file_;
  const Model &model_;
  KnownInputs &inputs_;
  ModelErrors &errors_;
  OwningOpRef<ModuleOp> module_;
  GraphBuilder graph_;
  const int64_t version_;
  func::FuncOp function_;
  ImportedValues values_;
  llvm::StringSet<> failed_;
  ImportedModel imported_;
};

} // namespace

std::vector<const ValueInfo *> onnx::inputsWithoutValue(const Graph &graph) {
  llvm::StringSet<> initialized;
  for (const Tensor &weight : graph.initializers)
    initialized.insert(weight.name);
  std::vector<const ValueInfo *> inputs;
  for (const ValueInfo &input : graph.inputs)
    if (!initialized.contains(input.name))
      inputs.push_back(&input);
  return inputs;
}

std::optional<ImportedModel> onnx::importModel(ModelFile &file, KnownInputs &inputs,
                                               MLIRContext &context, ModelErrors &errors) {
  context.loadDialect<tok::TokDialect, func::FuncDialect>();
  // An attempt that fails may tell which values it wants; each has more of them than the one before.
  for (size_t wanted = 0;;) {
    errors.clear();
    std::optional<ImportedModel> imported = GraphImporter(file, inputs, context, errors).import();
    auto known = static_cast<size_t>(llvm::count_if(
        inputs.values, [&](const auto &value) { return inputs.wanted.contains(value.getKey()); }));
    if (imported || known == wanted)
      return imported;
    wanted = known;
  }
}
