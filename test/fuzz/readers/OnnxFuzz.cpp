// Fuzzes the reader of ONNX models: all bytes must become either a model whose structure holds or
// error messages. The same bytes are also read as a tensor and as a sequence, whose cells are
// converted.
#include "base/Error.h"
#include "frontend/onnx/file/ModelReader.h"
#include "frontend/onnx/file/ModelStructure.h"
#include "frontend/onnx/file/TensorCells.h"
#include "frontend/onnx/file/Value.h"

#include <cstdio>
#include <cstdlib>

using namespace tokamak;
using namespace tokamak::onnx;

// Runs what may throw an Error, but nothing else and none that is internal.
template <typename Run> static void expectErrors(const Run &run) {
  try {
    run();
  } catch (const Error &error) {
    bool isLocated = error.kind() != ErrorKind::Internal && !error.message().empty();
    if (!isLocated) {
      std::fprintf(stderr, "%s\n", error.what());
      std::abort();
    }
  }
}

static void convert(const Tensor &tensor) {
  expectErrors([&] {
    TensorCells cells(tensor, nullptr);
    std::optional<ElementType> type = cells.elementType();
    auto count = static_cast<size_t>(cells.count());
    if (!type && cells.strings().size() != count)
      std::abort();
    if (!type)
      return;
    std::vector<std::byte> bytes(count * static_cast<size_t>(byteSize(*type)));
    cells.copyTo(bytes.data());
    if (!cells.inPlace().empty() && cells.inPlace().size() != bytes.size())
      std::abort();
  });
}

// Nodes of a graph that was found right stand behind those they need.
static void checkOrder(const Graph &graph) {
  std::vector<std::string_view> defined;
  for (const ValueInfo &input : graph.inputs)
    defined.push_back(input.name);
  for (const Tensor &tensor : graph.initializers)
    defined.push_back(tensor.name);
  for (const SparseTensor &tensor : graph.sparseInitializers)
    defined.push_back(tensor.values.name);
  for (const Node &node : graph.nodes) {
    for (std::string_view name : node.inputs)
      if (!name.empty() && std::find(defined.begin(), defined.end(), name) == defined.end())
        std::abort();
    defined.insert(defined.end(), node.outputs.begin(), node.outputs.end());
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  Source source = {"x.onnx", bytes};
  expectErrors([&] {
    Model model = readModel(source);
    for (const Tensor &tensor : model.graph.initializers)
      convert(tensor);
    ModelErrors errors(source.path);
    verifyStructure(model, nullptr, errors);
    if (errors.empty())
      checkOrder(model.graph);
  });
  expectErrors([&] { convert(readTensor(source)); });
  expectErrors([&] {
    for (const Value &element : readValue(source, Type::Kind::Sequence).elements)
      convert(element.tensor);
  });
  return 0;
}
