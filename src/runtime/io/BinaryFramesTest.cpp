// The format binary of frames: files of SystemDS, round trips, and files that are damaged.
#include "runtime/io/BigEndian.h"
#include "runtime/io/FileTesting.h"
#include "runtime/io/Format.h"
#include "runtime/io/JavaText.h"
#include "runtime/io/SequenceFile.h"
#include "runtime/natives/NativeTesting.h"

#include <cmath>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

namespace {

FramePointer read(std::string_view bytes, const MatrixMetadata &metadata = {}) {
  TextSource source("x", bytes, {});
  return BinaryFormat.readFrame("x", metadata, source);
}

std::string readError(std::string_view bytes, const MatrixMetadata &metadata = {}) {
  return errorOf([&] { read(bytes, metadata); });
}

std::string written(const Frame &frame) {
  return writtenFile([&](FileWriter &file) { BinaryFormat.writeFrame(frame, {}, file); });
}

// A file of blocks that begin at these rows.
std::string fileOf(const std::vector<std::pair<int64_t, std::string>> &blocks) {
  SequenceWriter writer("org.apache.hadoop.io.LongWritable",
                        "org.apache.sysds.runtime.frame.data.FrameBlock");
  std::string bytes = writer.header();
  for (const auto &[row, block] : blocks) {
    std::string key;
    appendBigEndian(key, row);
    bytes += writer.record(key, block);
  }
  return bytes;
}

// One column without a name: its type, its layout and the bytes of its cells.
std::string blockOf(int32_t rows, int8_t type, uint8_t layout, std::string_view cells) {
  std::string bytes;
  appendBigEndian(bytes, rows);
  appendBigEndian(bytes, int32_t{1});
  bytes += {1, static_cast<char>(type), static_cast<char>(layout)};
  return bytes.append(cells);
}

} // namespace

TEST(BinaryFrames, readsWhatSystemDSWrites) {
  FramePointer people = read(systemdsFile("people.bin"));
  EXPECT_EQ(people->sizeText(), "3x5");
  EXPECT_EQ(schemaText(*people), "STRING,INT64,INT64,BOOLEAN,FP64");
  EXPECT_EQ(people->names(), (std::vector<std::string>{"name", "age", "big", "ok", "x"}));
  EXPECT_EQ(people->cell(2, 0).asText(), "\xc3\x84 b");
  EXPECT_TRUE(people->cell(1, 0).isNothing());
  EXPECT_EQ(people->cell(0, 2).asInteger(), 12345678901);
  EXPECT_FALSE(people->cell(1, 3).asBoolean());
  EXPECT_EQ(people->cell(1, 4).asDouble(), -2e10);
  EXPECT_TRUE(std::isnan(people->cell(2, 4).asDouble()));
  FramePointer bits = read(systemdsFile("bits-frame.bin"));
  ASSERT_EQ(bits->sizeText(), "70x1");
  FramePointer numbers = read(systemdsFile("long-frame.bin"));
  ASSERT_EQ(numbers->sizeText(), "2500x1");
  EXPECT_FALSE(numbers->hasNames());
  for (int64_t i = 0; i < 2500; ++i) {
    ASSERT_EQ(numbers->cell(i, 0).asInteger(), i + 1);
    if (i < 70) {
      ASSERT_EQ(bits->cell(i, 0).asBoolean(), i % 2 == 1);
    }
  }
}

TEST(BinaryFrames, readsWhatItWrites) {
  FramePointer people = read(systemdsFile("people.bin"));
  std::string bytes = written(*people);
  FramePointer again = read(bytes);
  EXPECT_EQ(schemaText(*again), schemaText(*people));
  EXPECT_EQ(again->names(), people->names());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(again->column(j)->text(i), people->column(j)->text(i));
  FramePointer numbers = read(systemdsFile("long-frame.bin"));
  EXPECT_EQ(read(written(*numbers))->cell(2499, 0).asInteger(), 2500);
  MatrixMetadata metadata;
  metadata.columns = 3;
  metadata.schema = "INT64,STRING,FP64";
  EXPECT_EQ(read(written(*frameOfMatrix(*matrix(0, 3, {}).array())), metadata)->sizeText(), "0x3");
}

TEST(BinaryFrames, followsASchema) {
  MatrixMetadata metadata;
  metadata.schema = "STRING,FP64,STRING,STRING,FP64,"; // SystemDS ends it so
  FramePointer people = read(systemdsFile("people.bin"), metadata);
  EXPECT_EQ(people->cell(0, 1).asDouble(), 5);
  EXPECT_EQ(people->cell(0, 2).asText(), "12345678901");
  metadata.schema = "INT64,FP64,STRING,STRING,FP64";
  EXPECT_TRUE(readError(systemdsFile("people.bin"), metadata).starts_with("x: row 1, column 1: "));
}

TEST(BinaryFrames, saysWhichBlockIsWrong) {
  std::string truth = blockOf(1, 7, 1, std::string(1, '\1'));
  EXPECT_EQ(read(fileOf({{1, truth}, {2, truth}}))->sizeText(), "2x1");
  EXPECT_EQ(read(fileOf({{2, truth}, {1, truth}}))->sizeText(), "2x1") << "in any order";
  EXPECT_EQ(readError(fileOf({{1, truth}, {3, truth}})),
            "x: the block at row 3: it begins at row 3, expected row 2");
  EXPECT_EQ(readError(fileOf({{INT64_MIN, truth}})),
            "x: the block at row -9223372036854775808: it begins at row -9223372036854775808, "
            "expected row 1");
  EXPECT_EQ(readError(fileOf({{1, blockOf(2, 7, 1, std::string(1, '\1'))}})),
            "x: the block at row 1, column 1: it ends early");
  EXPECT_EQ(readError(fileOf({{1, truth + "."}})),
            "x: the block at row 1: it has more bytes than cells");
  EXPECT_EQ(readError(fileOf({{1, blockOf(1, 9, 1, ".")}})),
            "x: the block at row 1, column 1: columns of type 9 are not supported");
  EXPECT_EQ(readError(fileOf({{1, blockOf(1, 7, 12, ".")}})),
            "x: the block at row 1, column 1: columns of kind 12 are not supported");
  EXPECT_EQ(readError(fileOf({{1, blockOf(-1, 7, 1, ".")}})),
            "x: block 1: it can't have -1x1 cells");
  EXPECT_EQ(readError(fileOf({{1, "...."}})), "x: block 1 is damaged");
  EXPECT_TRUE(readError(systemdsFile("dense.bin")).ends_with("expected blocks of a frame"));
  MatrixMetadata metadata;
  metadata.rows = 2;
  EXPECT_EQ(readError(fileOf({{1, truth}}), metadata), "x: the file has 1 rows, expected 2");
}

TEST(BinaryFrames, holdsTextsOfLimitedSize) {
  FrameColumn::Texts texts(1);
  texts[0] = std::string(65536, 'x');
  Frame frame(1, {std::make_shared<const FrameColumn>(std::move(texts))});
  EXPECT_EQ(
      errorOf([&] { written(frame); }),
      "write: row 1, column 1: the text has 65536 bytes: the format binary holds up to 65535");
}

TEST(JavaText, encodesWhatUtf8DoesOtherwise) {
  EXPECT_EQ(javaOfText("plain \xc3\x84"), "plain \xc3\x84");
  std::string zero("a\0b", 3), face = "\xf0\x9f\x98\x80"; // U+1F600 is D83D DE00
  EXPECT_EQ(javaOfText(zero), "a\xc0\x80"
                              "b");
  EXPECT_EQ(javaOfText(face), "\xed\xa0\xbd\xed\xb8\x80");
  EXPECT_EQ(textOfJava(javaOfText(zero + face)), zero + face);
  for (const char *wrong : {"\xed", "\xed\xa0", "\xed\xa0\xbd", "\xed\xa0\xbd\xed", "\xc0",
                            "\xf0\x9f", "\xf0\x80\x80\x80"})
    EXPECT_EQ(textOfJava(wrong), wrong);
  EXPECT_EQ(javaOfText("\xf0\x9f"), "\xf0\x9f");
}
