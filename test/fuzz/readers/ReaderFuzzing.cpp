#include "ReaderFuzzing.h"

#include "base/Error.h"
#include "runtime/io/Format.h"
#include "runtime/io/Gzip.h"
#include "runtime/io/TextSource.h"
#include "runtime/memory/BufferPool.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tokamak::runtime;

namespace tokamak::fuzzing {
namespace {

MatrixFile fileOf(const std::string &format, std::string_view options) {
  MatrixFile file{.path = "x", .format = format};
  for (char option : options) {
    if (option == 'h')
      file.header = true;
    else if (option == 'f')
      file.fill = false;
    else if (option == 'n')
      file.naStrings = {"NA", "-1", "a;b"};
    else if (option == 'd')
      file.defaultValue = 1;
    else if (option == ';' || option == '|')
      file.separator = std::string(1, option);
    else if (option == '~')
      file.separator = "~~";
    else if (option == 't')
      file.separator = "\t";
    else if (option >= '0' && option <= '9')
      file.rows = option - '0';
    else if (option >= 'A' && option <= 'J')
      file.columns = option - 'A';
    else if (option == 'z')
      file.nonZeros = 3;
    else if (option == 'k')
      file.rowsInBlock = file.columnsInBlock = 2;
    else if (option == 'i')
      file.indexSeparator = "=";
    else if (option == 'x')
      file.dataset = "x";
  }
  return file;
}

struct Outcome {
  ArrayReference matrix;
  std::string error; // if there is no matrix
};

Outcome read(const MatrixFile &file, std::string_view bytes, TextSizes sizes) {
  ExecutionContext context;
  try {
    TextSource source(file.path, bytes, sizes);
    return {readMatrix(file, source, context), ""};
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      std::abort();
    return {nullptr, error.message()};
  }
}

bool sameBytes(const void *a, const void *b, int64_t size) {
  return size == 0 || std::memcmp(a, b, static_cast<size_t>(size)) == 0;
}

bool isSame(const Array &a, const Array &b) {
  if (!(a.shape() == b.shape()) || a.isSparse() != b.isSparse())
    return false;
  if (!a.isSparse())
    return sameBytes(a.data(), b.data(), a.bytes());
  constexpr auto offsetBytes = static_cast<int64_t>(sizeof(int64_t));
  return sameBytes(a.rowOffsets(), b.rowOffsets(), (a.rows() + 1) * offsetBytes) &&
         sameBytes(a.columnIndices(), b.columnIndices(), a.entries() * 4) &&
         sameBytes(a.data(), b.data(), a.entries() * 8);
}

// The budget includes what was read first, which is still alive.
bool lacksMemory(const std::string &error) {
  return error.find("out of memory") != std::string::npos;
}

void check(const Outcome &expected, const Outcome &found, const char *way) {
  bool bothRead = expected.matrix && found.matrix;
  if (bothRead ? isSame(*expected.matrix, *found.matrix) : expected.error == found.error)
    return;
  if (lacksMemory(found.error) || lacksMemory(expected.error))
    return;
  std::fprintf(stderr, "%s: '%s', but in one piece: '%s'\n", way, found.error.c_str(),
               expected.error.c_str());
  std::abort();
}

MatrixMetadata metadataOf(const MatrixFile &file, bool hasSchema) {
  MatrixMetadata metadata;
  metadata.header = file.header;
  metadata.separator = file.separator;
  metadata.rows = file.rows;
  metadata.columns = file.columns;
  if (!file.naStrings.empty())
    metadata.naStrings = file.naStrings;
  if (hasSchema)
    metadata.schema = "double,string,int";
  return metadata;
}

// The frame as text, or the error.
std::string describe(const Format &format, const MatrixMetadata &metadata, std::string_view bytes,
                     FramePointer *result = nullptr) {
  try {
    TextSource source("x", bytes, {.window = size_t{1} << 16});
    FramePointer frame = format.readFrame("x", metadata, source);
    std::string text = frame->sizeText() + " " + schemaText(*frame);
    constexpr int64_t most = 1000; // rows or columns to look at
    for (int64_t j = 0; j < std::min(most, frame->columns()); ++j) {
      text += "\n" + frame->name(j) + ":";
      for (int64_t i = 0; i < std::min(most, frame->rows()); ++i)
        text += " " + frame->column(j)->text(i);
    }
    if (result)
      *result = frame;
    return text;
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Internal)
      std::abort();
    return "error: " + error.message();
  }
}

std::string written(const Format &format, const Frame &frame) {
  std::string path =
      "written-" + std::to_string(getpid()); // in a folder of its own (run_readers.py)
  try {
    FileWriter file(path);
    format.writeFrame(frame, {}, file);
    file.commit();
  } catch (const Error &) { // for example two columns of the same name
    return "";
  }
  std::ifstream stream(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::filesystem::remove(path);
  return bytes;
}

void fuzzFrame(const Format &format, const MatrixMetadata &metadata, const std::string &text) {
  FramePointer frame;
  std::string plain = describe(format, metadata, text, &frame);
  auto check = [&](const std::string &found, const char *way) {
    if (found == plain || lacksMemory(found) || lacksMemory(plain))
      return;
    std::fprintf(stderr, "%s: '%s', but plain: '%s'\n", way, found.c_str(), plain.c_str());
    std::abort();
  };
  if (!isGzip(text))
    check(describe(format, metadata, gzipMember(text)), "by gzip");
  // Files that say what types their columns have are read as they were written. Columns of jsonl without
  // cells have none, and NaN is null there.
  bool keepsAll = frame && frame->rows() > 0 && format.name == "binary";
  std::string bytes = keepsAll ? written(format, *frame) : "";
  if (!bytes.empty())
    check(describe(format, {}, bytes), "written and read again");
}

} // namespace

int fuzzReader(const std::string &format, const uint8_t *data, size_t size) {
  static const bool isLimited = [] {
    BufferPool::instance().setMemoryBudget(int64_t{64} << 20);
    return true;
  }();
  (void)isLimited;
  std::string_view input(reinterpret_cast<const char *>(data), size);
  size_t lineEnd = std::min(input.find('\n'), input.size());
  MatrixFile file = fileOf(format, input.substr(0, lineEnd));
  // A separate copy, so that ASan detects reads past its end.
  std::string text(input.substr(std::min(lineEnd + 1, size)));
  const Format &row = *findFormat(format);
  std::string_view options = input.substr(0, lineEnd);
  bool wantsFrame = options.find('@') != options.npos;
  if (!row.readMatrix || (row.readFrame && wantsFrame)) {
    fuzzFrame(row, metadataOf(file, options.find('s') != options.npos), text);
    return 0;
  }
  if (format == "hdf5") {
    read(file, text, {});
    return 0;
  }
  Outcome whole = read(file, text, {.window = size_t{1} << 16});
  if (isGzip(text)) { // Damaged data may be detected before or after an error in the text.
    read(file, text, {.piece = 3, .window = 7});
    return 0;
  }
  check(whole, read(file, text, {.piece = 1, .window = 1}), "in lines");
  check(whole, read(file, text, {.piece = 13, .window = 1}), "in small pieces");
  check(whole, read(file, gzipMember(text), {.piece = 5, .window = 11}), "by gzip windows");
  return 0;
}

} // namespace tokamak::fuzzing
