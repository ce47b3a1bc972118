#include "runtime/io/FileTesting.h"
#include "runtime/io/Format.h"
#include "runtime/natives/NativeTesting.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

FramePointer read(std::string_view text, const MatrixMetadata &metadata = {}) {
  TextSource source("x", text, {});
  return JsonLinesFormat.readFrame("x", metadata, source);
}

std::string readError(std::string_view text, const MatrixMetadata &metadata = {}) {
  return errorOf([&] { read(text, metadata); });
}

std::string written(const Frame &frame) {
  return writtenFile([&](FileWriter &file) { JsonLinesFormat.writeFrame(frame, {}, file); });
}

} // namespace

TEST(JsonLinesFormat, findsTypesAndNames) {
  FramePointer frame = read("{\"name\": \"Anna\", \"age\": 5, \"x\": 1.5, \"ok\": true}\n"
                            "\n"
                            "{\"x\": 2, \"ok\": false, \"age\": -7, \"name\": \"\"}\r\n");
  EXPECT_EQ(frame->sizeText(), "2x4");
  EXPECT_EQ(schemaText(*frame), "STRING,INT64,FP64,BOOLEAN");
  EXPECT_EQ(frame->names(), (std::vector<std::string>{"name", "age", "x", "ok"}));
  EXPECT_EQ(frame->cell(0, 0).asText(), "Anna");
  EXPECT_EQ(frame->cell(1, 1).asInteger(), -7);
  EXPECT_EQ(frame->cell(1, 2).asDouble(), 2);
  EXPECT_FALSE(frame->cell(1, 3).asBoolean());
}

TEST(JsonLinesFormat, takesWhatIsMissing) {
  FramePointer frame = read("{\"a\": 1}\n{\"b\": \"x\"}\n{\"a\": null, \"c\": true}");
  EXPECT_EQ(frame->sizeText(), "3x3");
  EXPECT_EQ(schemaText(*frame), "FP64,STRING,STRING");
  EXPECT_TRUE(std::isnan(frame->cell(1, 0).asDouble()));
  EXPECT_TRUE(std::isnan(frame->cell(2, 0).asDouble()));
  EXPECT_TRUE(frame->cell(0, 1).isNothing());
  EXPECT_EQ(frame->cell(2, 2).asText(), "true");
  MatrixMetadata metadata;
  metadata.naStrings = {"?"};
  EXPECT_EQ(schemaText(*read("{\"a\": 1.5}\n{\"a\": \"?\"}", metadata)), "FP64");
  EXPECT_EQ(read("")->sizeText(), "0x0");
  EXPECT_EQ(read("{}\n{}")->sizeText(), "2x0");
}

TEST(JsonLinesFormat, keepsNumbersAsTheyAre) {
  FramePointer frame =
      read("{\"a\": 9223372036854775807, \"b\": 9223372036854775808, \"c\": 1e300}\n"
           "{\"a\": 1, \"b\": 2, \"c\": \"y\"}");
  EXPECT_EQ(frame->cell(0, 0).asInteger(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(frame->cell(0, 1).asDouble(), 0x1p63);
  EXPECT_EQ(schemaText(*frame), "INT64,FP64,STRING");
}

TEST(JsonLinesFormat, followsASchema) {
  MatrixMetadata metadata;
  metadata.schema = "double,string,int";
  FramePointer frame = read("{\"a\": 1, \"b\": 2.50, \"c\": true}", metadata);
  EXPECT_EQ(schemaText(*frame), "FP64,STRING,INT64");
  EXPECT_EQ(frame->cell(0, 1).asText(), "2.50");
  EXPECT_EQ(frame->cell(0, 2).asInteger(), 1);
  EXPECT_TRUE(readError("{\"a\": \"x\", \"b\": 2, \"c\": 3}", metadata)
                  .starts_with("x: row 1, column 1: "));
  metadata.schema.reset();
  metadata.rows = 3;
  EXPECT_EQ(readError("{\"a\": 1}", metadata), "x: the file has 1 rows, expected 3");
  metadata.rows.reset();
  metadata.columns = 2;
  EXPECT_EQ(readError("{\"a\": 1}", metadata), "x: the file has 1 columns, expected 2");
}

TEST(JsonLinesFormat, saysWhichLineIsWrong) {
  EXPECT_EQ(readError("{\"a\": 1}\n{\"a\": 1,}\n"), "x: line 2: no valid JSON at character 9");
  EXPECT_EQ(readError("{\"a\": 1} {}\n"), "x: line 1: no valid JSON at character 10");
  EXPECT_EQ(readError("{\"a\": \"\xff\"}\n"), "x: line 1: no valid JSON at character 8");
  EXPECT_EQ(readError("{\"a\": NaN}\n"), "x: line 1: no valid JSON at character 7");
  EXPECT_EQ(readError("{\"a\": 1e400}\n"), "x: line 1: the number '1e400' is too large");
  EXPECT_EQ(readError("[1, 2]\n"),
            "x: line 1: expected an object, such as {\"name\": \"Anna\", \"age\": 5}");
  EXPECT_EQ(readError("7\n"),
            "x: line 1: expected an object, such as {\"name\": \"Anna\", \"age\": 5}");
  EXPECT_EQ(readError("{\"a\": {}}\n"),
            "x: line 1: the value of 'a' is an object: expected a number, "
            "a text, true, false or null");
  EXPECT_EQ(readError("{\"a\": [1]}\n"),
            "x: line 1: the value of 'a' is an array: expected a number, "
            "a text, true, false or null");
  EXPECT_EQ(readError("{\"a\": 1, \"a\": 2}\n"), "x: line 1: the key 'a' occurs twice");
}

TEST(JsonLinesFormat, readsWhatItWrites) {
  std::string text = "{\"a \\\"b\\\"\": \"x\\ny\", \"n\": 1, \"d\": 0.1, \"ok\": true}\n"
                     "{\"a \\\"b\\\"\": null, \"n\": -5, \"d\": null, \"ok\": false}\n"
                     "{\"a \\\"b\\\"\": \"\", \"n\": 0, \"d\": 1.0E300, \"ok\": true}\n";
  FramePointer frame = read(text);
  EXPECT_EQ(written(*frame), text);
  FramePointer infinite =
      frameOfMatrix(*matrix(1, 1, {std::numeric_limits<double>::infinity()}).array());
  EXPECT_EQ(written(*infinite), "{\"C1\": \"Infinity\"}\n");
  MatrixMetadata metadata;
  metadata.schema = "FP64";
  EXPECT_EQ(read(written(*infinite), metadata)->cell(0, 0).asDouble(),
            std::numeric_limits<double>::infinity());
  FramePointer twice = std::make_shared<const Frame>(
      1, std::vector<ColumnPointer>{frame->column(1)->rowsOf(0, 1), frame->column(1)->rowsOf(0, 1)},
      std::vector<std::string>{"a", "a"});
  EXPECT_EQ(errorOf([&] { written(*twice); }),
            "write: two columns are named 'a', which the format jsonl can't hold");
}
