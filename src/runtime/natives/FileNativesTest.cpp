#include "runtime/io/Gzip.h"
#include "runtime/io/NumpyFile.h"
#include "runtime/io/TextSource.h"
#include "runtime/natives/NativeTesting.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

struct Parameters {
  Value format = {}, rows = {}, columns = {}, nonZeros = {}, header = {}, separator = {}, fill = {},
        defaultValue = {}, naStrings = {}, blockSize = {}, indexSeparator = {}, dataset = {};
};

class FileNatives : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("tokamak-files-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string &name) const { return (folder_ / name).string(); }
  std::string put(const std::string &name, const std::string &text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string get(const std::string &name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::vector<Value> readOperands(const std::string &path, Parameters p) {
    return {path, p.format,    p.rows,      p.columns,        p.nonZeros,     {},
            {},   p.header,    p.separator, p.fill,           p.defaultValue, p.naStrings,
            {},   p.blockSize, p.blockSize, p.indexSeparator, p.dataset};
  }
  Value read(const std::string &name, Parameters parameters = {}) const {
    return call("read", readOperands(path(name), std::move(parameters)));
  }
  // The error message without the path of the test's folder.
  std::string readError(const std::string &name, Parameters parameters = {}) const {
    std::string message = errorOf("read", readOperands(path(name), std::move(parameters)));
    std::string prefix = folder_.string() + "/";
    for (size_t at; (at = message.find(prefix)) != std::string::npos;)
      message.erase(at, prefix.size());
    return message;
  }
  void write(Value value, const std::string &name, Value format = {}, Value header = {},
             Value separator = {}, Value sparse = {}, Value blockSize = {},
             Value indexSeparator = {}, Value dataset = {}) const {
    std::vector<Value> operands = {std::move(value), path(name),     format, header,
                                   separator,        sparse,         {},     blockSize,
                                   blockSize,        indexSeparator, dataset};
    ExecutionContext context;
    findNative("write")->function(context, operands, {});
  }

  std::filesystem::path folder_;
};

} // namespace

TEST_F(FileNatives, readsCsv) {
  put("x.csv", "1,2.5,-3\r\n4, 5 ,1e2\r\n");
  Value x = read("x.csv", {.format = "csv"});
  EXPECT_EQ(sizeOf(x), "2x3");
  EXPECT_EQ(cellsOf(x), (Cells{1, 2.5, -3, 4, 5, 100}));
}

TEST_F(FileNatives, readsCsvWithHeaderSeparatorAndMissingFields) {
  put("x.csv", "a;b\n1;\nNA;4");
  put("x.csv.mtd",
      R"({"format": "csv", "header": true, "sep": ";", "naStrings": ["NA"], "default": 9})");
  Cells cells = cellsOf(read("x.csv"));
  EXPECT_EQ(cells[1], 9);
  EXPECT_NE(cells[2], cells[2]);
  EXPECT_EQ(cells[3], 4);
}

TEST_F(FileNatives, readsLargeCsvInPieces) {
  std::string text;
  for (int i = 0; i < 200000; ++i)
    text += std::to_string(i) + "," + std::to_string(i) + ".5\n";
  put("x.csv", text);
  Value x = read("x.csv", {.format = "csv"});
  ASSERT_EQ(sizeOf(x), "200000x2");
  for (int64_t i = 0; i < 200000; ++i)
    ASSERT_EQ(x.array()->at(i, 1), static_cast<double>(i) + 0.5);
}

TEST_F(FileNatives, placesErrorsInCsv) {
  put("ragged.csv", "1,2\n3,4\n5,6,7\n");
  EXPECT_EQ(readError("ragged.csv", {.format = "csv"}),
            "ragged.csv: row 3 has 3 fields, expected 2");
  put("short.csv", "1,2\n3\n");
  EXPECT_EQ(readError("short.csv", {.format = "csv"}), "short.csv: row 2 has 1 field, expected 2");
  put("words.csv", "1,2\n3,abc\n");
  EXPECT_EQ(readError("words.csv", {.format = "csv"}),
            "words.csv: row 2, column 2: 'abc' is not a number");
  put("gaps.csv", "1,2\n,4\n");
  EXPECT_EQ(readError("gaps.csv", {.format = "csv", .fill = false}),
            "gaps.csv: row 2, column 1: the field is empty, and fill is FALSE");
  EXPECT_EQ(readError("gaps.csv", {.format = "csv", .rows = integer(5)}),
            "gaps.csv: the file has 2 rows, expected 5");
}

TEST_F(FileNatives, readsEmptyCsv) {
  put("x.csv", "");
  EXPECT_EQ(sizeOf(read("x.csv", {.format = "csv"})), "0x0");
  put("y.csv", "a,b\n");
  EXPECT_EQ(sizeOf(read("y.csv", {.format = "csv", .columns = integer(2), .header = true})), "0x2");
}

TEST_F(FileNatives, readsTheFilesOfAFolderInOrder) {
  std::filesystem::create_directories(path("parts"));
  put("parts/part-10", "10,x\n");
  put("parts/part-2", "2,0\n\n");
  put("parts/part-1", "1,0"); // parts end a line even without a line end
  put("parts/_SUCCESS", "");
  put("parts/.part-1.crc", "?");
  EXPECT_EQ(readError("parts", {.format = "csv"}),
            "parts/part-10: row 1, column 2: 'x' is not a number");
  put("parts/part-10", "10,5\n");
  EXPECT_EQ(cellsOf(read("parts", {.format = "csv"})), (Cells{1, 0, 2, 0, 10, 5}));
  put("parts/part-1", "a,b\n1,0\n"); // only the first part has a header
  EXPECT_EQ(cellsOf(read("parts", {.format = "csv", .header = true})), (Cells{1, 0, 2, 0, 10, 5}));
  std::filesystem::create_directories(path("none"));
  EXPECT_EQ(readError("none", {.format = "csv"}), "none: the folder has no part files");
}

TEST_F(FileNatives, readsCompressedFilesAndParts) {
  put("x.csv.gz", gzipMember("1,2\n") + gzipMember("3,4\n"));
  EXPECT_EQ(cellsOf(read("x.csv.gz", {.format = "csv"})), (Cells{1, 2, 3, 4}));
  std::filesystem::create_directories(path("parts"));
  put("parts/part-0", "1,2\n");
  put("parts/part-1.gz", gzipMember("3,4\n"));
  put("parts/part-2", "5,6\n");
  EXPECT_EQ(cellsOf(read("parts", {.format = "csv"})), (Cells{1, 2, 3, 4, 5, 6}));
  std::string cut = gzipMember("1,2\n3,4\n");
  put("cut.csv.gz", cut.substr(0, cut.size() - 9));
  EXPECT_EQ(readError("cut.csv.gz", {.format = "csv"}),
            "cut.csv.gz: the gz data end early: the file is cut off");
  cut[cut.size() / 2] ^= 0x55;
  put("damaged.csv.gz", cut);
  EXPECT_TRUE(readError("damaged.csv.gz", {.format = "csv"})
                  .starts_with("damaged.csv.gz: the gz data are damaged"));
  put("y.mtx.gz", gzipMember("%%MatrixMarket matrix array real general\n1 1\n7\n"));
  EXPECT_EQ(cellsOf(read("y.mtx.gz")), (Cells{7})); // the format is recognised by the text
}

TEST_F(FileNatives, checksTheNumberOfNonZeros) {
  put("x.csv", "1,0\nNaN,4\n");
  EXPECT_EQ(sizeOf(read("x.csv", {.format = "csv", .nonZeros = integer(3)})), "2x2");
  EXPECT_EQ(readError("x.csv", {.format = "csv", .nonZeros = integer(2)}),
            "x.csv: the file has 3 values that are not 0, expected 2 (nnz)");
  EXPECT_EQ(sizeOf(read("x.csv", {.format = "csv", .nonZeros = integer(-1)})), "2x2");
}

TEST_F(FileNatives, takesTheDefaultFromCallAndMetadata) {
  put("x.csv", "1,\n");
  put("x.csv.mtd", R"({"format": "csv", "default": "NaN"})");
  Cells cells = cellsOf(read("x.csv", {.defaultValue = notANumber}));
  EXPECT_NE(cells[1], cells[1]);
  EXPECT_EQ(readError("x.csv", {.defaultValue = 2.0}),
            "read: default is 2.0 in the call but NaN in x.csv.mtd");
}

TEST_F(FileNatives, refusesUnknownValueTypes) {
  put("x.csv", "1\n");
  put("x.csv.mtd", R"({"format": "csv", "value_type": "duoble"})");
  EXPECT_EQ(readError("x.csv"),
            "read: x.csv: unknown value_type \"duoble\"; did you mean \"double\"?");
}

TEST_F(FileNatives, explainsWhatCannotBeRead) {
  EXPECT_EQ(readError("none.csv", {.format = "csv"}), "none.csv: no such file");
  put("x.csv", "1\n");
  EXPECT_EQ(
      readError("x.csv"),
      "read: the format of x.csv is not known: there is no x.csv.mtd, and format is not given");
  put("x.csv.mtd", "{}");
  EXPECT_EQ(
      readError("x.csv"),
      "read: the format of x.csv is not known: x.csv.mtd doesn't say it, and format is not given");
  EXPECT_EQ(readError("x.csv", {.format = "cvs"}),
            "read: unknown format \"cvs\"; did you mean \"csv\"?");
  EXPECT_TRUE(
      readError("x.csv", {.format = "cog"})
          .starts_with("read: the format \"cog\" is not supported yet: expected csv, text"));
  put("x.csv.mtd", R"({"rows": 5, "format": "csv"})");
  EXPECT_EQ(readError("x.csv", {.rows = integer(7)}),
            "read: rows is 7 in the call but 5 in x.csv.mtd");
}

TEST_F(FileNatives, writesWhatItReads) {
  Value x = matrix(2, 2, {1, 0, 0.1, notANumber});
  write(x, "x.csv", "csv", true);
  EXPECT_EQ(get("x.csv"), "C1,C2\n1.0,0.0\n0.1,NaN\n");
  EXPECT_EQ(sizeOf(read("x.csv")), "2x2");
  write(matrix(2, 2, {1, 0, 0, 2}), "x.ijv");
  EXPECT_EQ(get("x.ijv"), "1 1 1.0\n2 2 2.0\n");
  EXPECT_EQ(cellsOf(read("x.ijv")), (Cells{1, 0, 0, 2}));
  write(matrix(1, 2, {0, 0}), "zero.ijv");
  EXPECT_EQ(get("zero.ijv"), "0 0 0\n");
  EXPECT_EQ(cellsOf(read("zero.ijv")), (Cells{0, 0}));
  write(matrix(1, 2, {0, 3}), "sparse.csv", "csv", Value(), ";", true);
  EXPECT_EQ(get("sparse.csv"), ";3.0\n");
  write(matrix(1, 2, {0, 3}), "x.mtx", "mm");
  EXPECT_EQ(get("x.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 3.0\n");
  EXPECT_FALSE(std::filesystem::exists(path("x.mtx.mtd")));
}

TEST_F(FileNatives, keepsWhatReadersNeedInMetadata) {
  Value x = matrix(2, 3, {1, 0, 2, 0, 0, 3});
  write(x, "x.libsvm", "libsvm", Value(), ";", Value(), Value(), "=");
  EXPECT_EQ(get("x.libsvm"), "2.0;1=1.0\n3.0\n");
  EXPECT_EQ(cellsOf(read("x.libsvm")), cellsOf(x));
  EXPECT_EQ(readError("x.libsvm", {.indexSeparator = ":"}),
            "read: indSep is \":\" in the call but \"=\" in x.libsvm.mtd");
  write(x, "x.bin", "binary", Value(), Value(), Value(), integer(2));
  EXPECT_NE(get("x.bin.mtd").find("\"rows_in_block\": 2"), std::string::npos);
  EXPECT_EQ(cellsOf(read("x.bin")), cellsOf(x));
  EXPECT_EQ(readError("x.bin", {.blockSize = integer(0)}),
            "read: rows_in_block is 0: expected 1 to 2147483647");
  write(x, "x.h5", "hdf5", Value(), Value(), Value(), Value(), Value(), "name");
  EXPECT_EQ(cellsOf(read("x.h5", {.dataset = "name"})), cellsOf(x));
  EXPECT_EQ(readError("x.h5", {.dataset = "other"}),
            "x.h5: it has no dataset 'other'; there is 'name'");
  for (const char *name : {"x.bin", "x.h5"}) { // known by how they begin
    std::filesystem::remove(path(std::string(name) + ".mtd"));
    EXPECT_EQ(cellsOf(read(name)), cellsOf(x)) << name;
  }
}

TEST_F(FileNatives, readsBlocksOfAFolder) {
  write(matrix(2, 2, {1, 2, 3, 4}), "x.bin", "binary");
  write(matrix(0, 2, {}), "y.bin", "binary");
  std::filesystem::create_directories(path("parts"));
  put("parts/0-m-00000", get("x.bin"));
  put("parts/0-m-00001", get("y.bin"));
  put("parts/_SUCCESS", "");
  EXPECT_EQ(cellsOf(read("parts", {.format = "binary"})), (Cells{1, 2, 3, 4}));
  put("parts/0-m-00001", get("x.bin"));
  EXPECT_EQ(readError("parts", {.format = "binary"}), "parts: block (1, 1): it occurs twice");
}

TEST_F(FileNatives, readsAndWritesNumpy) {
  for (const char *name : {"x.npy", "x.npy.gz"}) {
    write(matrix(2, 3, {1, 0, -2.5, notANumber, 0, 6}), name, "npy");
    EXPECT_FALSE(std::filesystem::exists(path(std::string(name) + ".mtd")));
    Cells cells = cellsOf(read(name)); // recognised by its beginning
    EXPECT_EQ(cells[2], -2.5);
    EXPECT_NE(cells[3], cells[3]);
    EXPECT_EQ(cells[5], 6);
  }
  EXPECT_EQ(readError("x.npy", {.rows = integer(3)}), "x.npy: the file has 2 rows, expected 3");
  write(matrix(0, 3, {}), "empty.npy", "npy");
  EXPECT_EQ(sizeOf(read("empty.npy")), "0x3");
  put("cube.npy", formatNumpy(Array::filled({2, 3, 4}, 1)));
  EXPECT_EQ(readError("cube.npy"), "cube.npy: it has an array of 2x3x4: expected a matrix");
  put("vector.npy", formatNumpy(Array::filled({3}, 7)));
  EXPECT_EQ(sizeOf(read("vector.npy")), "3x1");
  put("cut.npy", get("x.npy").substr(0, 150));
  EXPECT_EQ(readError("cut.npy"), "can't read 'cut.npy': it has 2 cells, not 2x3");
  std::filesystem::create_directories(path("parts"));
  put("parts/a", get("x.npy"));
  put("parts/b", get("x.npy"));
  EXPECT_EQ(readError("parts", {.format = "npy"}),
            "parts: a folder of 2 files: the format npy is a single file");
  Value sparse = Value(Array::asSparse(matrix(3, 2, {0, 0, 5, 0, 0, 0}).array()));
  write(sparse, "sparse.npy", "npy");
  EXPECT_EQ(cellsOf(read("sparse.npy")), (Cells{0, 0, 5, 0, 0, 0}));
}

TEST_F(FileNatives, writesScalarsAndLists) {
  write(true, "b");
  EXPECT_EQ(get("b"), "true");
  EXPECT_TRUE(read("b").isBoolean());
  write(integer(7), "n");
  EXPECT_TRUE(read("n").isInteger());
  write("two words", "s");
  EXPECT_EQ(read("s").text(), "two words");
  write(call("list", {"a,b", matrix(1, 1, {5}), 2.5}), "list");
  Value list = read("list");
  EXPECT_EQ(list.list()->names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(list.list()->elements[1].asDouble(), 2.5);
}

TEST_F(FileNatives, leavesNothingHalfWritten) {
  EXPECT_THROW(write(matrix(1, 1, {1}), "x.tif", "cog"), tokamak::Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_THROW(write(matrix(1, 1, {1}), "/dev/null/x.csv", "csv"), tokamak::Error);
  std::filesystem::create_directories(path("keep"));
  put("keep/notes.txt", "mine");
  EXPECT_THROW(write(call("list", {"a", matrix(1, 1, {5})}), "keep"), tokamak::Error);
  EXPECT_THROW(write(matrix(1, 1, {1}), "keep", "csv"), tokamak::Error);
  EXPECT_EQ(get("keep/notes.txt"), "mine");
  EXPECT_THROW(write(call("list", {"a/b", matrix(1, 1, {5})}), "list"), tokamak::Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileNatives, replacesFilesAndLists) {
  write(matrix(1, 1, {1}), "x", "csv");
  write(matrix(1, 2, {2, 3}), "x", "mm"); // old metadata would contradict the size
  EXPECT_EQ(cellsOf(read("x")), (Cells{2, 3}));
  write(call("list", {"a,b", matrix(1, 1, {5}), 2.5}), "list");
  write(call("list", {"c", matrix(1, 1, {6})}), "list");
  EXPECT_EQ(read("list").list()->names, (std::vector<std::string>{"c"}));
}

TEST_F(FileNatives, writesCompressedAndSparse) {
  std::mt19937 random(1);
  Cells cells(300 * 50, 0);
  for (double &cell : cells)
    cell = random() % 10 == 0 ? random() / 8.0 : 0;
  Value dense = matrix(300, 50, cells), sparse = Array::asSparse(dense.array());
  for (const char *format : {"csv", "text", "mm"}) {
    write(dense, "d", format);
    write(sparse, "s", format);
    EXPECT_EQ(get("d"), get("s")) << format;
    write(sparse, "s.gz", format);
    EXPECT_EQ(TextSource(path("s.gz")).takeRest(), get("s")) << format;
    Value again = read("s.gz");
    EXPECT_TRUE(again.array()->isSparse()) << format;
    EXPECT_EQ(cellsOf(Array::asDense(again.array())), cells) << format;
  }
  write(matrix(3, 1, {1, 0, 0}), "column.csv", "csv", Value(), ",", true);
  EXPECT_EQ(cellsOf(read("column.csv")), (Cells{1, 0, 0}));
}

TEST_F(FileNatives, readsMatricesWithoutColumns) {
  for (const char *format : {"csv", "text", "mm"}) {
    write(matrix(3, 0, {}), "x", format);
    EXPECT_EQ(sizeOf(read("x")), "3x0") << format;
    write(matrix(0, 3, {}), "x", format);
    EXPECT_EQ(sizeOf(read("x")), "0x3") << format;
  }
}

TEST_F(FileNatives, refusesSeparatorsThatCouldNotBeRead) {
  for (const char *separator : {"1", "-", "", "N", "\n", "\""})
    EXPECT_THROW(write(matrix(1, 2, {1, 2}), "x.csv", "csv", Value(), separator), tokamak::Error)
        << separator;
  EXPECT_FALSE(std::filesystem::exists(path("x.csv")));
  write(matrix(1, 2, {1, infinity}), "x.csv", "csv", Value(), "; ");
  EXPECT_EQ(cellsOf(read("x.csv")), (Cells{1, infinity}));
}

TEST_F(FileNatives, reportsAnOpenQuoteInTheHeader) {
  put("x.csv", "\"a,b\n1,2\n3,4\n");
  EXPECT_EQ(readError("x.csv", {.format = "csv", .header = true}),
            "x.csv: a quote of the header is not closed");
}

TEST_F(FileNatives, passesOverTemporariesInFolders) {
  std::filesystem::create_directories(path("parts"));
  put("parts/part-1", "1,0\n");
  put("parts/.tokamak-7-1", "2,0\n");
  EXPECT_EQ(cellsOf(read("parts", {.format = "csv"})), (Cells{1, 0}));
}

TEST_F(FileNatives, makesFolders) {
  write(matrix(1, 1, {1}), "deep/er/x.csv", "csv");
  EXPECT_TRUE(std::filesystem::exists(path("deep/er/x.csv")));
}
