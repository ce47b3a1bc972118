#include "tokamak-fuzz/ModelProgram.h"

#include "api/TensorArrays.h"
#include "base/Error.h"
#include "frontend/onnx/ImportModel.h"
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/testing/TestFolder.h"
#include "tokamak-fuzz/MessageTree.h"

#include <algorithm>
#include <deque>

namespace tokamak::fuzz {
namespace {

// What a model is refused for.
struct Refusal {
  std::string why;
};

// The values of inputs, taken out of the graph.
std::vector<std::string> takeValues(Field &model) {
  std::vector<std::string> values;
  for (Field *graph : fieldsOf(model, 7)) {
    std::vector<std::string> inputs;
    for (Field *input : fieldsOf(*graph, 11))
      inputs.push_back(textOf(*input, 1));
    std::erase_if(graph->fields, [&](Field &field) {
      bool isValue = field.number == 5 && std::ranges::count(inputs, textOf(field, 8)) > 0;
      if (isValue)
        values.push_back(bytesOf(field));
      return isValue;
    });
  }
  return values;
}

// Whether the value is one that the input may have, as `tokamak run` demands.
bool suits(const onnx::ValueInfo &input, const onnx::Tensor &value) {
  if (input.type.dataType != value.dataType)
    return false;
  if (!input.type.shape)
    return true;
  if (input.type.shape->size() != value.dims.size())
    return false;
  for (size_t i = 0; i < value.dims.size(); ++i)
    if (const auto *size = std::get_if<int64_t>(&(*input.type.shape)[i]);
        size && *size > 0 && *size != value.dims[i])
      return false;
  return true;
}

runtime::Value argument(const onnx::Tensor &tensor, onnx::ExternalData *external) {
  try {
    return api::arrayOf(tensor, external);
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      throw;
    throw Refusal{error.message()};
  }
}

std::optional<onnx::ImportedModel>
import(onnx::ModelFile &file, const std::deque<onnx::Tensor> &values, mlir::MLIRContext &context) {
  onnx::ModelErrors errors(file.path());
  onnx::KnownInputs known;
  for (const onnx::ValueInfo *input : onnx::inputsWithoutValue(file.model().graph))
    for (const onnx::Tensor &value : values)
      if (value.name == input->name) {
        if (!suits(*input, value))
          throw Refusal{"a value does not suit its input"};
        known.values[input->name] = &value;
      }
  std::optional<onnx::ImportedModel> imported = onnx::importModel(file, known, context, errors);
  if (!imported)
    errors.throwIfAny();
  return imported;
}

} // namespace

ModelProgram importModelProgram(const std::string &bytes, mlir::MLIRContext &context) {
  Field model = readMessage(bytes, MessageKind::Model);
  std::vector<std::string> values = takeValues(model);
  onnx::testing::TestFolder folder;
  folder.write("model.onnx", bytesOf(model));
  const std::string path = folder.path("model.onnx");
  ModelProgram program;
  try {
    onnx::ModelFile file(path);
    std::deque<onnx::Tensor> tensors;
    for (const std::string &value : values)
      tensors.push_back(onnx::readTensor({path, value}));
    std::optional<onnx::ImportedModel> imported = import(file, tensors, context);
    for (const onnx::ValueInfo *input : imported->inputs) {
      auto value = std::ranges::find(tensors, input->name, &onnx::Tensor::name);
      if (value == tensors.end())
        throw Refusal{"an input has no value"};
      program.inputs.push_back(argument(*value, nullptr));
    }
    for (const onnx::Tensor *weight : imported->weights)
      program.weights.push_back(argument(*weight, &file.external()));
    program.module = std::move(imported->module);
  } catch (const Refusal &refusal) {
    program.refusal = refusal.why;
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal || !error.message().starts_with(path + ": "))
      throw;
    program.refusal = error.message().substr(path.size() + 2);
  }
  return program;
}

} // namespace tokamak::fuzz
