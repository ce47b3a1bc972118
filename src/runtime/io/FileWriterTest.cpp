// The tests reproduce the files that a killed writer leaves by performing its steps.
#include "runtime/io/FileWriter.h"

#include "base/MatrixMetadata.h"
#include "base/PendingMetadata.h"
#include "runtime/natives/NativeTesting.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;
using tokamak::pendingMetadataPath;

namespace {

class FileWriters : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / fmt::format("tokamak-writer-{}", getpid()))
                  .string();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string &name) const { return folder_ + "/" + name; }
  void put(const std::string &name, const std::string &text) const {
    std::ofstream(path(name)) << text;
  }
  std::string get(const std::string &name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string &name, const std::string &text, std::string_view metadata) const {
    FileWriter file(path(name));
    file.write(text);
    file.commit(metadata);
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder_))
      names.insert(entry.path().filename().string());
    return names;
  }
  struct stat statusOf(const std::string &name) const {
    struct stat status{};
    stat(path(name).c_str(), &status);
    return status;
  }
  std::string pendingNameOf(const std::string &name) const {
    return pendingMetadataPath(path(name), statusOf(name));
  }
  int64_t rowsOf(const std::string &name) const {
    return tokamak::readMetadata(path(name)).value().rows.value();
  }

  std::string folder_;
};

constexpr const char *oneRow = R"({"format": "csv", "rows": 1})";
constexpr const char *twoRows = R"({"format": "csv", "rows": 2})";

} // namespace

TEST_F(FileWriters, writesDataAndMetadata) {
  write("x.csv", "1\n", oneRow);
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv", "x.csv.mtd"}));
  EXPECT_EQ(get("x.csv"), "1\n");
  EXPECT_EQ(get("x.csv.mtd"), oneRow);
  write("x.csv", "1\n2\n", twoRows);
  EXPECT_EQ(rowsOf("x.csv"), 2);
  write("x.csv", "%%", "");
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv"}));
}

TEST_F(FileWriters, leavesNothingWithoutCommit) {
  {
    FileWriter file(path("x.csv"));
    file.write("1\n");
    FolderWriter folder(path("list"));
    std::ofstream(folder.path() + "/0_a") << "1";
  }
  EXPECT_TRUE(names().empty());
}

// The data have been renamed, the metadata are pending.
TEST_F(FileWriters, readsNewMetadataWithNewData) {
  write("x.csv", "1\n", oneRow);
  put("new", "1\n2\n");
  std::filesystem::rename(path("new"), path("x.csv"));
  EXPECT_EQ(rowsOf("x.csv"), 1); // no metadata are pending
  std::ofstream(pendingNameOf("x.csv")) << twoRows;
  EXPECT_EQ(rowsOf("x.csv"), 2);
  put("y.csv", "1\n");
  tidyFolder(folder_);
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv", "x.csv.mtd", "y.csv"}));
  EXPECT_EQ(get("x.csv.mtd"), twoRows);
}

TEST_F(FileWriters, readsNoMetadataWithDataThatHaveNone) {
  write("x.csv", "1\n", oneRow);
  put("new", "%%MatrixMarket");
  std::filesystem::rename(path("new"), path("x.csv"));
  std::ofstream{pendingNameOf("x.csv")};
  EXPECT_FALSE(tokamak::readMetadata(path("x.csv")));
  tidyFolder(folder_);
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv"}));
}

// The metadata are pending, the data have not been renamed.
TEST_F(FileWriters, keepsTheOldPair) {
  write("x.csv", "1\n", oneRow);
  put(".tokamak-1-1", "1\n2\n");
  std::ofstream(pendingNameOf(".tokamak-1-1")) << twoRows;
  EXPECT_EQ(rowsOf("x.csv"), 1);
  tidyFolder(folder_);
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv", "x.csv.mtd"}));
  EXPECT_EQ(rowsOf("x.csv"), 1);
}

TEST_F(FileWriters, removesWhatDeadWritersLeftAndNothingElse) {
  put(".tokamak-1-1", "half");
  std::filesystem::create_directories(path(".tokamak-1-2"));
  put(".tokamak-1-2/0_a", "half");
  put(".hidden", "mine");
  FolderWriter alive(path("list"));
  tidyFolder(folder_);
  std::string living = std::filesystem::path(alive.path()).filename().string();
  EXPECT_EQ(names(), (std::set<std::string>{".hidden", living}));
}

// A process that is killed at any moment leaves one pair or the other, and no other visible names.
TEST_F(FileWriters, survivesKills) {
  write("x.csv", "1\n", oneRow);
  for (int trial = 0; trial < 20; ++trial) {
    pid_t child = fork();
    if (child == 0) {
      for (;;) {
        write("x.csv", "1\n2\n", twoRows);
        write("x.csv", "1\n", oneRow);
      }
    }
    usleep(2000 + 500 * trial);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string text = get("x.csv");
    EXPECT_EQ(rowsOf("x.csv"), std::count(text.begin(), text.end(), '\n'));
    for (const std::string &name : names())
      EXPECT_TRUE(name == "x.csv" || name == "x.csv.mtd" || name.starts_with(".tokamak-")) << name;
  }
  tidyFolder(folder_);
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv", "x.csv.mtd"}));
}

TEST_F(FileWriters, writesOneNameFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i)
        write("x.csv", thread % 2 ? "1\n2\n" : "1\n", thread % 2 ? twoRows : oneRow);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string text = get("x.csv");
  EXPECT_EQ(rowsOf("x.csv"), std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(names(), (std::set<std::string>{"x.csv", "x.csv.mtd"}));
}

TEST_F(FileWriters, keepsPermissions) {
  put("x.csv", "1\n");
  chmod(path("x.csv").c_str(), 0640);
  write("x.csv", "2\n", "");
  EXPECT_EQ(get("x.csv"), "2\n");
  EXPECT_EQ(statusOf("x.csv").st_mode & 07777, 0640U);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path("x.csv").c_str(), 1234, 1235), 0);
    write("x.csv", "3\n", oneRow);
    EXPECT_EQ(statusOf("x.csv").st_uid, 1234U);
    EXPECT_EQ(statusOf("x.csv").st_gid, 1235U);
  }
}

TEST_F(FileWriters, writesThroughLinks) {
  std::filesystem::create_directories(path("elsewhere"));
  put("elsewhere/data.csv", "1\n");
  std::filesystem::create_symlink("elsewhere/data.csv", path("x.csv"));
  write("x.csv", "1\n2\n", twoRows);
  EXPECT_TRUE(std::filesystem::is_symlink(path("x.csv")));
  EXPECT_EQ(get("elsewhere/data.csv"), "1\n2\n");
  EXPECT_EQ(rowsOf("x.csv"), 2);
  std::filesystem::create_symlink("nowhere", path("y.csv"));
  EXPECT_EQ(errorOf([&] { write("y.csv", "1\n", oneRow); }),
            path("y.csv") +
                ": cannot be written: it is a symbolic link to something that does not exist");
}

TEST_F(FileWriters, writesToPipesAndDevices) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string text;
  std::thread reader([&] { text = get("pipe"); });
  write("pipe", "1\n", oneRow);
  reader.join();
  EXPECT_EQ(text, "1\n");
  EXPECT_EQ(names(), (std::set<std::string>{"pipe"}));
  EXPECT_EQ(errorOf([&] {
              FileWriter file("/dev/full");
              file.write("1\n");
            }),
            "/dev/full: cannot be written: no space is left on the device");
}

TEST_F(FileWriters, writesLongNames) {
  std::string longest(251, 'x');
  write(longest, "1\n", oneRow);
  EXPECT_EQ(rowsOf(longest), 1);
  write(std::string(255, 'y'), "1\n", "");
  EXPECT_NE(errorOf([&] { write(std::string(252, 'z'), "1\n", oneRow); }), "no error");
  EXPECT_EQ(names().size(), 3U);
}
