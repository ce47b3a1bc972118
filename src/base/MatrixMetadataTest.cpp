#include "base/MatrixMetadata.h"

#include "base/Error.h"

#include <gtest/gtest.h>

using namespace tokamak;

static std::string messageOf(std::string_view text) {
  try {
    parseMetadata(text, "x.mtd");
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

TEST(MatrixMetadata, readsAllEntries) {
  MatrixMetadata metadata = parseMetadata(R"({
    "data_type": "matrix", "value_type": "double", "rows": 5, "cols": "3", "nnz": -1, "format": "csv",
    "header": true, "sep": ";", "fill": "FALSE", "default": 1.5, "naStrings": ["NA", "?"], "author": "someone",
    "rows_in_block": 1000, "cols_in_block": -1, "indSep": "=", "dataset": "x"})",
                                          "x.mtd");
  EXPECT_EQ(metadata.dataType, "matrix");
  EXPECT_EQ(metadata.rows, 5);
  EXPECT_EQ(metadata.columns, 3);
  EXPECT_FALSE(metadata.nonZeros.has_value());
  EXPECT_EQ(metadata.header, true);
  EXPECT_EQ(metadata.fill, false);
  EXPECT_EQ(metadata.defaultValue, 1.5);
  EXPECT_EQ(metadata.rowsInBlock, 1000);
  EXPECT_FALSE(metadata.columnsInBlock.has_value());
  EXPECT_EQ(metadata.indexSeparator, "=");
  EXPECT_EQ(metadata.dataset, "x");
  EXPECT_EQ(metadata.naStrings, (std::vector<std::string>{"NA", "?"}));
}

TEST(MatrixMetadata, namesUnknownKeysAndWrongTypes) {
  EXPECT_EQ(messageOf(R"({"colls": 3})"), "x.mtd: unknown key \"colls\"; did you mean \"cols\"?");
  EXPECT_EQ(messageOf(R"({"rows": "many"})"), "x.mtd: \"rows\" must be an integer, got \"many\"");
  EXPECT_EQ(messageOf("[1]"), "x.mtd: not a JSON object");
  EXPECT_EQ(messageOf("{\n  \"rows\": }"), "x.mtd:2:11: not a valid JSON object");
}

TEST(MatrixMetadata, survivesWhatIsNoMetadata) {
  EXPECT_EQ(messageOf(R"({"default": 1e999})"), "x.mtd: a number is too large");
  std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(messageOf("{\"rows\": " + deep + "}"),
            "x.mtd: \"rows\" must be an integer, got an array");
  EXPECT_EQ(messageOf("{\"rows\": \"" + std::string(100, 'x') + "\"}"),
            "x.mtd: \"rows\" must be an integer, got \"" + std::string(39, 'x') + "...");
  EXPECT_EQ(messageOf("{\"rows\": \"\xff\"}"), "x.mtd:1:11: not a valid JSON object");
  EXPECT_EQ(messageOf(""), "x.mtd:1:1: not a valid JSON object");
}

TEST(MatrixMetadata, keepsNumbersThatJsonLacks) {
  for (const char *text : {"NaN", "Infinity", "-Infinity"}) {
    std::string entry = std::string("\"default\": \"") + text + "\"";
    MatrixMetadata metadata = parseMetadata("{" + entry + "}", "x.mtd");
    EXPECT_NE(metadataText(metadata, {}).find(entry), std::string::npos) << text;
  }
}

TEST(MatrixMetadata, writesTextThatIsNoUtf8) {
  std::string text = metadataText({}, {{"description", "\xff"}});
  EXPECT_NE(text.find("description"), std::string::npos);
  EXPECT_EQ(parseMetadata(text, "x.mtd").format, std::nullopt);
}

TEST(MatrixMetadata, isNothingWithoutAFile) {
  EXPECT_FALSE(readMetadata("/nowhere/x.csv").has_value());
}

TEST(MatrixMetadata, writesWhatItReads) {
  MatrixMetadata metadata;
  metadata.format = "csv";
  metadata.rows = 7;
  metadata.header = true;
  std::string text = metadataText(metadata, {{"author", "Tokamak"}});
  MatrixMetadata again = parseMetadata(text, "x.mtd");
  EXPECT_EQ(again.format, "csv");
  EXPECT_EQ(again.rows, 7);
  EXPECT_EQ(again.header, true);
  EXPECT_FALSE(again.columns.has_value());
}
