#include "exec/CacheFolder.h"
#include "exec/KernelFiles.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tokamak;
using namespace tokamak::exec;
namespace fs = std::filesystem;

namespace {

class CacheFolderTest : public testing::Test {
protected:
  CacheFolderTest() : path_(testing::TempDir() + "cache-" + std::to_string(getpid())) {
    fs::remove_all(path_);
  }
  ~CacheFolderTest() override { fs::remove_all(path_); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(path_))
      found.push_back(entry.path());
    return found;
  }

  const std::string path_;
};

TEST_F(CacheFolderTest, FindsWhatItKept) {
  CacheFolder cache(path_);
  ASSERT_TRUE(cache.isUsable());
  EXPECT_EQ(cache.find("a"), std::nullopt);
  cache.keep("a", std::string("\0bytes", 6));
  cache.keep("b", "");
  EXPECT_EQ(CacheFolder(path_).find("a"), std::string("\0bytes", 6));
  EXPECT_EQ(cache.find("b"), "");
  cache.keep("a", "other");
  EXPECT_EQ(cache.find("a"), "other");
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(CacheFolderTest, DoesNotWaitForPipes) {
  CacheFolder cache(path_);
  cache.keep("key", "the bytes");
  fs::path file = files().front();
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.find("key"), std::nullopt);
  cache.keep("key", "the bytes");
  EXPECT_EQ(cache.find("key"), "the bytes");
}

// Whatever happens to a file, it is found whole or not at all.
TEST_F(CacheFolderTest, DamagedFilesAreMissing) {
  CacheFolder cache(path_);
  cache.keep("key", "the bytes");
  fs::path file = files().front();
  std::ifstream in(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  auto found = [&](const std::string &text) {
    std::ofstream(file, std::ios::binary) << text;
    return cache.find("key");
  };
  ASSERT_EQ(found(whole), "the bytes");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(found(whole.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(found(whole + "x"), std::nullopt);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string text = whole;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(found(text), std::nullopt) << bit;
  }
}

// As if the hashes of two keys were equal.
TEST_F(CacheFolderTest, ComparesWholeKeys) {
  CacheFolder cache(path_);
  cache.keep("one", "1");
  fs::path ofOne = files().front();
  cache.keep("two", "2");
  for (const fs::path &file : files())
    if (file != ofOne)
      fs::copy_file(ofOne, file, fs::copy_options::overwrite_existing);
  EXPECT_EQ(cache.find("one"), "1");
  EXPECT_EQ(cache.find("two"), std::nullopt);
}

TEST_F(CacheFolderTest, RemovesWhatWasNotUsedForLongest) {
  CacheFolder cache(path_, /*capacity=*/10000);
  auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 20; ++i) {
    cache.keep("key " + std::to_string(i), std::string(1000, 'x'));
    for (const fs::path &file : files())
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::minutes(1));
  }
  EXPECT_TRUE(cache.find("key 3"));
  std::ofstream(path_ + "/killed.1-1.new") << "half a rec";
  fs::last_write_time(path_ + "/killed.1-1.new", now - std::chrono::hours(2));
  cache.shrink();
  EXPECT_TRUE(cache.find("key 3")) << "used a moment ago";
  EXPECT_TRUE(cache.find("key 19"));
  EXPECT_FALSE(cache.find("key 0"));
  EXPECT_FALSE(fs::exists(path_ + "/killed.1-1.new"));
  int64_t total = 0;
  for (const fs::path &file : files())
    total += static_cast<int64_t>(fs::file_size(file));
  EXPECT_LE(total, 10000);
  EXPECT_GE(total, 6000);
}

// Processes write the same records, read them and make room at the same time.
TEST_F(CacheFolderTest, ServesProcessesAtTheSameTime) {
  auto bytesOf = [](int record) { return std::string(100 * (record + 1), char('a' + record)); };
  auto work = [&] {
    CacheFolder cache(path_, /*capacity=*/20000);
    for (int round = 0; round < 200; ++round) {
      int record = round % 20;
      std::optional<std::string> found = cache.find(std::to_string(record));
      if (found && *found != bytesOf(record))
        return 1;
      if (!found || round % 3 == 0)
        cache.keep(std::to_string(record), bytesOf(record));
      if (round % 50 == 7)
        cache.shrink();
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0)
      _exit(work());
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path &file : files())
    EXPECT_NE(file.extension(), ".new");
}

// Machine code is taken from nobody else.
TEST_F(CacheFolderTest, RefusesFoldersThatOthersMayWrite) {
  ASSERT_TRUE(CacheFolder(path_).isUsable());
  CacheFolder(path_).keep("a", "bytes");
  fs::permissions(path_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(CacheFolder(path_).isUsable());
  EXPECT_FALSE(CacheFolder(path_).find("a"));
  EXPECT_FALSE(CacheFolder("").isUsable());
  EXPECT_FALSE(CacheFolder("/dev/null/folder").isUsable());
  CacheFolder("/dev/null/folder").keep("a", "no harm");
}

// What a run of a program used comes back from one file, however it came to be used.
TEST_F(CacheFolderTest, ACollectionHoldsWhatWasUsed) {
  CompiledFiles(path_).keep("plan", "found", "1");
  CompiledFiles(path_).keep("plan", "unused", "2");
  {
    CompiledFiles first(path_);
    first.openCollection("program");
    EXPECT_EQ(first.find("plan", "found"), "1");
    first.keep("plan", "made", "3");
    EXPECT_FALSE(first.find("plan", "missing"));
    first.keepCollection("program");
  }
  {
    CompiledFiles second(path_);
    second.openCollection("program");
    for (const fs::path &file : files())
      fs::remove(file);
    EXPECT_EQ(second.find("plan", "found"), "1");
    EXPECT_EQ(second.find("plan", "made"), "3");
    EXPECT_FALSE(second.find("plan", "unused"));
    EXPECT_FALSE(second.find("kernel", "made"));
    second.keepCollection("program");
    EXPECT_TRUE(files().empty()) << "nothing was new";
    second.keep("plan", "new", "4");
    second.keepCollection("program");
  }
  CompiledFiles third(path_);
  third.openCollection("program");
  EXPECT_EQ(third.find("plan", "new"), "4");
  EXPECT_EQ(third.find("plan", "made"), "3");
  third.keepCollection("program"); // "found" was not used this time, but nothing is new
  CompiledFiles another(path_);
  another.openCollection("another program");
  EXPECT_FALSE(another.find("plan", "made"));
}

TEST_F(CacheFolderTest, KernelsComeBack) {
  ASSERT_NE(compilerVersion(), "") << "the linker writes no build identification";
  tokamak::abi::KernelPlan plan;
  plan.name = "cell_exp_1";
  plan.extents[0] = tokamak::abi::cellsOfInput(0);
  plan.inputs.resize(1);
  plan.outputs.resize(1);
  plan.outputs[0].sizes = {tokamak::abi::rowsOfInput(0), tokamak::abi::columnsOfInput(0)};
  CompiledFiles earlier(path_), later(path_), none("");
  KernelFiles(earlier).keep("body", {plan, "image", /*kernel=*/64, /*merge=*/128});
  KernelFiles files(later);
  std::optional<codegen::StoredKernel> found = files.find("body");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->plan.name, "cell_exp_1");
  EXPECT_EQ(found->plan.outputs[0].sizes, plan.outputs[0].sizes);
  EXPECT_EQ(found->image, "image");
  EXPECT_EQ(found->kernel, 64);
  EXPECT_EQ(found->merge, 128);
  EXPECT_FALSE(files.find("another body"));
  EXPECT_FALSE(KernelFiles(none).find("body"));
}

} // namespace
