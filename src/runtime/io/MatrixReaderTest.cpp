// Tests the readers on texts in memory, cut into pieces of every small size.
#include "runtime/io/ReaderTesting.h"

#include <random>

using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

TEST(MatrixReader, readsCsvHoweverItIsCut) {
  EXPECT_EQ(readEveryWay(named("csv"), "1,2\n3,4\r\n5,6"), (Cells{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(readEveryWay(named("csv"), "1,2\n3,4\n\n\r\n\n"), (Cells{1, 2, 3, 4}));
  EXPECT_EQ(readEveryWay(named("csv"), "\xef\xbb\xbf"
                                       "1,2\n"),
            (Cells{1, 2}));
  EXPECT_EQ(readEveryWay(named("csv"), ""), (Cells{}));
  EXPECT_EQ(readEveryWay(named("csv"), "\xef\xbb\xbf\n\n\n\n\n\n"), (Cells{}));
  EXPECT_EQ(errorEveryWay(named("csv"), "1\nw\r\r\n\r\r\r"),
            "x: row 2, column 1: 'w\\x0d' is not a number");
  EXPECT_EQ(errorEveryWay(named("csv"), "1,2\n\n3,4\n"), "x: row 2 has 1 field, expected 2");
  EXPECT_EQ(errorEveryWay(named("csv"), "1,2\n3,4,5\n6\n"), "x: row 2 has 3 fields, expected 2");
  EXPECT_EQ(errorEveryWay(named("csv"), "1,2\n3,y\n6\n"),
            "x: row 2, column 2: 'y' is not a number");
}

// Plain numbers in the middle of a text are read in a way of their own: beside all other fields, and where rows are too
// short or too long.
TEST(MatrixReader, readsPlainNumbersAmongOthers) {
  std::mt19937_64 random(17);
  constexpr int64_t columns = 5;
  int accepted = 0, refused = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<std::string> others = {"1",     "-2e3",    "0.0",  "\"2.5\"", "NA",
                                             " 1.5 ", "1.5e300", "+0.5", ""};
    const std::vector<std::string> wrong = {"1.5x", "1.2.3", "-", "1.5 2", "\"1.5"};
    std::string text;
    for (int row = 0; row < 20; ++row) {
      int64_t fields = columns + (random() % 400 == 0) - (random() % 400 == 0);
      for (int64_t field = 0; field < fields; ++field) {
        text += field > 0 ? "," : "";
        text += random() % 1000 == 0 ? wrong[random() % wrong.size()]
                : random() % 8 == 0
                    ? others[random() % others.size()]
                    : fmt::format("{}", static_cast<double>(static_cast<int64_t>(random()) >> 9) *
                                            0x1p-50);
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
    }
    MatrixFile file = named("csv");
    file.naStrings = {"NA"};
    file.fill = true;
    file.columns = columns;
    bool isRight = errorEveryWay(file, text) == "no error";
    ++(isRight ? accepted : refused);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 50);
}

TEST(MatrixReader, takesOptionsOfCsv) {
  MatrixFile file = named("csv");
  file.header = true;
  file.separator = "; ";
  file.naStrings = {"NA", "?"};
  file.defaultValue = 7;
  Cells cells = readEveryWay(file, "\"a; \"\"b\",c; d\n1; 2\n?; \n");
  EXPECT_EQ(cells[1], 2);
  EXPECT_NE(cells[2], cells[2]);
  EXPECT_EQ(cells[3], 7);
  file.naStrings = {"-1", "2"}; // NA strings that look like numbers
  cells = readEveryWay(file, "a; b\n-1; 2\n-10; 22\n");
  EXPECT_NE(cells[0], cells[0]);
  EXPECT_NE(cells[1], cells[1]);
  EXPECT_EQ(cells[2], -10);
  file.fill = false;
  EXPECT_EQ(errorEveryWay(file, "a; b\n3; \n"),
            "x: row 1, column 2: the field is empty, and fill is FALSE");
  for (const char *separator : {"1", "-", "\"", "\n", "e"}) {
    file.separator = separator;
    EXPECT_TRUE(errorEveryWay(file, "1\n").starts_with("read: sep cannot be '")) << separator;
  }
}

TEST(MatrixReader, readsQuotedFields) {
  MatrixFile file = named("csv");
  file.naStrings = {"not, known", "say \"no\""};
  Cells cells =
      readEveryWay(file, "\"1.5\", \"-2\" ,3\n\"not, known\",\"say \"\"no\"\"\",\" 4 \"\n");
  EXPECT_EQ(cells[0], 1.5);
  EXPECT_EQ(cells[1], -2);
  EXPECT_NE(cells[3], cells[3]);
  EXPECT_NE(cells[4], cells[4]);
  EXPECT_EQ(cells[5], 4);
  EXPECT_EQ(errorEveryWay(file, "1,2\n\"3,4\n5,6\n"),
            "x: row 2, column 1: the quote of '\"3,4' is not closed");
  EXPECT_EQ(errorEveryWay(file, "1,2\n\"3\"x,4\n"), "x: row 2, column 1: '\"3\"x' is not a number");
  file.header = true;
  EXPECT_EQ(readEveryWay(file, "\"two\nlines\",b\n1,2\n"), (Cells{1, 2}));
  EXPECT_EQ(errorEveryWay(file, "\"two\nlines\",b\n1,x\n"),
            "x: row 1, column 2: 'x' is not a number");
}

TEST(MatrixReader, readsSpecialNumbers) {
  EXPECT_EQ(readEveryWay(named("csv"), "inf,-Inf,+Infinity,1e400\n"),
            (Cells{infinity, -infinity, infinity, infinity}));
  EXPECT_EQ(readEveryWay(named("csv"), "+1,-.5,1.,1E+2\n"), (Cells{1, -0.5, 1, 100}));
  Cells cells = readEveryWay(named("csv"), "nan,-0.0\n");
  EXPECT_NE(cells[0], cells[0]);
  EXPECT_TRUE(std::signbit(cells[1]));
}

TEST(MatrixReader, shortensAndEscapesWhatIsNoNumber) {
  EXPECT_EQ(errorEveryWay(named("csv"), "1,\x1b[2Jx\n"),
            "x: row 1, column 2: '\\x1b[2Jx' is not a number");
  EXPECT_EQ(errorEveryWay(named("csv"), std::string(1000, 'z')),
            "x: row 1, column 1: '" + std::string(40, 'z') + "...' is not a number");
}

TEST(MatrixReader, keepsEmptyLinesOfOneColumn) {
  MatrixFile file = named("csv");
  EXPECT_EQ(readEveryWay(file, "1\n\n3\n\n"), (Cells{1, 0, 3}));
  file.columns = 1;
  file.rows = 4;
  EXPECT_EQ(readEveryWay(file, "1\n\n3\n\n"), (Cells{1, 0, 3, 0}));
}

TEST(MatrixReader, checksSizesOfCsv) {
  MatrixFile file = named("csv");
  file.columns = 3;
  EXPECT_EQ(errorEveryWay(file, "1,2\n"), "x: the file has 2 columns, expected 3");
  file.columns = 2;
  file.rows = 2;
  EXPECT_EQ(errorEveryWay(file, "1,2\n"), "x: the file has 1 row, expected 2");
  file.rows = 0;
  file.header = true;
  EXPECT_EQ(sizeOf(readText(file, "a,b\n")), "0x2");
}

TEST(MatrixReader, readsText) {
  MatrixFile file = named("text");
  file.rows = 2;
  file.columns = 3;
  EXPECT_EQ(readEveryWay(file, "1 1 2.5\n\n% a comment\n 2\t3 -1 \r\n"),
            (Cells{2.5, 0, 0, 0, 0, -1}));
  EXPECT_EQ(readEveryWay(file, "1 1 4\n1 2 5\n1 1 6\n"),
            (Cells{6, 5, 0, 0, 0, 0})); // the last value of a cell counts
  EXPECT_EQ(readEveryWay(file, "0 0 0\n"), (Cells(6, 0)));
  EXPECT_EQ(errorEveryWay(file, "1 1 1\n3 3 1\n"),
            "x: line 2: cell (3, 3) is outside of a 2x3 matrix");
  EXPECT_EQ(errorEveryWay(file, "1 0 1\n"), "x: line 1: cell (1, 0) is outside of a 2x3 matrix");
  EXPECT_EQ(errorEveryWay(file, "1 1 1\n\n2 3 abc\n"),
            "x: line 3: row 2, column 3: 'abc' is not a number");
  EXPECT_EQ(errorEveryWay(file, "1 1\n"), "x: line 1: row 1, column 1: the value is missing");
  EXPECT_EQ(errorEveryWay(file, "1.5 1 1\n"), "x: line 1: the row '1.5' is not an integer");
  EXPECT_EQ(errorEveryWay(file, "1\n"), "x: line 1: the column is missing");
  EXPECT_EQ(errorEveryWay(file, "99999999999999999999 1 1\n"),
            "x: line 1: the row '99999999999999999999' is not an integer");
  EXPECT_EQ(errorEveryWay(file, "1 1 1 1\n"), "x: line 1: '1' is one field too many");
  file.rows.reset();
  EXPECT_EQ(errorEveryWay(file, "1 1 1\n"),
            "read: x: a file of the format text needs rows and cols");
  file.rows = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(errorEveryWay(file, "1 1 1\n"),
            "a matrix of the size 9223372036854775807x3 is too large");
}

TEST(MatrixReader, readsCoordinatesOfMatrixMarket) {
  std::string head = "%%MatrixMarket matrix coordinate ";
  MatrixFile file = named("mm");
  EXPECT_EQ(readEveryWay(file, head + "real general\n% comment\n\n2 2 2\n1 2 3.5\n2 1 4\n"),
            (Cells{0, 3.5, 4, 0}));
  EXPECT_EQ(readEveryWay(file, head + "integer symmetric\n2 2 2\n1 1 3\n2 1 4\n"),
            (Cells{3, 4, 4, 0}));
  EXPECT_EQ(readEveryWay(file, head + "Real Skew-Symmetric\n2 2 1\n2 1 4\n"), (Cells{0, -4, 4, 0}));
  EXPECT_EQ(readEveryWay(file, head + "pattern symmetric\n2 2 1\n2 1\n"), (Cells{0, 1, 1, 0}));
  EXPECT_EQ(readEveryWay(file, head + "real general\n0 0 0\n"), (Cells{}));
  EXPECT_EQ(readEveryWay(file, head + "real general\n2 2 0\n0 0 0\n"), (Cells{0, 0, 0, 0}));

  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 2 2\n1 1 3\n"),
            "x: the file has 1 entries, expected 2");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 2 1\n3 1 3\n"),
            "x: line 3: cell (3, 1) is outside of a 2x2 matrix");
  EXPECT_EQ(errorEveryWay(file, head + "integer general\n2 2 1\n2 1 3.5\n"),
            "x: line 3: row 2, column 1: the value is not an integer");
  EXPECT_EQ(errorEveryWay(file, head + "pattern general\n2 2 1\n2 1 3\n"),
            "x: line 3: '3' is one field too many");
  EXPECT_EQ(errorEveryWay(file, head + "real skew-symmetric\n2 2 1\n1 1 3\n"),
            "x: line 3: row 1, column 1: the diagonal of a skew-symmetric matrix is 0");
  EXPECT_EQ(errorEveryWay(file, head + "real symmetric\n2 3 1\n1 1 3\n"),
            "x: line 2: a symmetric matrix must be square, not 2x3");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 -2 1\n"),
            "x: line 2: the number of columns is negative: -2");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 2\n"),
            "x: line 2: the number of entries is missing");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n% nothing\n"),
            "x: the line with the numbers of rows and columns is missing");
  // Of two mistakes it is the first one, however the file is cut.
  std::string tooLarge = errorEveryWay(
      file, head + "real general\n3422954 10999999901 1\n\n\n\n\nno number\n\n\n\n3 3 2\n");
  EXPECT_NE(tooLarge.find("3422954x10999999901"), std::string::npos) << tooLarge;
  file.rows = 3;
  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 2 0\n"),
            "x: the file has 2 rows, expected 3");
}

TEST(MatrixReader, readsArraysOfMatrixMarket) {
  std::string head = "%%MatrixMarket matrix array ";
  MatrixFile file = named("mm");
  EXPECT_EQ(readEveryWay(file, head + "real general\n2 3\n1\n2\n% c\n3\n4\n\n5\n6\n"),
            (Cells{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(readEveryWay(file, head + "integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
            (Cells{1, 2, 3, 2, 4, 5, 3, 5, 6}));
  EXPECT_EQ(readEveryWay(file, head + "real skew-symmetric\n3 3\n1\n2\n3\n"),
            (Cells{0, -1, -2, 1, 0, -3, 2, 3, 0}));
  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 2\n1\n2\n3\n"),
            "x: the file ends after 3 of 4 values");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n1 2\n1\n2\n3\n"),
            "x: line 5: one value too many: a 1x2 matrix has 2 of them here");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n2 2\n1\n2\nx\n4\n"),
            "x: line 5: row 1, column 2: 'x' is not a number");
  EXPECT_EQ(errorEveryWay(file, head + "real general\n1 1\n1 2\n"),
            "x: line 3: '2' is one field too many");
}

TEST(MatrixReader, namesKindsOfMatrixMarketItDoesNotRead) {
  MatrixFile file = named("mm");
  auto errorOfKind = [&](const std::string &kind) {
    return errorEveryWay(file, "%%MatrixMarket " + kind + "\n1 1 1\n1 1 1\n");
  };
  EXPECT_EQ(errorOfKind("matrix coordinate complex general"),
            "x: line 1: 'complex' is not supported: expected real, double, integer, pattern");
  EXPECT_EQ(errorOfKind("matrix coordinate real hermitian"),
            "x: line 1: 'hermitian' is not supported: expected general, symmetric, skew-symmetric");
  EXPECT_EQ(errorOfKind("matrix array pattern general"),
            "x: line 1: an array cannot be a pattern: it would have no values");
  EXPECT_EQ(errorOfKind("matrix coordinate pattern skew-symmetric"),
            "x: line 1: a pattern cannot be skew-symmetric: all its values are 1");
  EXPECT_EQ(errorOfKind("vector coordinate real general"),
            "x: line 1: 'vector' is not supported: expected matrix");
  EXPECT_EQ(errorOfKind("matrix coordinate real"),
            "x: line 1: the header must have five words, such as "
            "'%%MatrixMarket matrix coordinate real general'");
  EXPECT_EQ(errorEveryWay(file, "1 1 1\n"),
            "x: line 1: a Matrix Market file begins with %%MatrixMarket");
}

// A graph whose dense form would take 8 terabytes.
TEST(MatrixReader, readsLargeSparseMatricesIntoSparse) {
  std::mt19937_64 random(3);
  constexpr int64_t nodes = 1000000, edges = 200000;
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate real general\n{0} {0} {1}\n", nodes, edges);
  for (int64_t i = 0; i < edges; ++i)
    text += fmt::format("{} {} {}\n", random() % nodes + 1, random() % nodes + 1, i % 5);
  Value one = readText(named("mm"), text), two = readText(named("mm"), text, {}, 2);
  const Array &graph = *one.array();
  ASSERT_TRUE(graph.isSparse());
  EXPECT_GT(graph.entries(), edges * 3 / 4);
  EXPECT_LE(graph.entries(), edges * 4 / 5); // every fifth edge is 0
  for (int64_t row = 0; row < nodes; ++row)
    for (int64_t p = graph.rowOffsets()[row] + 1; p < graph.rowOffsets()[row + 1]; ++p)
      ASSERT_LT(graph.columnIndices()[p - 1], graph.columnIndices()[p]);
  ASSERT_EQ(graph.entries(), two.array()->entries());
  EXPECT_EQ(std::memcmp(graph.data(), two.array()->data(), graph.entries() * sizeof(double)), 0);
}

// The matrices begin sparse and end dense; some cells occur twice.
TEST(MatrixReader, readsCellsIntoTheBestLayout) {
  std::mt19937 random(5);
  for (int cells : {10, 300, 3000}) {
    MatrixFile file = named("text");
    file.rows = file.columns = 40;
    std::string text;
    Cells expected(1600, 0);
    for (int i = 0; i < cells; ++i) {
      int row = static_cast<int>(random() % 40), column = static_cast<int>(random() % 40);
      double value = static_cast<double>(random() % 4);
      text += fmt::format("{} {} {}\n", row + 1, column + 1, value);
      expected[row * 40 + column] = value;
    }
    EXPECT_EQ(readEveryWay(file, text), expected);
    int64_t nonZeros = 1600 - std::count(expected.begin(), expected.end(), 0.0);
    EXPECT_EQ(readText(file, text).array()->isSparse(), nonZeros < 400) << cells;
  }
}

TEST(MatrixReader, refusesDamagedGzip) {
  std::string whole = gzipMember("1,2\n3,4\n");
  for (size_t size = 2; size < whole.size(); ++size)
    EXPECT_EQ(errorOf([&] { readText(named("csv"), whole.substr(0, size)); }),
              "x: the gz data end early: the file is cut off")
        << size;
  EXPECT_EQ(errorOf([&] { readText(named("csv"), whole + "1,2\n"); }),
            "x: something else follows the gz data");
  EXPECT_EQ(cellsOf(readText(named("csv"), whole + std::string(100, '\0'))), (Cells{1, 2, 3, 4}));
}
