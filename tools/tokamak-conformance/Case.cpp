#include "tokamak-conformance/Case.h"

#include "api/TensorArrays.h"
#include "base/Error.h"
#include "exec/Program.h"
#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/file/TensorReader.h"
#include "ir/plan/PlanDialect.h"
#include "reference/Interpreter.h"
#include "support/SourceDiagnostics.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <span>

namespace tokamak::conformance {
namespace {

using runtime::Array;
using runtime::ArrayPointer;
using Values = std::vector<runtime::Value>;

struct Arguments {
  Values inputs, weights;
};

// A value's tensors. Files of old suites hold cells of bf16 as integers with their bits.
void collectTensors(onnx::Value &value, const onnx::Type &type,
                    std::vector<onnx::Tensor *> &tensors) {
  if (value.kind == onnx::Type::Kind::Tensor) {
    tensors.push_back(&value.tensor);
    if (type.dataType == onnx::DataType::BFloat16 &&
        value.tensor.dataType == onnx::DataType::UInt16)
      value.tensor.dataType = onnx::DataType::BFloat16;
  }
  for (onnx::Value &element : value.elements)
    collectTensors(element, type, tensors);
}

// The values of test_data_set_N/PREFIX_0.pb, …
std::vector<onnx::Value> readValues(const std::string &folder, const char *prefix,
                                    const std::vector<const onnx::ValueInfo *> &infos,
                                    std::vector<onnx::MappedFile> &files) {
  std::vector<onnx::Value> values;
  for (const onnx::ValueInfo *info : infos) {
    std::string path = fmt::format("{}/{}_{}.pb", folder, prefix, values.size());
    files.emplace_back(path);
    values.push_back(onnx::readValue({path, files.back().bytes()}, info->type.kind));
  }
  return values;
}

// What a result may be off by: a share of its largest cell, or else what ONNX's runner grants.
using ShareOfLargest = std::optional<double>;

struct Tolerance {
  double absolute, relative;
};

// `expected`: the same cells as doubles. Cells of bf16 may be off by two: neighbours are further apart than 1e-3.
Tolerance toleranceFor(ElementType type, std::span<const double> expected, ShareOfLargest share) {
  if (!share)
    return {1e-7, type == ElementType::BF16 ? 0x1p-6 : 1e-3};
  double largest = 0;
  for (double cell : expected)
    if (std::isfinite(cell))
      largest = std::max(largest, std::fabs(cell));
  return {*share * largest, 0};
}

bool isClose(double expected, double actual, Tolerance tolerance) {
  if (std::isnan(expected) || std::isnan(actual))
    return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual))
    return expected == actual;
  return std::fabs(expected - actual) <=
         tolerance.absolute + tolerance.relative * std::fabs(expected);
}

// Empty if they agree. `isTyped`: the element types must be the same, too.
std::string difference(const runtime::Value &expected, const runtime::Value &actual, bool isTyped,
                       ShareOfLargest share) {
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
  auto cells = static_cast<size_t>(left.cells());
  Tolerance tolerance = toleranceFor(left.elementType(), {x->data(), cells}, share);
  for (size_t i = 0; i < cells; ++i)
    if (!isClose(x->data()[i], y->data()[i], tolerance))
      return fmt::format("cell {} is {} instead of {}", i, y->data()[i], x->data()[i]);
  return {};
}

std::string compare(const Values &expected, const Values &actual, bool isTyped,
                    ShareOfLargest share) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::string text = difference(expected[i], actual[i], isTyped, share); !text.empty())
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
  Case(std::string folder, Resources &resources, ShareOfLargest share)
      : folder_(std::move(folder)), path_(folder_ + "/model.onnx"), resources_(resources),
        share_(share), file_(path_), model_(file_.model()),
        inputs_(onnx::inputsWithoutValue(model_.graph)),
        context_(mlir::MLIRContext::Threading::DISABLED) {
    for (const onnx::ValueInfo &output : model_.graph.outputs)
      outputs_.push_back(&output);
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
    std::vector<onnx::Value> inputs = readValues(set, "input", inputs_, files),
                             outputs = readValues(set, "output", outputs_, files);
    onnx::KnownInputs known;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<onnx::Tensor *> tensors;
      collectTensors(inputs[i], inputs_[i]->type, tensors);
      if (inputs_[i]->type.kind == onnx::Type::Kind::Tensor)
        known.values[inputs_[i]->name] = tensors.front();
      else
        known.lists[inputs_[i]->name] = &inputs[i];
    }
    onnx::ModelErrors errors(path_);
    std::optional<onnx::ImportedModel> imported = onnx::importModel(file_, known, context_, errors);
    if (!imported)
      return {Outcome::Kind::Unsupported, errors.messages().front().substr(path_.size() + 2)};
    Arguments arguments;
    Values results;
    for (const onnx::ValueInfo *input : imported->inputs)
      arguments.inputs.emplace_back(api::arrayOf(*known.values[input->name], &file_.external()));
    for (const onnx::Tensor *weight : imported->weights)
      arguments.weights.emplace_back(api::arrayOver(*weight, &file_.external()));
    std::vector<const onnx::ValueInfo *> owners;
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::vector<onnx::Tensor *> tensors;
      collectTensors(outputs[i], outputs_[i]->type, tensors);
      for (const onnx::Tensor *tensor : tensors)
        results.emplace_back(api::arrayOf(*tensor, &file_.external()));
      owners.insert(owners.end(), tensors.size(), outputs_[i]);
    }
    if (owners != imported->results)
      return {Outcome::Kind::Failed, "sequences have other lengths"};
    std::string wrong = runAll(*imported->module, arguments, results);
    return {wrong.empty() ? Outcome::Kind::Passed : Outcome::Kind::Failed, wrong};
  }

  // What goes in or comes out and is no array of Tokamak's; empty if all is.
  std::string unsupportedType() const {
    for (const std::vector<onnx::ValueInfo> *infos : {&model_.graph.inputs, &model_.graph.outputs})
      for (const onnx::ValueInfo &info : *infos) {
        const onnx::Type *type = &info.type;
        while (type->element)
          type = type->element.get();
        if (!onnx::heldElementTypeOf(type->dataType))
          return fmt::format("cells of {} are not supported yet", onnx::nameOf(type->dataType));
      }
    return {};
  }

  std::string runAll(mlir::ModuleOp module, const Arguments &arguments, const Values &outputs) {
    runtime::ExecutionContext context;
    context.scheduler = &resources_.one;
    Values all = arguments.inputs;
    llvm::append_range(all, arguments.weights);
    Values results =
        reference::Interpreter(module, context).call("main", api::asReferenceHolds(all));
    if (std::string wrong = compare(outputs, results, false, share_); !wrong.empty())
      return "reference: " + wrong;
    for (const Configuration &configuration : configurations)
      if (std::string wrong =
              compare(outputs, runNative(module, arguments, configuration), true, share_);
          !wrong.empty())
        return fmt::format("{}: {}", configuration.name, wrong);
    return {};
  }

  Values runNative(mlir::ModuleOp module, const Arguments &arguments,
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
    program->holdWeights(arguments.weights, context);
    return program->call("main", arguments.inputs, context);
  }

  const std::string folder_, path_;
  Resources &resources_;
  const ShareOfLargest share_;
  onnx::ModelFile file_;
  const onnx::Model &model_;
  const std::vector<const onnx::ValueInfo *> inputs_;
  std::vector<const onnx::ValueInfo *> outputs_;
  mlir::MLIRContext context_;
};

} // namespace

Outcome runCase(const std::string &folder, Resources &resources, ShareOfLargest share) {
  try {
    return Case(folder, resources, share).run();
  } catch (const Error &error) {
    return {Outcome::Kind::Failed, error.message()};
  } catch (const std::exception &error) {
    return {Outcome::Kind::Failed, error.what()};
  }
}

} // namespace tokamak::conformance
