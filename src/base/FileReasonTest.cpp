#include "base/FileReason.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace tokamak;

TEST(FileReason, namesWhatIsWrong) {
  EXPECT_EQ(fileReason(EISDIR), "it is a folder");
  EXPECT_EQ(fileReason(EACCES), "permission denied");
  EXPECT_EQ(fileReason(EIO), "Input/output error");
}

TEST(FileReason, suggestsSimilarNames) {
  std::string folder =
      std::filesystem::temp_directory_path() / ("tokamak-reasons-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder + "/data");
  std::ofstream(folder + "/data/train.csv") << "1\n";
  EXPECT_EQ(unreadableReason(folder + "/data/trian.csv", ENOENT),
            "no such file; did you mean '" + folder + "/data/train.csv'?");
  EXPECT_EQ(unreadableReason(folder + "/dat/train.csv", ENOENT),
            "no such file; did you mean '" + folder + "/data/train.csv'?");
  EXPECT_EQ(unreadableReason(folder + "/dat/other.csv", ENOENT),
            "no such file; there is no folder '" + folder + "/dat'");
  EXPECT_EQ(unreadableReason(folder + "/data/zebra.txt", ENOENT), "no such file");
  EXPECT_EQ(unreadableReason(folder + "/data/trian.csv", EACCES), "permission denied");
  EXPECT_EQ(unreadableReason("no-such-file-here.csv", ENOENT), "no such file");
  EXPECT_EQ(unreadableReason("", ENOENT), "no such file");
  std::filesystem::remove_all(folder);
}
