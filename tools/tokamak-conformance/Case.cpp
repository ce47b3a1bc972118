#include "tokamak-conformance/Case.h"

#include "base/Error.h"
#include "exec/Program.h"
#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/TensorCells.h"
#include "frontend/onnx/TensorReader.h"
#include "ir/plan/PlanDialect.h"
#include "reference/Interpreter.h"
#include "support/SourceDiagnostics.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace tokamak::conformance {
namespace {

using runtime::Array;
using runtime::ArrayPointer;
using Values = std::vector<runtime::Value>;

// The values of test_data_set_N/PREFIX_0.pb, …
std::vector<onnx::Tensor> readTensors(const std::string &folder, const char *prefix, size_t count,
                                      std::vector<onnx::MappedFile> &files) {
  std::vector<onnx::Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    std::string path = fmt::format("{}/{}_{}.pb", folder, prefix, i);
    files.emplace_back(path);
    tensors.push_back(onnx::readTensor({path, files.back().bytes()}));
  }
  return tensors;
}

// Floats are kept as doubles by the reference.
Values asReferenceHolds(Values values) {
  for (runtime::Value &value : values)
    if (isFloat(value.array()->elementType()))
      value = Array::withElementType(value.array(), ElementType::F64);
  return values;
}

// Of cells of bf16, neighbours are further apart than the tolerance.
bool isClose(double expected, double actual, ElementType type) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual))
    return expected == actual;
  double relative = type == ElementType::BF16 ? 0x1p-7 : 1e-3;
  return std::fabs(expected - actual) <= 1e-7 + relative * std::fabs(expected);
}

// Empty if they agree. `isTyped`: the element types must be the same, too.
std::string difference(const runtime::Value &expected, const runtime::Value &actual, bool isTyped) {
  const Array &left = *expected.array();
  if (!actual.isArray())
    return fmt::format("{} instead of an array", actual.describe());
  const Array &right = *actual.array();
  if (!(left.shape() == right.shape()))
    return fmt::format("[{}] cells instead of [{}]", right.shape().text(), left.shape().text());
  if (isTyped && left.elementType() != right.elementType())
    return fmt::format("cells of {} instead of {}", nameOf(right.elementType()),
                       nameOf(left.elementType()));
  auto x = Array::asDense(Array::withElementType(expected.array(), ElementType::F64)),
       y = Array::asDense(Array::withElementType(actual.array(), ElementType::F64));
  for (int64_t i = 0; i < left.cells(); ++i)
    if (!isClose(x->data()[i], y->data()[i], left.elementType()))
      return fmt::format("cell {} is {} instead of {}", i, y->data()[i], x->data()[i]);
  return {};
}

std::string compare(const Values &expected, const Values &actual, bool isTyped) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::string text = difference(expected[i], actual[i], isTyped); !text.empty())
      return fmt::format("result {}: {}", i + 1, text);
  return {};
}

struct Configuration {
  const char *name;
  fusion::Selector selector;
  bool twoThreads;
};
constexpr Configuration configurations[] = {
    {"no fusion, 1 thread", fusion::Selector::None, false},
    {"no fusion, 2 threads", fusion::Selector::None, true},
    {"fusion, 1 thread", fusion::Selector::Cost, false},
    {"fusion, 2 threads", fusion::Selector::Cost, true},
};

class Case {
public:
  Case(std::string folder, Resources &resources)
      : folder_(std::move(folder)), path_(folder_ + "/model.onnx"), resources_(resources),
        file_(path_), model_(file_.model()), context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<plan::PlanDialect>();
  }

  Outcome run() {
    std::vector<std::string> sets;
    for (const auto &entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("test_data_set_"))
        sets.push_back(entry.path().string());
    if (sets.empty())
      throw Error("the case has no values");
    std::sort(sets.begin(), sets.end());
    if (std::string type = unsupportedType(); !type.empty())
      return {Outcome::Kind::Unsupported, type};
    for (const std::string &set : sets)
      if (Outcome outcome = runSet(set); outcome.kind != Outcome::Kind::Passed)
        return outcome;
    return {};
  }

private:
  Outcome runSet(const std::string &set) {
    std::vector<onnx::MappedFile> files;
    std::vector<onnx::Tensor> inputs = readTensors(set, "input", inputCount(), files),
                              outputs =
                                  readTensors(set, "output", model_.graph.outputs.size(), files);
    std::optional<onnx::ImportedModel> imported;
    onnx::KnownInputs known;
    std::string problem;
    for (const onnx::ValueInfo *input : inputInfos())
      known.ranks[input->name] = static_cast<int64_t>(inputs[numberOf(input->name)].dims.size());
    // Inputs that decide ranks are known to the import; there are not more of them after each try.
    for (bool again = true; again;) {
      known.wanted.clear();
      onnx::ModelErrors errors(path_);
      imported = onnx::importModel(file_, known, context_, errors);
      problem = imported ? "" : errors.messages().front().substr(path_.size() + 2);
      again = false;
      if (!imported)
        for (const onnx::ValueInfo *input : inputInfos())
          if (known.wanted.contains(input->name) && !known.known.contains(input->name)) {
            known.known[input->name] = &inputs[numberOf(input->name)];
            again = true;
          }
    }
    if (!imported)
      return {Outcome::Kind::Unsupported, problem};
    Values arguments, results;
    for (const onnx::ValueInfo *input : imported->inputs)
      arguments.push_back(arrayOf(inputs[numberOf(input->name)], input->type.dataType));
    for (const onnx::Tensor *weight : imported->weights)
      arguments.push_back(arrayOf(*weight, weight->dataType));
    for (size_t i = 0; i < outputs.size(); ++i)
      results.push_back(arrayOf(outputs[i], model_.graph.outputs[i].type.dataType));
    std::string wrong = runAll(*imported->module, arguments, results);
    return {wrong.empty() ? Outcome::Kind::Passed : Outcome::Kind::Failed, wrong};
  }

  // What goes in or comes out and is no array of Tokamak's; empty if all is.
  std::string unsupportedType() const {
    for (const std::vector<onnx::ValueInfo> *infos : {&model_.graph.inputs, &model_.graph.outputs})
      for (const onnx::ValueInfo &info : *infos) {
        if (info.type.kind != onnx::Type::Kind::Tensor)
          return "values that are no tensors are not supported yet";
        if (!onnx::elementTypeOf(info.type.dataType))
          return fmt::format("cells of {} are not supported yet", onnx::nameOf(info.type.dataType));
      }
    return {};
  }

  std::vector<const onnx::ValueInfo *> inputInfos() const {
    std::vector<const onnx::ValueInfo *> inputs;
    for (const onnx::ValueInfo &input : model_.graph.inputs)
      if (std::none_of(model_.graph.initializers.begin(), model_.graph.initializers.end(),
                       [&](const onnx::Tensor &weight) { return weight.name == input.name; }))
        inputs.push_back(&input);
    return inputs;
  }
  size_t inputCount() const { return inputInfos().size(); }
  size_t numberOf(std::string_view name) const {
    std::vector<const onnx::ValueInfo *> inputs = inputInfos();
    return static_cast<size_t>(
        std::find_if(inputs.begin(), inputs.end(),
                     [&](const onnx::ValueInfo *input) { return input->name == name; }) -
        inputs.begin());
  }

  // The cells of a tensor as an array of the runtime. Files of old suites hold 16-bit floats as integers with
  // their bits.
  runtime::Value arrayOf(const onnx::Tensor &tensor, onnx::DataType declared) {
    onnx::TensorCells cells(tensor, &file_.external());
    bool holdsBits =
        declared == onnx::DataType::BFloat16 && tensor.dataType == onnx::DataType::UInt16;
    std::optional<ElementType> element =
        onnx::elementTypeOf(holdsBits ? declared : tensor.dataType);
    if (!element)
      throw Error(fmt::format("values of {}", onnx::nameOf(tensor.dataType)));
    ArrayPointer array = Array::create(
        runtime::Shape(std::span<const int64_t>(tensor.dims.data(), tensor.dims.size())), *element);
    cells.copyTo(array->mutableBytes());
    return array;
  }

  std::string runAll(mlir::ModuleOp module, const Values &inputs, const Values &outputs) {
    runtime::ExecutionContext context;
    context.scheduler = &resources_.one;
    Values results = reference::Interpreter(module, context).call("main", asReferenceHolds(inputs));
    if (std::string wrong = compare(outputs, results, false); !wrong.empty())
      return "reference: " + wrong;
    for (const Configuration &configuration : configurations)
      if (std::string wrong = compare(outputs, runNative(module, inputs, configuration), true);
          !wrong.empty())
        return fmt::format("{}: {}", configuration.name, wrong);
    return {};
  }

  Values runNative(mlir::ModuleOp module, const Values &inputs,
                   const Configuration &configuration) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
    exec::ProgramOptions options;
    options.selector = configuration.selector;
    options.kernels = &resources_.kernels;
    std::unique_ptr<exec::Program> program;
    support::DiagnosticEngine diagnostics;
    {
      support::MlirDiagnosticForwarder forwarder(&context_, diagnostics);
      program = exec::Program::compile(*copy, options);
    }
    if (!program)
      throw Error(diagnostics.sorted().empty() ? "rejected"
                                               : diagnostics.sorted().front()->message);
    runtime::ExecutionContext context;
    context.scheduler = configuration.twoThreads ? &resources_.two : &resources_.one;
    return program->call("main", inputs, context);
  }

  const std::string folder_, path_;
  Resources &resources_;
  onnx::ModelFile file_;
  const onnx::Model &model_;
  mlir::MLIRContext context_;
};

} // namespace

Outcome runCase(const std::string &folder, Resources &resources) {
  try {
    return Case(folder, resources).run();
  } catch (const Error &error) {
    return {Outcome::Kind::Failed, error.message()};
  } catch (const std::exception &error) {
    return {Outcome::Kind::Failed, error.what()};
  }
}

} // namespace tokamak::conformance
