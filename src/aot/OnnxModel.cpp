#include "aot/OnnxModel.h"

#include "base/Error.h"
#include "base/PlaceText.h"
#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/TensorCells.h"
#include "frontend/onnx/file/TypeText.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/SizesAttribute.h"
#include "support/SourceDiagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;
using onnx::ValueInfo;

static ElementType cellsOf(const ValueInfo &value, mlir::Type type) {
  std::optional<ElementType> declared = onnx::heldElementTypeOf(value.type.dataType);
  return declared ? *declared : *tok::elementTypeOf(llvm::cast<mlir::RankedTensorType>(type));
}

// "TOKAMAK_F32", as the header of models names it.
static std::string nameInC(ElementType type) {
  static constexpr const char *names[] = {"F64", "F32", "F16", "BF16", "I8",  "I16", "I32",
                                          "I64", "U8",  "U16", "U32",  "U64", "BOOL"};
  static_assert(std::size(names) == elementTypeCount);
  return std::string("TOKAMAK_") + names[static_cast<int>(type)];
}

static ModelValue tensor(const ValueInfo &value, mlir::Type type) {
  ModelValue made{onnx::printableName(value.name), TOK_MODEL_TENSOR, onnx::typeText(value.type)};
  made.cells = cellsOf(value, type);
  made.sizes.assign(llvm::cast<mlir::RankedTensorType>(type).getRank(), -1);
  made.comment += fmt::format(": {} of {} dimension{}", nameInC(made.cells), made.sizes.size(),
                              made.sizes.size() == 1 ? "" : "s");
  return made;
}

// The model relies on sizes that its file says: calls must have them.
static std::vector<ExpectedShapes::Declared> declaredSizes(const ValueInfo &input, size_t rank) {
  std::vector<ExpectedShapes::Declared> declared(rank);
  if (input.type.shape && input.type.shape->size() == rank)
    for (auto [made, dimension] : llvm::zip_equal(declared, *input.type.shape)) {
      if (const auto *size = std::get_if<int64_t>(&dimension); size && *size > 0)
        made.size = *size;
      else if (const auto *name = std::get_if<std::string_view>(&dimension))
        made.name = *name;
    }
  return declared;
}

static ModelWeight weightOf(const onnx::Tensor &tensor, onnx::ExternalData *external) {
  onnx::TensorCells cells(tensor, external);
  ModelWeight weight{*cells.elementType(), tensor.dims, {}};
  weight.cells.resize(static_cast<size_t>(cells.count() * byteSize(weight.type)));
  cells.copyTo(reinterpret_cast<std::byte *>(weight.cells.data()));
  return weight;
}

static void refuseLists(const onnx::ModelFile &file) {
  for (const ValueInfo &output : file.model().graph.outputs)
    if (output.type.kind != onnx::Type::Kind::Tensor)
      throw Error(fmt::format("{}: the output {} is {}; compiled models take and give tensors",
                              file.path(), onnx::quotedName(output.name),
                              onnx::typeText(output.type)));
}

// Places are names of nodes.
static Error errorOf(const support::DiagnosticEngine &diagnostics) {
  std::vector<std::string> lines;
  for (const support::Diagnostic *diagnostic : diagnostics.sorted())
    lines.push_back(placeText({diagnostic->file, static_cast<int>(diagnostic->line), 0}) + ": " +
                    diagnostic->message);
  return Error(fmt::format("{}", fmt::join(lines, "\n")));
}

Model aot::compileOnnx(const ModelOptions &options, exec::ObjectKeeper &objects) {
  onnx::ModelFile file(options.script.path);
  refuseLists(file);
  ExpectedShapes shapes(options.shapes);
  std::vector<std::string> names;
  for (const ValueInfo *input : onnx::inputsWithoutValue(file.model().graph))
    names.emplace_back(input->name);
  shapes.checkNames(names);

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<plan::PlanDialect>();
  context.printOpOnDiagnostic(false);
  onnx::KnownInputs inputs;
  onnx::ModelErrors errors(file.path());
  std::optional<onnx::ImportedModel> imported = onnx::importModel(file, inputs, context, errors);
  if (!imported) {
    errors.throwIfAny();
    internalError("a model could not be imported");
  }
  auto main = *imported->module->getOps<mlir::func::FuncOp>().begin();
  ModelEntry entry{"main", {}, {}, {}, {}, {}, {}};
  for (auto [number, input] : llvm::enumerate(imported->inputs)) {
    ModelValue value = tensor(*input, main.getArgumentTypes()[number]);
    auto declared = declaredSizes(*input, value.sizes.size());
    std::vector<Size> sizes = shapes.of(std::string(input->name), declared);
    for (auto [size, known] : llvm::zip_equal(value.sizes, declared))
      size = known.size;
    main.setArgAttr(number, tok::expectedSizesAttributeName, tok::sizesAttribute(&context, sizes));
    if (!sizes.empty())
      value.comment +=
          fmt::format(", planned for {}", fmt::join(llvm::map_range(sizes, sizeText), " x "));
    entry.parameters.push_back(std::move(value));
  }
  for (auto [output, type] : llvm::zip_equal(imported->results, main.getResultTypes()))
    entry.results.push_back(tensor(*output, type));
  for (const onnx::Tensor *weight : imported->weights)
    entry.weights.push_back(weightOf(*weight, &file.external()));

  ModelBuilder builder(options, objects);
  support::DiagnosticEngine diagnostics;
  support::MlirDiagnosticForwarder forwarder(&context, diagnostics);
  if (!builder.add(std::move(entry), *imported->module))
    throw errorOf(diagnostics);
  return builder.take();
}
