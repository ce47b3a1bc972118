#include "ReaderFuzzing.h"

#include "base/Error.h"
#include "runtime/io/Gzip.h"
#include "runtime/io/MatrixReader.h"
#include "runtime/io/TextSource.h"
#include "runtime/memory/BufferPool.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

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
      file.separator = option;
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

void check(const Outcome &expected, const Outcome &found, const char *way) {
  bool bothRead = expected.matrix && found.matrix;
  if (bothRead ? isSame(*expected.matrix, *found.matrix) : expected.error == found.error)
    return;
  // The budget includes the first matrix, which is still alive.
  if (found.error.starts_with("out of memory"))
    return;
  std::fprintf(stderr, "%s: '%s', but in one piece: '%s'\n", way, found.error.c_str(),
               expected.error.c_str());
  std::abort();
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
