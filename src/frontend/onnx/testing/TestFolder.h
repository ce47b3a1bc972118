// A folder for the files of one test, which disappears with the object.
//
//   TestFolder folder;
//   folder.write("weights.bin", "12345678");
//   MappedFile file(folder.path("weights.bin"));
//
#ifndef TOKAMAK_FRONTEND_ONNX_TESTING_TESTFOLDER_H
#define TOKAMAK_FRONTEND_ONNX_TESTING_TESTFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tokamak::onnx::testing {

class TestFolder {
public:
  TestFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "tokamak-onnx-XXXXXX";
    if (!mkdtemp(pattern.data()))
      throw std::runtime_error("no temporary folder could be made");
    folder_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(folder_); }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;

  std::string path(const std::string &name) const { return folder_ / name; }
  // Makes the folders in the name, too.
  void write(const std::string &name, const std::string &bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

private:
  std::filesystem::path folder_;
};

} // namespace tokamak::onnx::testing
#endif
