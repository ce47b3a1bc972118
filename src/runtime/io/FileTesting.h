// Files for tests: what SystemDS wrote, and what a writer writes, as bytes.
//
//   std::string bytes = systemdsFile("dense.bin");        // test/scripts/files/data/systemds
//   writtenFile([&](FileWriter &file) { file.write("1,2\n"); }) == "1,2\n"
#ifndef TOKAMAK_RUNTIME_IO_FILETESTING_H
#define TOKAMAK_RUNTIME_IO_FILETESTING_H

#include "base/Error.h"
#include "runtime/io/FileWriter.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace tokamak::runtime::testing {

inline std::string bytesOfFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Error(fmt::format("{}: cannot be read; tests run in the root of the repository", path));
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::string systemdsFile(const std::string &name) {
  return bytesOfFile("test/scripts/files/data/systemds/" + name);
}

// What `write(file)` writes. Its name ends in `ending`.
template <typename Write>
std::string writtenFile(const Write &write, const std::string &ending = "") {
  std::string path = (std::filesystem::temp_directory_path() /
                      fmt::format("tokamak-written-{}{}", getpid(), ending))
                         .string();
  FileWriter file(path);
  write(file);
  file.commit();
  std::string bytes = bytesOfFile(path);
  std::filesystem::remove(path);
  return bytes;
}

} // namespace tokamak::runtime::testing
#endif
