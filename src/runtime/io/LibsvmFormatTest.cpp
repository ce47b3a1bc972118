// The format libsvm.
#include "runtime/io/FileTesting.h"
#include "runtime/io/Format.h"
#include "runtime/io/ReaderTesting.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

MatrixFile libsvm(std::optional<int64_t> columns = {}) {
  MatrixFile file = named("libsvm");
  file.columns = columns;
  return file;
}

std::string written(const Value &matrix, const WriteOptions &options) {
  return writtenFile([&](FileWriter &file) {
    ExecutionContext context;
    LibsvmFormat.writeMatrix(*matrix.array(), options, context, file);
  });
}

} // namespace

TEST(LibsvmFormat, putsTheLabelInTheLastColumn) {
  EXPECT_EQ(readEveryWay(libsvm(), "1 1:0.5 3:-2\n-1 2:7\n"), (Cells{0.5, 0, -2, 1, 0, 7, 0, -1}));
  EXPECT_EQ(readEveryWay(libsvm(5), "1 1:0.5 3:-2\n"), (Cells{0.5, 0, -2, 0, 1}));
  EXPECT_EQ(readEveryWay(libsvm(), "+1\n0\n2"), (Cells{1, 0, 2}));
  Cells special = readEveryWay(libsvm(), "1\t1:nan\t  2:-Inf # 3:4\r\n\n\n");
  EXPECT_TRUE(std::isnan(special.at(0)));
  EXPECT_EQ(special.at(1), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(special.size(), 3);
  EXPECT_EQ(readEveryWay(libsvm(), "1 2:5 1:4 2:6"), (Cells{4, 6, 1})) << "the last one counts";
  EXPECT_EQ(readEveryWay(libsvm(), ""), (Cells{}));
  EXPECT_EQ(readText(libsvm(3), "").array()->columns(), 3);
}

TEST(LibsvmFormat, readsWhatSystemDSWrites) {
  EXPECT_EQ(readEveryWay(libsvm(4), systemdsFile("labels.libsvm")),
            (Cells{1, 2, 0, 1, 0, 0, 0, -1, 0.5, 0, 3, 2}));
}

TEST(LibsvmFormat, takesSeparators) {
  MatrixFile file = libsvm();
  file.separator = ";";
  file.indexSeparator = "=>";
  EXPECT_EQ(readEveryWay(file, "1;1=>2; 2=>3\n"), (Cells{2, 3, 1}));
  file.separator.reset();
  file.indexSeparator = ",";
  EXPECT_EQ(readEveryWay(file, "1 1,2 2,3\n"), (Cells{2, 3, 1}));
  for (const char *wrong : {"", " ", "1", "-", "#"}) {
    file.indexSeparator = wrong;
    EXPECT_EQ(errorEveryWay(file, "1\n"),
              fmt::format("read: indSep cannot be '{}': an index and its value could not be told "
                          "apart",
                          wrong));
  }
  file.separator = "e";
  EXPECT_EQ(errorEveryWay(file, "1\n"), "read: sep cannot be 'e': fields could not be told apart");
}

TEST(LibsvmFormat, saysWhatIsWrong) {
  auto error = [&](const std::string &text) { return errorEveryWay(libsvm(3), text); };
  EXPECT_EQ(error("1 1:2\nyes 1:2\n"), "x: row 2: 'yes' is not a number");
  EXPECT_EQ(error("1:2\n"), "x: row 1: '1:2' is not a number");
  EXPECT_EQ(error("1 1:2\n\n1\n"), "x: row 2: it is empty, but begins with a label");
  EXPECT_EQ(error("1 7\n"), "x: row 1: '7' is not an index, ':' and a value");
  EXPECT_EQ(error("1 qid:7\n"), "x: row 1: the index 'qid' is not an integer");
  EXPECT_EQ(error("1 :7\n"), "x: row 1: the index '' is not an integer");
  EXPECT_EQ(error("1 0:7\n"), "x: row 1: the index 0 is less than 1");
  EXPECT_EQ(error("1 1:\n"), "x: row 1: the value of index 1 is missing");
  EXPECT_EQ(error("1 1: 5\n"), "x: row 1: the value of index 1 is missing");
  EXPECT_EQ(error("1 1:a\n"), "x: row 1: 'a' is not a number");
  EXPECT_EQ(error("1 3:4\n"), "x: row 1: the index 3 is outside of a matrix of 3 columns, of which "
                              "the last one is the label");
  EXPECT_EQ(errorEveryWay(libsvm(), "1 999999999999999999:4\n"),
            "x: row 1: the index 999999999999999999 is too large");
  EXPECT_EQ(errorEveryWay(libsvm(0), "1\n"),
            "x: the file has labels, which are a column, but cols is 0");
  MatrixFile file = libsvm();
  file.rows = 3;
  EXPECT_EQ(errorEveryWay(file, "1\n"), "x: the file has 1 row, expected 3");
}

TEST(LibsvmFormat, readsWideFilesIntoSparse) {
  std::string text;
  for (int row = 0; row < 1000; ++row)
    text += fmt::format("{} {}:1 {}:2\n", row % 2, row + 1, 900000 + row);
  Value x = readText(libsvm(1000000), text, little, 2);
  EXPECT_EQ(sizeOf(x), "1000x1000000");
  ASSERT_TRUE(x.array()->isSparse());
  EXPECT_EQ(x.array()->countNonZeros(), 2500);
}

TEST(LibsvmFormat, writesLabelsFirst) {
  Value x = matrix(3, 3, {0.5, 0, 1, 0, -3, 0, 0, 0, 2});
  EXPECT_EQ(written(x, {}), "1.0 1:0.5\n0.0 2:-3.0\n2.0\n");
  EXPECT_EQ(written(Value(Array::asSparse(x.array())), {}), written(x, {}));
  EXPECT_EQ(written(x, {.separator = ",", .indexSeparator = "="}), "1.0,1=0.5\n0.0,2=-3.0\n2.0\n");
  EXPECT_EQ(readEveryWay(libsvm(3), written(x, {})), cellsOf(x));
  EXPECT_EQ(written(matrix(0, 0, {}), {}), "");
  EXPECT_EQ(errorOf([] { written(matrix(1, 0, {}), {}); }),
            "write: the format libsvm needs a column of labels, the last one of the matrix: it has "
            "no columns");
}
