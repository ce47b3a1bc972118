#include "frontend/onnx/file/ExternalData.h"

#include "frontend/onnx/file/ModelFile.h"
#include "frontend/onnx/file/OpenBeneath.h"
#include "frontend/onnx/file/TensorCells.h"
#include "frontend/onnx/file/TensorReader.h"
#include "frontend/onnx/testing/Messages.h"
#include "frontend/onnx/testing/ModelWriter.h"
#include "frontend/onnx/testing/TestFolder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace tokamak;
using namespace tokamak::onnx;
using namespace tokamak::onnx::testing;

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

class OnnxExternalData : public ::testing::Test {
protected:
  void SetUp() override {
    folder.write("secret.bin", "0123456789abcdef");
    folder.write("model/weights.bin", "0123456789abcdef");
    folder.write("model/sub/part.bin", "01234567");
    std::filesystem::create_symlink("weights.bin", folder.path("model/link.bin"));
    std::filesystem::create_symlink("sub", folder.path("model/linked"));
    std::filesystem::create_symlink("../secret.bin", folder.path("model/out.bin"));
    folder.write("model/twice.bin", "01234567");
    std::filesystem::create_hard_link(folder.path("model/twice.bin"), folder.path("elsewhere.bin"));
    mkfifo(folder.path("model/pipe").c_str(), 0600);
  }

  // The cells of a tensor of bytes, or what is wrong with them.
  std::string cellsOf(int64_t size, const Entries &entries) {
    std::string message = externalTensor("w", DataType::UInt8, {size}, entries);
    Tensor tensor = readTensor({"x.pb", message});
    ExternalData external(folder.path("model/model.onnx"));
    std::string cells;
    std::string wrong = messageOf([&] { cells = TensorCells(tensor, &external).inPlace(); });
    return wrong.empty() ? cells : wrong;
  }

  TestFolder folder;
};

} // namespace

TEST_F(OnnxExternalData, readsFilesBeneathTheModel) {
  EXPECT_EQ(cellsOf(16, {{"location", "weights.bin"}}), "0123456789abcdef");
  EXPECT_EQ(cellsOf(6, {{"location", "weights.bin"}, {"offset", "10"}}), "abcdef");
  EXPECT_EQ(cellsOf(2, {{"location", "./weights.bin"}, {"offset", "3"}, {"length", "2"}}), "34");
  EXPECT_EQ(cellsOf(8, {{"location", "sub/part.bin"}, {"basepath", "ignored"}}), "01234567");
  EXPECT_EQ(cellsOf(0, {{"location", "weights.bin"}, {"offset", "16"}, {"length", "0"}}), "");
}

TEST_F(OnnxExternalData, checksSums) {
  const std::string sum = "fe5567e8d769550852182cdf69d74bb16dff8e29"; // sha1sum weights.bin
  EXPECT_EQ(cellsOf(16, {{"location", "weights.bin"}, {"checksum", sum}}), "0123456789abcdef");
  EXPECT_EQ(cellsOf(16, {{"location", "weights.bin"}, {"checksum", "FE" + sum.substr(2)}}),
            "0123456789abcdef");
  EXPECT_EQ(cellsOf(16, {{"location", "weights.bin"}, {"checksum", "00" + sum.substr(2)}}),
            "external data 'weights.bin': its SHA-1 checksum is " + sum +
                ", but the model says '00" + sum.substr(2) + "'");
}

TEST_F(OnnxExternalData, staysInFiles) {
  EXPECT_EQ(cellsOf(16, {{"location", "weights.bin"}, {"offset", "17"}}),
            "external data 'weights.bin': its cells begin at byte 17, but the file has 16 bytes");
  EXPECT_EQ(
      cellsOf(16, {{"location", "weights.bin"}, {"offset", "1"}, {"length", "16"}}),
      "external data 'weights.bin': its cells are 16 bytes from byte 1 on, but the file has 16 "
      "bytes");
  EXPECT_EQ(
      cellsOf(16,
              {{"location", "weights.bin"}, {"offset", "8"}, {"length", "18446744073709551615"}}),
      "external data 'weights.bin': its cells are 18446744073709551615 bytes from byte 8 on, "
      "but the file has 16 bytes");
  EXPECT_EQ(cellsOf(INT64_MAX, {{"location", "weights.bin"}}),
            "its shape [9223372036854775807] of uint8 needs 9223372036854775807 bytes, but its "
            "external data has 16");
  EXPECT_EQ(cellsOf(1, {{"location", "weights.bin"}, {"offset", "18446744073709551616"}}),
            "the offset of its external data is '18446744073709551616', but must be a number of "
            "bytes");
  EXPECT_EQ(cellsOf(1, {{"location", "weights.bin"}, {"offset", "-1"}}),
            "the offset of its external data is '-1', but must be a number of bytes");
  EXPECT_EQ(cellsOf(1, {{"location", "weights.bin"}, {"length", "1k"}}),
            "the length of its external data is '1k', but must be a number of bytes");
  EXPECT_EQ(cellsOf(1, {{"offset", "1"}}), "its external data has no entry 'location'");
  EXPECT_EQ(cellsOf(1, {{"location", "a"}, {"location", "b"}}),
            "its external data has two entries 'location'");
}

TEST_F(OnnxExternalData, opensNothingElse) {
  EXPECT_EQ(cellsOf(16, {{"location", "../secret.bin"}}),
            "external data '../secret.bin': its location has a '..', but must lie beneath the "
            "model's folder");
  EXPECT_EQ(cellsOf(16, {{"location", "sub/../weights.bin"}}),
            "external data 'sub/../weights.bin': its location has a '..', but must lie beneath the "
            "model's folder");
  EXPECT_EQ(cellsOf(16, {{"location", folder.path("secret.bin")}}),
            "external data '" + folder.path("secret.bin") +
                "': its location is an absolute path, but must lie beneath the model's folder");
  EXPECT_EQ(cellsOf(16, {{"location", std::string("weights.bin\0.txt", 16)}}),
            "external data 'weights.bin\\x00.txt': its location has a zero byte");
  EXPECT_EQ(cellsOf(16, {{"location", ""}}), "external data '': its location is empty");
  EXPECT_EQ(cellsOf(16, {{"location", "."}}), "external data '.': its location is a folder");
}

// Both ways of walking along a path refuse the same.
TEST_F(OnnxExternalData, walksAlongPathsSafely) {
  int model = open(folder.path("model").c_str(), O_PATH | O_DIRECTORY);
  ASSERT_GE(model, 0);
  for (PathWalk walk : {PathWalk::Kernel, PathWalk::Folders}) {
    auto opening = [&](const std::string &location) {
      int file = -1;
      std::string wrong = messageOf([&] { file = openBeneath(model, location, walk); });
      if (file >= 0)
        close(file);
      return wrong;
    };
    EXPECT_EQ(opening("weights.bin"), "");
    EXPECT_EQ(opening("sub//./part.bin"), "");
    EXPECT_EQ(opening("link.bin"), "a symbolic link leads to it");
    EXPECT_EQ(opening("out.bin"), "a symbolic link leads to it");
    EXPECT_EQ(opening("linked/part.bin"), "a symbolic link leads to it");
    EXPECT_EQ(opening("twice.bin"), "it has 2 names (hard links), but must have one");
    EXPECT_EQ(opening("sub"), "it is a folder");
    EXPECT_EQ(opening("pipe"), "it is no regular file");
    EXPECT_EQ(opening("missing.bin"), "no such file");
    EXPECT_EQ(opening("weights.bin/part.bin"),
              "a file stands in its path where a folder is needed");
  }
  // Links that only the kernel makes.
  int system = open("/proc/self", O_PATH | O_DIRECTORY);
  ASSERT_GE(system, 0);
  for (PathWalk walk : {PathWalk::Kernel, PathWalk::Folders})
    EXPECT_EQ(messageOf([&] { openBeneath(system, "exe", walk); }), "a symbolic link leads to it");
  int devices = open("/dev", O_PATH | O_DIRECTORY);
  ASSERT_GE(devices, 0);
  for (PathWalk walk : {PathWalk::Kernel, PathWalk::Folders})
    EXPECT_EQ(messageOf([&] { openBeneath(devices, "zero", walk); }), "it is no regular file");
  for (int folder : {model, system, devices})
    close(folder);
}

TEST_F(OnnxExternalData, isPartOfModels) {
  auto write = [&](const Entries &entries) {
    Message weights = externalTensor("w", DataType::UInt8, {16}, entries);
    folder.write("model/model.onnx",
                 model({.graph = graph({.nodes = {node({"Identity", {"w"}, {"y"}})},
                                        .initializers = {weights},
                                        .outputs = {valueInfo("y")}})}));
  };
  std::string path = folder.path("model/model.onnx");
  write({{"location", "weights.bin"}});
  ModelFile file(path);
  const Tensor &weights = file.model().graph.initializers.at(0);
  std::string_view bytes = TensorCells(weights, &file.external()).inPlace();
  EXPECT_EQ(bytes, "0123456789abcdef");
  // Mapped, and once.
  EXPECT_EQ(TensorCells(weights, &file.external()).inPlace().data(), bytes.data());

  write({{"location", "missing.bin"}});
  EXPECT_EQ(messageOf([&] { ModelFile again(path); }),
            path + ": initializer 'w': external data 'missing.bin': no such file");
}

TEST_F(OnnxExternalData, readsRegularModelsOnly) {
  EXPECT_EQ(messageOf([&] { ModelFile file(folder.path("model/pipe")); }),
            folder.path("model/pipe") + ": it is no regular file");
  EXPECT_EQ(messageOf([&] { ModelFile file(folder.path("model")); }),
            folder.path("model") + ": it is a folder");
  EXPECT_EQ(messageOf([&] { ModelFile file(folder.path("model/wieghts.bin")); }),
            folder.path("model/wieghts.bin") + ": no such file; did you mean '" +
                folder.path("model/weights.bin") + "'?");
  EXPECT_EQ(messageOf([&] { ModelFile file("/dev/zero"); }), "/dev/zero: it is no regular file");
  folder.write("empty.onnx", "");
  EXPECT_EQ(messageOf([&] { ModelFile file(folder.path("empty.onnx")); }),
            folder.path("empty.onnx") +
                ": it is no ONNX model: it has neither an IR version nor nodes");
}
