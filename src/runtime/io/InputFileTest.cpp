#include "runtime/io/InputFile.h"

#include "runtime/io/MatrixReader.h"
#include "runtime/io/TextSource.h"
#include "runtime/natives/NativeTesting.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

struct NumbersFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tokamak-input-" + std::to_string(getpid())))
          .string();
  explicit NumbersFile(int rows) {
    std::ofstream file(path);
    for (int i = 0; i < rows; ++i)
      file << i << ".5,1\n";
  }
  ~NumbersFile() { std::filesystem::remove(path); }
};

const char *const vanished =
    ": its bytes vanished while it was read: the file became shorter, or the disk failed";

} // namespace

TEST(InputFile, readsFilesWithoutSize) {
  std::string status(InputFile("/proc/self/status").bytes());
  EXPECT_TRUE(status.starts_with("Name:")) << status;
  EXPECT_EQ(InputFile("/dev/null").bytes(), "");
}

TEST(InputFile, readsPipes) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tokamak-pipe-" + std::to_string(getpid())))
          .string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string text(300000, 'x');
  std::thread writer([&] { std::ofstream(path) << text; });
  EXPECT_EQ(InputFile(path).bytes(), text);
  writer.join();
  std::filesystem::remove(path);
}

TEST(InputFile, saysWhyAFileCannotBeRead) {
  EXPECT_EQ(errorOf([] { InputFile("/nowhere/x"); }),
            "/nowhere/x: no such file; there is no folder '/nowhere'");
  EXPECT_EQ(errorOf([] { InputFile("/tmp"); }), "/tmp: it is a folder");
  EXPECT_EQ(errorOf([] { InputFile("/dev/zero"); }),
            "/dev/zero: it is a device, whose bytes may have no end");
  EXPECT_EQ(InputFile("/dev/null").bytes(), "");
}

TEST(InputFile, survivesAFileThatBecomesShorter) {
  NumbersFile numbers(100000);
  InputFile first(numbers.path), second(numbers.path);
  EXPECT_EQ(errorOf([&] { first.checkWhole(); }), "no error");
  std::filesystem::resize_file(numbers.path, 10);
  EXPECT_EQ(first.bytes().back(), '\0');
  EXPECT_EQ(errorOf([&] { first.checkWhole(); }), numbers.path + vanished);
  EXPECT_EQ(errorOf([&] { second.checkWhole(); }), "no error"); // its bytes have not been read
}

TEST(InputFile, readersReportAFileThatBecomesShorter) {
  NumbersFile numbers(200000);
  ExecutionContext context;
  TextSource source(numbers.path);
  std::filesystem::resize_file(numbers.path, 5000);
  MatrixFile file{.path = numbers.path, .format = "csv"};
  EXPECT_EQ(errorOf([&] { readMatrix(file, source, context); }), numbers.path + vanished);
}
