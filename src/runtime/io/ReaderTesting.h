// Reads files that tests have in memory, in one piece and in pieces of every small size, plain and compressed.
//
//   EXPECT_EQ(readEveryWay(named("csv"), "1,2\n3,4\n"), (Cells{1, 2, 3, 4}));
//   EXPECT_EQ(errorEveryWay(named("csv"), "y\n"), "x: row 1, column 1: 'y' is not a number");
#ifndef TOKAMAK_RUNTIME_IO_READERTESTING_H
#define TOKAMAK_RUNTIME_IO_READERTESTING_H

#include "runtime/io/Gzip.h"
#include "runtime/io/MatrixReader.h"
#include "runtime/io/TextSource.h"
#include "runtime/natives/NativeTesting.h"

#include <cstring>
#include <fmt/format.h>

namespace tokamak::runtime::testing {

inline constexpr TextSizes little = {.piece = 3, .window = 7};

inline Value readText(const MatrixFile &file, std::string_view text, TextSizes sizes = {},
                      int threads = 1) {
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.scheduler = &scheduler;
  TextSource source(file.path, text, sizes);
  return readMatrix(file, source, context);
}

inline MatrixFile named(const char *format) { return {.path = "x", .format = format}; }

// Reads the text as one piece, in many pieces, and compressed through many windows; all must give
// the same cells or the same error.
inline Cells readEveryWay(const MatrixFile &file, const std::string &text) {
  auto attempt = [&](std::string_view bytes, TextSizes sizes, Cells &cells) {
    return errorOf(
        [&] { cells = cellsOf(Array::asDense(readText(file, bytes, sizes, 2).array())); });
  };
  Cells cells, again;
  std::string error = attempt(text, {}, cells);
  auto same = [&](std::string_view bytes, TextSizes sizes) {
    EXPECT_EQ(attempt(bytes, sizes, again), error) << text;
    EXPECT_TRUE(cells.empty() ||
                std::memcmp(cells.data(), again.data(), cells.size() * sizeof(double)) == 0);
  };
  same(text, little);
  same(gzipMember(text), little);
  same(gzipMember(text), {});
  if (error != "no error")
    throw tokamak::Error(error);
  return cells;
}

inline std::string errorEveryWay(const MatrixFile &file, const std::string &text) {
  return errorOf([&] { readEveryWay(file, text); });
}

} // namespace tokamak::runtime::testing
#endif
