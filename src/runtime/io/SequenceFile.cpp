#include "runtime/io/SequenceFile.h"

#include "runtime/io/BigEndian.h"

#include <fmt/format.h>
#include <limits>

namespace tokamak::runtime {
namespace {

// Stands between records, escaped by a length of -1. Hadoop draws 16 bytes for each file; here they
// are always the same, so that equal matrices are equal files.
constexpr std::string_view mark = "Tokamak blocks 1";
constexpr size_t markBytes = 16;
static_assert(mark.size() == markBytes);
constexpr int32_t markEscape = -1;

// Numbers of one to nine bytes: a small one is a byte; else the first byte says how many follow and
// whether the number is negative.
int64_t takeVariableInteger(BigEndianReader &reader) {
  auto first = reader.take<int8_t>();
  constexpr int leastDirect = -112, leastPositive = -120;
  if (first >= leastDirect)
    return first;
  bool isNegative = first < leastPositive;
  int count = isNegative ? leastPositive - first : leastDirect - first;
  uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value = value << 8 | reader.take<uint8_t>();
  return static_cast<int64_t>(isNegative ? ~value : value);
}

std::string takeText(BigEndianReader &reader) {
  int64_t size = takeVariableInteger(reader);
  if (size < 0)
    throw Error("a text has a negative size");
  return std::string(reader.takeBytes(static_cast<uint64_t>(size)));
}

} // namespace

SequenceFile::SequenceFile(const std::string &path, std::string_view bytes) {
  try {
    parse(bytes);
  } catch (const Error &error) {
    std::string place = records_.empty() ? "" : fmt::format("behind record {}: ", records_.size());
    throw Error(fmt::format("{}: {}{}", path, place, error.message()), error.kind());
  }
}

void SequenceFile::parse(std::string_view bytes) {
  if (!bytes.starts_with(beginning))
    throw Error("it is no sequence file: it doesn't begin with SEQ");
  BigEndianReader reader(bytes.substr(beginning.size()));
  auto version = reader.take<uint8_t>();
  if (version != 6)
    throw Error(fmt::format("sequence files of version {} are not supported: expected 6", version));
  keyClass_ = takeText(reader);
  valueClass_ = takeText(reader);
  bool isCompressed = reader.take<uint8_t>() != 0, isBlockCompressed = reader.take<uint8_t>() != 0;
  if (isCompressed || isBlockCompressed)
    throw Error("compressed sequence files are not supported");
  auto notes = reader.take<int32_t>();
  for (int64_t i = 0; i < 2 * int64_t{notes}; ++i) // keys and values
    takeText(reader);
  std::string_view fileMark = reader.takeBytes(markBytes);
  while (!reader.rest().empty()) {
    auto size = reader.take<int32_t>();
    if (size == markEscape) {
      if (reader.takeBytes(markBytes) != fileMark)
        throw Error("the mark between records is damaged");
      continue;
    }
    auto keySize = reader.take<int32_t>();
    if (size < 0 || keySize < 0 || keySize > size)
      throw Error("the size of a record is damaged");
    std::string_view record = reader.takeBytes(static_cast<uint64_t>(size));
    records_.push_back({record.substr(0, keySize), record.substr(keySize)});
  }
}

std::string SequenceWriter::header() {
  std::string bytes(SequenceFile::beginning);
  bytes += '\x06';
  for (std::string_view name : {keyClass_, valueClass_}) // shorter than 128 bytes
    bytes.append(1, static_cast<char>(name.size())).append(name);
  bytes.append(2, '\0'); // not compressed
  appendBigEndian<int32_t>(bytes, 0);
  return bytes.append(mark);
}

std::string SequenceWriter::record(std::string_view key, std::string_view value) {
  size_t size = key.size() + value.size();
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw Error("write: a block of the format binary has more than 2 GB: choose smaller blocks, "
                "such as rows_in_block=1000");
  constexpr size_t betweenMarks = 2000;
  std::string bytes;
  bytes.reserve(size + 2 * sizeof(int32_t) + sizeof(int32_t) + markBytes);
  if (sinceMark_ >= betweenMarks) {
    appendBigEndian(bytes, markEscape);
    bytes.append(mark);
    sinceMark_ = 0;
  }
  appendBigEndian(bytes, static_cast<int32_t>(size));
  appendBigEndian(bytes, static_cast<int32_t>(key.size()));
  bytes.append(key).append(value);
  sinceMark_ += bytes.size();
  return bytes;
}

} // namespace tokamak::runtime
