// The models of Debian's libonnx-testdata, which ./dev setup installs: all have to be read, their
// structure has to be found right, and all cells of the tensors beside them are converted.
#include "base/Error.h"
#include "frontend/onnx/file/ModelFile.h"
#include "frontend/onnx/file/SparseCells.h"
#include "frontend/onnx/file/Value.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::onnx;

namespace {

namespace filesystem = std::filesystem;

const filesystem::path data = "/usr/share/libonnx-testdata/data";

// How many cells and strings the value has.
int64_t convert(const Value &value) {
  int64_t count = 0;
  if (value.kind == Type::Kind::Tensor) {
    TensorCells cells(value.tensor, nullptr);
    count = cells.count();
    if (std::optional<ElementType> type = cells.elementType()) {
      std::vector<std::byte> bytes(static_cast<size_t>(count * byteSize(*type)));
      cells.copyTo(bytes.data());
    } else {
      EXPECT_EQ(cells.strings().size(), static_cast<size_t>(count));
    }
  }
  for (const Value &element : value.elements)
    count += convert(element);
  return count;
}

struct Counts {
  int models = 0, values = 0, sequences = 0;
  int64_t nodes = 0, cells = 0;
};

void readValues(const filesystem::path &folder, const char *prefix,
                const std::vector<ValueInfo> &infos, Counts &counts) {
  for (size_t i = 0;; ++i) {
    std::string path = folder / (prefix + std::to_string(i) + ".pb");
    if (!filesystem::exists(path))
      return;
    ASSERT_LT(i, infos.size()) << path;
    MappedFile file(path);
    Value value = readValue({path, file.bytes()}, infos[i].type.kind);
    ++counts.values;
    counts.sequences += value.kind == Type::Kind::Sequence;
    counts.cells += convert(value);
  }
}

void readCase(const filesystem::path &folder, Counts &counts) {
  ModelFile file(folder / "model.onnx");
  ++counts.models;
  const Graph &graph = file.model().graph;
  counts.nodes += static_cast<int64_t>(graph.nodes.size());
  for (const filesystem::directory_entry &entry : filesystem::directory_iterator(folder)) {
    if (!entry.is_directory())
      continue;
    readValues(entry.path(), "input_", graph.inputs, counts);
    readValues(entry.path(), "output_", graph.outputs, counts);
  }
}

} // namespace

TEST(OnnxTestData, isReadAndWellStructured) {
  ASSERT_TRUE(filesystem::exists(data)) << "libonnx-testdata is missing: ./dev setup installs it";
  Counts counts;
  for (const char *suite : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    for (const filesystem::directory_entry &folder : filesystem::directory_iterator(data / suite)) {
      try {
        readCase(folder.path(), counts);
      } catch (const Error &error) {
        ADD_FAILURE() << error.message();
      }
    }
  }
  EXPECT_EQ(counts.models, 1072);
  EXPECT_EQ(counts.nodes, 2512);
  EXPECT_EQ(counts.values, 3205);
  EXPECT_EQ(counts.sequences, 48);
  EXPECT_EQ(counts.cells, 3699559);
}
