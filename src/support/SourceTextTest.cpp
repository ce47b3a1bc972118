#include "support/SourceText.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tokamak::support;

namespace {

struct SourceText : testing::Test {
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("source-text-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
  std::string reason;
};

} // namespace

TEST_F(SourceText, isReadFromFilesAndPipes) {
  std::string text(200000, 'x');
  std::ofstream(folder / "a.dml") << text;
  EXPECT_EQ(readSourceText(folder / "a.dml", reason), text);
  std::ofstream(folder / "empty.dml") << "";
  EXPECT_EQ(readSourceText(folder / "empty.dml", reason), "");
  std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << text; });
  EXPECT_EQ(readSourceText(pipe, reason), text);
  writer.join();
}

TEST_F(SourceText, hasAReasonWhereThereIsNone) {
  EXPECT_EQ(readSourceText(folder / "b.dml", reason), std::nullopt);
  EXPECT_EQ(reason, "no such file");
  EXPECT_EQ(readSourceText(folder, reason), std::nullopt);
  EXPECT_EQ(reason, "it is a folder");
}

TEST_F(SourceText, ofADeviceWithoutEndIsRefused) {
  EXPECT_EQ(readSourceText("/dev/zero", reason), std::nullopt);
  EXPECT_NE(reason.find("larger than 256 MiB"), std::string::npos) << reason;
}

TEST(SourceTextContents, saysWhatIsNoText) {
  EXPECT_EQ(whatIsNoText("\x1f\x8b\x08"), "it looks like a gzip archive");
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes += static_cast<char>(i);
  EXPECT_TRUE(whatIsNoText(bytes)->ends_with("of its first 256 bytes are no characters"));
  EXPECT_EQ(whatIsNoText(""), std::nullopt);
  EXPECT_EQ(whatIsNoText("print('\u6570\u5b66')\r\n\tx = 1\f"), std::nullopt);
  EXPECT_EQ(whatIsNoText(std::string("x = 1\0\n", 7)), std::nullopt);
  EXPECT_EQ(whatIsNoText("# Gr\xf6\xdf"
                         "e\n"),
            std::nullopt); // Latin-1
}
