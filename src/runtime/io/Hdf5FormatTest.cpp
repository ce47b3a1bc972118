// The format hdf5: files of h5py (test/scripts/files/data/make_hdf5.py) and of SystemDS, round trips, damage.
#include "runtime/io/FileTesting.h"
#include "runtime/io/Format.h"
#include "runtime/io/ReaderTesting.h"

#include <random>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

MatrixFile hdf5(std::optional<std::string> dataset = {}) {
  MatrixFile file = named("hdf5");
  file.dataset = std::move(dataset);
  return file;
}

std::string h5pyFile(const std::string &name) {
  return bytesOfFile("test/scripts/files/data/hdf5/" + name);
}

std::string written(const Value &matrix, const WriteOptions &options = {},
                    const std::string &ending = "") {
  return writtenFile(
      [&](FileWriter &file) {
        ExecutionContext context;
        Hdf5Format.writeMatrix(*matrix.array(), options, context, file);
      },
      ending);
}

} // namespace

TEST(Hdf5Format, readsFilesOfOthers) {
  EXPECT_EQ(readEveryWay(hdf5(), systemdsFile("dense.h5")), (Cells{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(readEveryWay(hdf5("d"), systemdsFile("dense.h5")), (Cells{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(readEveryWay(hdf5(), h5pyFile("one.h5")), (Cells{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(readEveryWay(hdf5("x"), h5pyFile("several.h5")), (Cells{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sizeOf(readText(hdf5("y"), h5pyFile("several.h5"))), "3x1");
  EXPECT_EQ(readEveryWay(hdf5("y"), h5pyFile("several.h5")), (Cells{1, 3, 5}));
  EXPECT_EQ(readEveryWay(hdf5("deep/z"), h5pyFile("several.h5")), (Cells{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(readEveryWay(hdf5("number"), h5pyFile("several.h5")), (Cells{7.5}));
  EXPECT_EQ(sizeOf(readText(hdf5(), h5pyFile("empty.h5"))), "0x3");
  for (const char *name : {"chunks.h5", "latest.h5"}) {
    Cells cells = readEveryWay(hdf5(), h5pyFile(name));
    ASSERT_EQ(cells.size(), 2000);
    for (int i = 0; i < 2000; ++i)
      ASSERT_EQ(cells[i], i);
  }
}

TEST(Hdf5Format, saysWhatIsMissing) {
  EXPECT_EQ(
      errorEveryWay(hdf5(), h5pyFile("several.h5")),
      "x: it has several datasets: give dataset= as one of 'cube', 'number', 'words', 'x', 'y'");
  EXPECT_EQ(errorEveryWay(hdf5("z"), h5pyFile("one.h5")), "x: it has no dataset 'z'; there is 'x'");
  EXPECT_EQ(errorEveryWay(hdf5(), h5pyFile("none.h5")),
            "x: it has no dataset outside of groups: give dataset=\"group/name\"");
  EXPECT_EQ(errorEveryWay(hdf5("cube"), h5pyFile("several.h5")),
            "x: the dataset 'cube' has 2x3x4 cells: expected a matrix");
  EXPECT_EQ(errorEveryWay(hdf5("words"), h5pyFile("several.h5")),
            "x: the dataset 'words' holds no numbers");
  MatrixFile file = hdf5();
  file.rows = 4;
  EXPECT_EQ(errorEveryWay(file, h5pyFile("one.h5")), "x: the file has 3 rows, expected 4");
}

TEST(Hdf5Format, survivesDamage) {
  EXPECT_EQ(errorEveryWay(hdf5(), ""), "x: it is no HDF5 file, or it is damaged");
  EXPECT_EQ(errorEveryWay(hdf5(), "1,2\n"), "x: it is no HDF5 file, or it is damaged");
  std::mt19937 random(11);
  std::string whole = h5pyFile("chunks.h5");
  for (int i = 0; i < 100; ++i) {
    std::string damaged = whole;
    for (int j = 0; j < 5; ++j)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    errorOf([&] { readText(hdf5(), damaged); }); // may be anything, but this process goes on
  }
  for (size_t size : {10, 500, 1000, 2000})
    EXPECT_TRUE(errorOf([&] { readText(hdf5(), whole.substr(0, size)); }).starts_with("x: it"))
        << size;
}

TEST(Hdf5Format, readsWhatItWrites) {
  std::mt19937 random(5);
  for (auto [rows, columns] : {std::pair{1, 1}, {7, 5}, {300, 2}, {2, 300}}) {
    Cells cells(rows * columns);
    for (double &cell : cells)
      cell = random() % 3 == 0 ? static_cast<double>(random() % 100) - 50.5 : 0;
    Value x = matrix(rows, columns, cells), sparse = Value(Array::asSparse(x.array()));
    EXPECT_EQ(readEveryWay(hdf5(), written(x)), cells);
    EXPECT_EQ(readEveryWay(hdf5(), written(sparse)), cells);
    EXPECT_EQ(readEveryWay(hdf5("name"), written(x, {.dataset = "name"})), cells);
  }
  EXPECT_EQ(sizeOf(readText(hdf5(), written(matrix(0, 3, {})))), "0x3");
}

TEST(Hdf5Format, saysWhatItCannotWrite) {
  Value x = matrix(1, 1, {1});
  EXPECT_EQ(errorOf([&] { written(x, {.dataset = "a/b"}); }),
            "write: dataset cannot be 'a/b': it is empty or has a '/'");
  EXPECT_EQ(errorOf([&] { written(x, {}, ".h5.gz"); }),
            "write: the format hdf5 can't be written compressed: choose a name without .gz");
  EXPECT_EQ(errorOf([&] {
              FileWriter file("/dev/null");
              ExecutionContext context;
              Hdf5Format.writeMatrix(*x.array(), {}, context, file);
            }),
            "write: the format hdf5 can't be written to a pipe or a device");
}
