// The format binary of matrices: files of SystemDS, round trips, and files that are damaged.
#include "runtime/io/BigEndian.h"
#include "runtime/io/FileTesting.h"
#include "runtime/io/MatrixBlocks.h"
#include "runtime/io/MatrixWriter.h"
#include "runtime/io/ReaderTesting.h"
#include "runtime/io/SequenceFile.h"

#include <cmath>
#include <random>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

constexpr std::string_view keys = "org.apache.sysds.runtime.matrix.data.MatrixIndexes",
                           values = "org.apache.sysds.runtime.matrix.data.MatrixBlock";

MatrixFile binary(std::optional<int64_t> rows = {}, std::optional<int64_t> columns = {},
                  std::optional<int64_t> blockSize = {}) {
  MatrixFile file = named("binary");
  file.rows = rows;
  file.columns = columns;
  file.rowsInBlock = file.columnsInBlock = blockSize;
  return file;
}

std::string written(const Value &matrix, std::optional<int64_t> blockSize = {}) {
  return writtenFile([&](FileWriter &file) {
    ExecutionContext context;
    writeMatrix(*matrix.array(), {.format = "binary", .rowsInBlock = blockSize}, context, file);
  });
}

struct Block {
  int64_t row, column;
  std::string bytes;
};

std::string fileOf(const std::vector<Block> &blocks) {
  SequenceWriter writer(keys, values);
  std::string bytes = writer.header();
  for (const Block &block : blocks) {
    std::string key;
    appendBigEndian(key, block.row);
    appendBigEndian(key, block.column);
    bytes += writer.record(key, block.bytes);
  }
  return bytes;
}

std::string blockOf(int64_t rows, int64_t columns, double value) {
  return formatMatrixBlock(*Array::filled({rows, columns}, value), {0, rows, 0, columns});
}

// The bytes of a block with this head, followed by the others, all of four bytes.
std::string rawBlock(int32_t rows, int32_t columns, uint8_t kind, std::vector<int32_t> rest = {}) {
  std::string bytes;
  appendBigEndian(bytes, rows);
  appendBigEndian(bytes, columns);
  appendBigEndian(bytes, kind);
  for (int32_t number : rest)
    appendBigEndian(bytes, number);
  return bytes;
}

} // namespace

TEST(BinaryFormat, readsWhatSystemDSWrites) {
  EXPECT_EQ(readEveryWay(binary(), systemdsFile("dense.bin")), (Cells{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(readEveryWay(binary(), systemdsFile("empty.bin")), Cells(15, 0));
  Cells expected(6000, 0);
  expected[2 * 60 + 3] = 2.5, expected[2 * 60 + 59] = -1, expected[99 * 60] = 7;
  EXPECT_EQ(readEveryWay(binary(100, 60, 1000), systemdsFile("ultra-sparse.bin")), expected);
  EXPECT_EQ(readEveryWay(binary(), systemdsFile("sparse.bin")),
            readEveryWay(named("csv"), systemdsFile("sparse.csv")));
  expected.assign(24, 0);
  expected[4] = 3;
  EXPECT_EQ(readEveryWay(binary(), systemdsFile("column.bin")), expected);
  EXPECT_EQ(readEveryWay(binary(4, 3, 3), systemdsFile("blocks.bin")),
            (Cells{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(readEveryWay(binary(), systemdsFile("blocks.bin")).size(), 12) << "sizes are inferred";
}

TEST(BinaryFormat, readsWhatItWrites) {
  std::mt19937 random(7);
  for (double density : {0.0, 0.004, 0.1, 0.5, 1.0})
    for (auto [rows, columns] : {std::pair{1, 1}, {7, 5}, {40, 60}, {61, 1}, {1, 61}}) {
      Cells cells(rows * columns);
      for (double &cell : cells)
        cell = random() % 1000 < density * 1000 ? static_cast<double>(random() % 100) - 50.5 : 0;
      Value x = matrix(rows, columns, cells), sparse = Value(Array::asSparse(x.array()));
      for (int64_t blockSize : {1, 7, 20, 1000}) {
        std::string bytes = written(x, blockSize);
        EXPECT_EQ(readEveryWay(binary(), bytes), cells);
        EXPECT_EQ(readEveryWay(binary(rows, columns, blockSize), bytes), cells);
        EXPECT_EQ(written(sparse, blockSize), bytes) << "a file doesn't depend on the layout";
      }
    }
}

TEST(BinaryFormat, keepsSpecialNumbers) {
  double infinity = std::numeric_limits<double>::infinity();
  Cells cells =
      readEveryWay(binary(), written(matrix(2, 2, {notANumber, infinity, -infinity, 5e-324})));
  EXPECT_TRUE(std::isnan(cells[0]));
  EXPECT_EQ(cells[1], infinity);
  EXPECT_EQ(cells[2], -infinity);
  EXPECT_EQ(cells[3], 5e-324);
}

TEST(BinaryFormat, readsAndWritesMatricesWithoutCells) {
  EXPECT_EQ(readText(binary(0, 3), written(matrix(0, 3, {}))).array()->columns(), 3);
  EXPECT_EQ(readText(binary(3, 0), written(matrix(3, 0, {}))).array()->rows(), 3);
  EXPECT_EQ(sizeOf(readText(binary(0, 3), "")), "0x3");
  EXPECT_EQ(sizeOf(readText(binary(0, 3), fileOf({{1, 1, rawBlock(1, 1, 0)}}))), "0x3")
      << "as SystemDS writes it";
}

TEST(BinaryFormat, readsLargeSparseMatricesIntoSparse) {
  std::mt19937_64 random(3);
  constexpr int64_t size = 100000;
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += fmt::format("{} {} {}\n", random() % size + 1, random() % size + 1, i + 1);
  MatrixFile file = named("text");
  file.rows = file.columns = size;
  Value graph = readText(file, text);
  Value again = readText(binary(size, size), written(graph), {}, 2);
  ASSERT_TRUE(again.array()->isSparse());
  ASSERT_EQ(again.array()->entries(), graph.array()->entries());
  EXPECT_EQ(std::memcmp(again.array()->data(), graph.array()->data(),
                        graph.array()->entries() * sizeof(double)),
            0);
}

TEST(BinaryFormat, takesMissingBlocksAsEmpty) {
  std::string bytes = fileOf({{1, 2, blockOf(2, 2, 5)}, {2, 1, blockOf(1, 2, 7)}});
  EXPECT_EQ(readEveryWay(binary(), bytes), (Cells{0, 0, 5, 5, 0, 0, 5, 5, 7, 7, 0, 0}));
  EXPECT_EQ(readEveryWay(binary(3, 5, 2), fileOf({{1, 1, blockOf(2, 2, 5)}})),
            (Cells{5, 5, 0, 0, 0, 5, 5, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(errorEveryWay(binary(), fileOf({{2, 1, blockOf(2, 2, 5)}})),
            "x: the file doesn't tell the size of its blocks: give rows_in_block in the call");
}

TEST(BinaryFormat, saysWhichBlockIsWrong) {
  auto error = [&](const std::vector<Block> &blocks, const MatrixFile &file = binary()) {
    return errorEveryWay(file, fileOf(blocks));
  };
  EXPECT_EQ(error({{1, 1, blockOf(2, 2, 1)}, {1, 1, blockOf(2, 2, 1)}}),
            "x: block (1, 1): it occurs twice");
  EXPECT_EQ(
      error({{1, 1, blockOf(2, 2, 1)}, {2, 1, blockOf(2, 1, 1)}}),
      "x: block (2, 1): it has 2x1 cells, expected 2x2: the matrix has 4x2 cells, blocks have "
      "2x2");
  EXPECT_EQ(error({{1, 1, blockOf(2, 2, 1)}}, binary(3, {}, 3)),
            "x: block (1, 1): it has 2x2 cells, "
            "expected 3x2: the matrix has 3x2 cells, blocks have 3x3");
  EXPECT_EQ(error({{1, 1, blockOf(2, 2, 1)}}, binary(1)), "x: the file has 2 rows, expected 1");
  EXPECT_EQ(error({{0, 1, blockOf(2, 2, 1)}}), "x: record 1: blocks can't lie at (0, 1)");
  EXPECT_EQ(error({{1, INT64_MIN, blockOf(2, 2, 1)}}),
            "x: record 1: blocks can't lie at (1, -9223372036854775808)");
  EXPECT_EQ(error({{1, 1, rawBlock(-1, 1, 0)}}), "x: block (1, 1): its size is negative");
  EXPECT_EQ(error({{1, 1, rawBlock(1, 1, 4)}}),
            "x: block (1, 1): blocks of kind 4 are not supported");
  EXPECT_EQ(error({{1, 1, rawBlock(1, 1, 3)}}), "x: block (1, 1): it ends early");
  EXPECT_EQ(error({{1, 1, rawBlock(1, 1, 3, {0, 0, 0})}}),
            "x: block (1, 1): it has more bytes than cells");
  EXPECT_EQ(error({{1, 1, rawBlock(2147483647, 2147483647, 3)}}), "x: block (1, 1): it ends early");
  EXPECT_EQ(error({{1, 1, rawBlock(2, 2, 1, {-1})}}),
            "x: block (1, 1): its number of entries is negative");
  EXPECT_EQ(error({{1, 1, rawBlock(2, 2, 1, {1, 2, 0, 0, 0})}}),
            "x: block (1, 1): a cell lies outside of it, in row 3");
  EXPECT_EQ(error({{1, 1, rawBlock(2, 2, 2, {1, 1, 5, 0, 0, 0})}}),
            "x: block (1, 1): a cell lies outside of it, in column 6");
  EXPECT_EQ(error({{1, 1, rawBlock(2, 2, 2, {1, 0, 0, 1, 0, 0})}}),
            "x: block (1, 1): it has more bytes than cells");
  EXPECT_EQ(error({{1, 1, rawBlock(2, 2, 2, {1, 2, 1, 0, 0, 0})}}),
            "x: block (1, 1): it ends early");
}

TEST(BinaryFormat, saysWhatIsNoSuchFile) {
  std::string whole = systemdsFile("dense.bin");
  EXPECT_EQ(errorEveryWay(binary(), "1,2\n"),
            "x: it is no sequence file: it doesn't begin with SEQ");
  for (size_t size = 4; size < whole.size(); ++size)
    if (size != 126) // the end of the header: a matrix without blocks
      EXPECT_TRUE(errorEveryWay(binary(), whole.substr(0, size)).ends_with(": it ends early"))
          << size;
  std::string other = whole;
  other[3] = 5;
  EXPECT_EQ(errorEveryWay(binary(), other),
            "x: sequence files of version 5 are not supported: expected 6");
  EXPECT_EQ(errorEveryWay(binary(), systemdsFile("people.bin")),
            "x: it holds records of 'org.apache.hadoop.io.LongWritable' and "
            "'org.apache.sysds.runtime.frame.data.Fram...': expected blocks of a matrix; give "
            "data_type=\"frame\" in the call");
  other = whole;
  other[104] = 1;
  EXPECT_EQ(errorEveryWay(binary(), other), "x: compressed sequence files are not supported");
}

TEST(BinaryFormat, refusesBlocksThatAreNotSquare) {
  EXPECT_EQ(errorOf([] {
              writtenFile([](FileWriter &file) {
                ExecutionContext context;
                writeMatrix(*matrix(1, 1, {1}).array(),
                            {.format = "binary", .rowsInBlock = 2, .columnsInBlock = 3}, context,
                            file);
              });
            }),
            "write: blocks of the format binary are square, but rows_in_block is 2 and "
            "cols_in_block 3");
}
