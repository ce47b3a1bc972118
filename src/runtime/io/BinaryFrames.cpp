#include "runtime/io/BinaryFrames.h"

#include "runtime/io/BigEndian.h"
#include "runtime/io/FrameCells.h"
#include "runtime/io/JavaText.h"
#include "runtime/io/SequenceFile.h"

#include <algorithm>
#include <limits>

namespace tokamak::runtime {
namespace {

constexpr std::string_view keyClass = "org.apache.hadoop.io.LongWritable",
                           valueClass = "org.apache.sysds.runtime.frame.data.FrameBlock";
constexpr int64_t rowsOfBlock = 1000;

// The types of columns in a file, by the numbers that stand there. A negative one has no cells.
enum class FileType : int8_t { UInt4 = 1, UInt8, Float32, Float64, Int32, Int64, Boolean, String };

// How the cells of a column lie in a block.
enum class CellLayout : uint8_t { Strings, Booleans, Bits, Int32, Int64, Float32, Float64 };

FrameType frameType(int number) {
  switch (static_cast<FileType>(number)) {
  case FileType::UInt4:
  case FileType::UInt8:
  case FileType::Int32:
  case FileType::Int64:
    return FrameType::Integer;
  case FileType::Float32:
  case FileType::Float64:
    return FrameType::Double;
  case FileType::Boolean:
    return FrameType::Boolean;
  case FileType::String:
    return FrameType::String;
  }
  throw Error(fmt::format("columns of type {} are not supported", number));
}

// Calls visit(row, value) for the cells of a column in a block.
template <typename Visit>
void forEachCell(BigEndianReader &reader, int64_t rows, const Visit &visit) {
  auto layout = reader.take<uint8_t>();
  auto number = [&](auto example) {
    // At once, so that a block that claims more rows than it has bytes fails before any is visited.
    BigEndianReader cells(reader.takeBytes(static_cast<uint64_t>(rows) * sizeof example));
    for (int64_t row = 0; row < rows; ++row)
      visit(row, cells.template take<decltype(example)>());
  };
  switch (static_cast<CellLayout>(layout)) {
  case CellLayout::Strings:
    reader.take<int64_t>(); // the size in SystemDS's memory
    for (int64_t row = 0; row < rows; ++row)
      visit(row, textOfJava(reader.takeBytes(reader.take<uint16_t>())));
    return;
  case CellLayout::Booleans:
    return number(uint8_t{});
  case CellLayout::Bits: {
    reader.take<int32_t>(); // the number of rows
    auto words = reader.take<int32_t>();
    if (words < 0)
      throw Error("its number of bits is negative");
    std::string_view bits = reader.takeBytes(static_cast<uint64_t>(words) * sizeof(uint64_t));
    for (int64_t row = 0; row < rows; ++row) { // what is missing at the end is FALSE
      uint64_t word = row / 64 < words ? bigEndian<uint64_t>(bits.data() + row / 64 * 8) : 0;
      visit(row, static_cast<uint8_t>(word >> (row % 64) & 1));
    }
    return;
  }
  case CellLayout::Int32:
    return number(int32_t{});
  case CellLayout::Int64:
    return number(int64_t{});
  case CellLayout::Float32:
    return number(float{});
  case CellLayout::Float64:
    return number(double{});
  }
  throw Error(fmt::format("columns of kind {} are not supported", layout));
}

struct FrameBlock {
  int64_t firstRow = 0; // from 1
  int64_t rows = 0, columns = 0;
  std::string_view bytes; // behind rows and columns
};

class FrameReader {
public:
  FrameReader(const std::string &path, TextSource &source) : path_(path) {
    for (size_t part = 0; part < source.parts(); ++part)
      if (std::string_view bytes = source.bytesOf(part); !bytes.empty())
        addPart(source.pathOf(part), bytes);
    std::sort(blocks_.begin(), blocks_.end(),
              [](const FrameBlock &a, const FrameBlock &b) { return a.firstRow < b.firstRow; });
    for (const FrameBlock &block : blocks_) {
      if (block.columns != blocks_[0].columns)
        fail(block, fmt::format("it has {} columns, the first block {}", block.columns,
                                blocks_[0].columns));
      if (block.firstRow != rows_ + 1)
        fail(block, fmt::format("it begins at row {}, expected row {}", block.firstRow, rows_ + 1));
      rows_ = checkedSum(rows_, block.rows, path_, "rows");
    }
  }

  FramePointer read(const MatrixMetadata &metadata) {
    int64_t columns = blocks_.empty() ? metadata.columns.value_or(0) : blocks_[0].columns;
    checkFrameSize(path_, "rows", metadata.rows, rows_);
    checkFrameSize(path_, "columns", metadata.columns, columns);
    for (const FrameBlock &block : blocks_) {
      try {
        readBlock(block);
      } catch (const Error &error) {
        fail(block, error.message());
      }
    }
    std::vector<FrameType> types;
    for (const std::shared_ptr<FrameColumn> &column : columns_)
      types.push_back(column->type());
    if (metadata.schema || blocks_.empty())
      types = parseSchema(metadata.schema.value_or("string"), columns, "read");
    std::vector<ColumnPointer> typed;
    for (int64_t j = 0; j < columns; ++j)
      typed.push_back(blocks_.empty() ? std::make_shared<FrameColumn>(types[j], 0)
                                      : columns_[j]->converted(types[j], path_, j));
    return std::make_shared<const Frame>(rows_, std::move(typed), std::move(names_));
  }

private:
  void addPart(const std::string &path, std::string_view bytes) {
    SequenceFile part(path, bytes);
    if (part.keyClass() != keyClass || part.valueClass() != valueClass)
      throw Error(fmt::format("{}: it holds records of {} and {}: expected blocks of a frame", path,
                              quotedField(part.keyClass()), quotedField(part.valueClass())));
    for (const SequenceRecord &record : part.records()) {
      BigEndianReader key(record.key), value(record.value);
      FrameBlock block;
      try {
        block.firstRow = key.take<int64_t>();
        block.rows = value.take<int32_t>();
        block.columns = value.take<int32_t>();
      } catch (const Error &) {
        throw Error(fmt::format("{}: block {} is damaged", path, blocks_.size() + 1));
      }
      block.bytes = value.rest();
      // Each column has at least a byte.
      if (block.rows < 0 || block.columns < 0 ||
          block.columns > static_cast<int64_t>(block.bytes.size()))
        throw Error(fmt::format("{}: block {}: it can't have {}x{} cells", path, blocks_.size() + 1,
                                block.rows, block.columns));
      blocks_.push_back(block);
    }
  }

  void readBlock(const FrameBlock &block) {
    BigEndianReader reader(block.bytes);
    bool hasDefaultNames = reader.take<uint8_t>() != 0;
    for (column_ = 0; column_ < block.columns; ++column_) {
      int type = reader.take<int8_t>();
      FrameType found = frameType(std::abs(type));
      if (static_cast<int64_t>(columns_.size()) == column_)
        columns_.push_back(std::make_shared<FrameColumn>(found, rows_));
      if (!hasDefaultNames) {
        std::string name = textOfJava(reader.takeBytes(reader.take<uint16_t>()));
        reader.take<int64_t>();                    // the number of distinct cells
        reader.takeBytes(reader.take<uint16_t>()); // what stands for missing cells
        if (block.firstRow == 1)
          names_.push_back(std::move(name));
      }
      if (type > 0 && block.rows > 0)
        forEachCell(reader, block.rows, [&](int64_t row, const auto &cell) {
          columns_[column_]->set(block.firstRow - 1 + row, valueOf(cell));
        });
    }
    if (!reader.rest().empty())
      throw Error("it has more bytes than cells");
  }

  static Value valueOf(const std::string &text) { return text.empty() ? Value() : Value(text); }
  static Value valueOf(uint8_t truth) { return Value(truth != 0); }
  static Value valueOf(int32_t number) { return Value(int64_t{number}); }
  static Value valueOf(int64_t number) { return Value(number); }
  static Value valueOf(float number) { return Value(double{number}); }
  static Value valueOf(double number) { return Value(number); }

  [[noreturn]] void fail(const FrameBlock &block, const std::string &message) const {
    std::string column = column_ < block.columns ? fmt::format(", column {}", column_ + 1) : "";
    throw Error(
        fmt::format("{}: the block at row {}{}: {}", path_, block.firstRow, column, message));
  }

  const std::string &path_;
  BudgetedVector<FrameBlock> blocks_;
  std::vector<std::shared_ptr<FrameColumn>> columns_;
  std::vector<std::string> names_;
  int64_t rows_ = 0, column_ = std::numeric_limits<int64_t>::max(); // the column being read
};

void appendText(std::string &bytes, const std::string &text, int64_t row, int64_t column) {
  std::string encoded = javaOfText(text);
  if (encoded.size() > std::numeric_limits<uint16_t>::max()) {
    std::string place = row < 0 ? fmt::format("the name of column {}", column + 1)
                                : fmt::format("row {}, column {}", row + 1, column + 1);
    throw Error(fmt::format("write: {}: the text has {} bytes: the format binary holds up to 65535",
                            place, encoded.size()));
  }
  appendBigEndian(bytes, static_cast<uint16_t>(encoded.size()));
  bytes += encoded;
}

// The cells of a column from row `begin` to before row `end`.
void appendCells(std::string &bytes, const FrameColumn &column, int64_t begin, int64_t end,
                 int64_t number) {
  switch (column.type()) {
  case FrameType::String: {
    appendBigEndian(bytes, static_cast<uint8_t>(CellLayout::Strings));
    constexpr int64_t unknownSize = -1;
    appendBigEndian(bytes, unknownSize);
    for (int64_t row = begin; row < end; ++row)
      appendText(bytes, column.text(row), row, number);
    return;
  }
  case FrameType::Double:
    appendBigEndian(bytes, static_cast<uint8_t>(CellLayout::Float64));
    for (int64_t row = begin; row < end; ++row)
      appendBigEndian(bytes, column.cell(row).asDouble());
    return;
  case FrameType::Integer:
    appendBigEndian(bytes, static_cast<uint8_t>(CellLayout::Int64));
    for (int64_t row = begin; row < end; ++row)
      appendBigEndian(bytes, column.cell(row).asInteger());
    return;
  case FrameType::Boolean:
    appendBigEndian(bytes, static_cast<uint8_t>(CellLayout::Booleans));
    for (int64_t row = begin; row < end; ++row)
      bytes += static_cast<char>(column.cell(row).asBoolean());
  }
}

int8_t typeNumber(FrameType type) {
  switch (type) {
  case FrameType::String:
    return static_cast<int8_t>(FileType::String);
  case FrameType::Double:
    return static_cast<int8_t>(FileType::Float64);
  case FrameType::Integer:
    return static_cast<int8_t>(FileType::Int64);
  case FrameType::Boolean:
    return static_cast<int8_t>(FileType::Boolean);
  }
  return 0;
}

} // namespace

FramePointer readBinaryFrame(const std::string &path, const MatrixMetadata &metadata,
                             TextSource &source) {
  return FrameReader(path, source).read(metadata);
}

void writeBinaryFrame(const Frame &frame, const WriteOptions &, FileWriter &file) {
  SequenceWriter writer(keyClass, valueClass);
  file.writeText(writer.header());
  for (int64_t begin = 0; begin < frame.rows(); begin += rowsOfBlock) {
    int64_t end = std::min(begin + rowsOfBlock, frame.rows());
    std::string key, value;
    appendBigEndian(key, begin + 1);
    appendBigEndian(value, static_cast<int32_t>(end - begin));
    appendBigEndian(value, static_cast<int32_t>(frame.columns()));
    appendBigEndian(value, static_cast<uint8_t>(!frame.hasNames()));
    for (int64_t j = 0; j < frame.columns(); ++j) {
      appendBigEndian(value, typeNumber(frame.column(j)->type()));
      if (frame.hasNames()) {
        constexpr int64_t unknownCount = -1;
        appendText(value, frame.name(j), -1, j);
        appendBigEndian(value, unknownCount);
        appendBigEndian(value, uint16_t{0}); // nothing stands for missing cells
      }
      appendCells(value, *frame.column(j), begin, end, j);
    }
    file.writeText(writer.record(key, value));
  }
}

} // namespace tokamak::runtime
