#include "frontend/onnx/ImportModel.h"

#include "base/Error.h"
#include "frontend/onnx/ConstantTensor.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/file/QuotedName.h"
#include "ir/tok/SizesAttribute.h"

#include "mlir/IR/Verifier.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

namespace {

class ModelImporter {
public:
  ModelImporter(ModelFile &file, KnownInputs &inputs, MLIRContext &context, ModelErrors &errors,
                LargeWeights weights)
      : model_(file.model()), inputs_(inputs), errors_(errors),
        shared_{.file = file,
                .inputs = inputs,
                .errors = errors,
                .largeWeights = weights,
                .graph = GraphBuilder(OpBuilder(&context))},
        module_(ModuleOp::create(UnknownLoc::get(&context))), importer_(shared_) {}

  std::optional<ImportedModel> import() {
    declare();
    if (!errors_.empty())
      return std::nullopt;
    importer_.importNodes(model_.graph.nodes);
    finish();
    if (errors_.empty())
      verify();
    if (!errors_.empty())
      return std::nullopt;
    shared_.imported.module = std::move(module_);
    return std::move(shared_.imported);
  }

private:
  std::optional<RankedTensorType> typeOfInput(const ValueInfo &input) {
    const onnx::Type &type = input.type;
    std::optional<ElementType> element = heldElementTypeOf(type.dataType);
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

  void declareParameter(const ValueInfo &input, Block &body) {
    std::optional<RankedTensorType> type = typeOfInput(input);
    if (!type)
      return;
    mlir::Value parameter = body.addArgument(*type, graph_.builder().getUnknownLoc());
    importer_.scope().define(input.name, ImportedValue::ofArray(parameter, input.type.dataType));
    const Tensor *value = inputs_.values.lookup(input.name);
    if (value && inputs_.wantedSizes.contains(input.name))
      graph_.knowSizes(parameter, value->dims);
    else
      knowSizes(parameter, input.type);
    shared_.imported.inputs.push_back(&input);
  }

  // Inputs and weights become the function's parameters.
  void declare() {
    OpBuilder &builder = graph_.builder();
    builder.setInsertionPointToEnd(module_->getBody());
    shared_.function = builder.create<func::FuncOp>(builder.getUnknownLoc(), "main",
                                                    builder.getFunctionType({}, {}));
    shared_.function->setAttr(tok::manySizesAttributeName, builder.getUnitAttr());
    Block *body = shared_.function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    for (const ValueInfo *input : inputsWithoutValue(model_.graph)) {
      if (inputs_.values.contains(input->name) && inputs_.wanted.contains(input->name)) {
        const Tensor &value = *inputs_.values.lookup(input->name);
        reporting(placeOfInput(*input),
                  [&] { importer_.scope().define(input->name, literal(value)); });
      } else if (const onnx::Value *value = inputs_.lists.lookup(input->name)) {
        reporting(placeOfInput(*input),
                  [&] { importer_.scope().define(input->name, partOfProgram(*value)); });
      } else {
        reporting(placeOfInput(*input), [&] { declareParameter(*input, *body); });
      }
    }
    for (const Tensor &weight : model_.graph.initializers)
      reporting("", [&] { importer_.defineWeight(weight); });
  }

  // Sizes that the file says; those below 1 mean nothing.
  void knowSizes(mlir::Value parameter, const onnx::Type &type) {
    if (!type.shape || static_cast<int64_t>(type.shape->size()) != GraphBuilder::rankOf(parameter))
      return;
    SmallVector<int64_t> sizes;
    for (const Dimension &dimension : *type.shape) {
      const auto *size = std::get_if<int64_t>(&dimension);
      sizes.push_back(size && *size > 0 ? *size : -1);
    }
    graph_.knowSizes(parameter, sizes);
  }

  static std::string placeOfInput(const ValueInfo &input) {
    return "input " + quotedName(input.name);
  }

  ImportedValue literal(const Tensor &value) {
    return ImportedValue::ofArray(
        graph_.literal(constantTensor(value, graph_, &shared_.file.external())), value.dataType);
  }

  ImportedValue partOfProgram(const onnx::Value &value) {
    switch (value.kind) {
    case onnx::Type::Kind::None:
      return ImportedValue::absent();
    case onnx::Type::Kind::Tensor:
      return literal(value.tensor);
    case onnx::Type::Kind::Sequence: {
      std::vector<ImportedValue> elements;
      for (const onnx::Value &element : value.elements)
        elements.push_back(partOfProgram(element));
      return ImportedValue::ofElements(std::move(elements));
    }
    default:
      throw Error("its type is not supported yet");
    }
  }

  void reporting(const std::string &place, function_ref<void()> define) {
    try {
      define();
    } catch (const Error &error) {
      errors_.add(place, error.message());
    }
  }

  void finish() {
    OpBuilder &builder = graph_.builder();
    if (shared_.largeWeights == LargeWeights::Parameters)
      shared_.function->setAttr(tok::weightsAttributeName,
                                builder.getI64IntegerAttr(shared_.imported.weights.size()));
    SmallVector<mlir::Value> results;
    for (const ValueInfo &output : model_.graph.outputs)
      if (const ImportedValue *value = importer_.scope().find(output.name))
        addResults(output, *value, results);
      else
        errors_.add("", fmt::format("output {} is defined nowhere", quotedName(output.name)));
    builder.create<func::ReturnOp>(builder.getUnknownLoc(), results);
    shared_.function.setFunctionType(builder.getFunctionType(
        shared_.function.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
    size_t inputs = shared_.imported.inputs.size();
    for (auto [number, weight] : llvm::enumerate(shared_.imported.weights))
      shared_.function.setArgAttr(
          inputs + number, tok::sizesAttributeName,
          tok::sizesAttribute(builder.getContext(),
                              llvm::map_to_vector(weight->dims, &Size::constant)));
  }

  void addResults(const ValueInfo &output, ImportedValue value,
                  SmallVectorImpl<mlir::Value> &results) {
    if (value.isTensor()) {
      results.push_back(arrayOf(value, graph_));
      shared_.imported.results.push_back(&output);
    } else if (value.kind == ImportedValue::Kind::Sequence) {
      for (const ImportedValue &element : *value.elements)
        addResults(output, element, results);
    }
  }

  // Of operations that operands don't suit, though no rule said so. Their locations name the nodes.
  void verify() {
    ScopedDiagnosticHandler handler(module_->getContext(), [&](Diagnostic &diagnostic) {
      StringRef place;
      if (auto node = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
        place = node.getFilename().strref();
      place.consume_front(shared_.file.path() + ": ");
      // Not the name of the compiler's operation, of which a node may become many.
      std::string message = diagnostic.str();
      StringRef said = message;
      if (said.consume_front("'tok."))
        said = said.split("' op ").second;
      errors_.add(place.str(), "its operands don't go together: " + said.str());
    });
    if (failed(mlir::verify(*module_)) && errors_.empty())
      errors_.add("", "operations don't suit their operands");
  }

  const Model &model_;
  KnownInputs &inputs_;
  ModelErrors &errors_;
  SharedImport shared_;
  GraphBuilder &graph_ = shared_.graph;
  OwningOpRef<ModuleOp> module_;
  GraphImporter importer_;
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
                                               MLIRContext &context, ModelErrors &errors,
                                               LargeWeights weights) {
  context.loadDialect<tok::TokDialect, func::FuncDialect>();
  // An attempt that fails may tell which values it wants; each has more of them than the one before.
  for (size_t wanted = 0;;) {
    errors.clear();
    std::optional<ImportedModel> imported =
        ModelImporter(file, inputs, context, errors, weights).import();
    size_t known = 0;
    for (const auto &value : inputs.values)
      known += inputs.wanted.count(value.getKey()) + inputs.wantedSizes.count(value.getKey());
    if (imported || known == wanted)
      return imported;
    wanted = known;
  }
}
