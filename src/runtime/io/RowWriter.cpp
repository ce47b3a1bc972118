#include "runtime/io/RowWriter.h"

#include "runtime/values/ScalarOperations.h"

namespace tokamak::runtime {

void writeCells(const Array &matrix, ExecutionContext &context, FileWriter &file) {
  writeRows(matrix, context, file, [&](int64_t row, std::string &text) {
    forEachNonZero(matrix, row, [&](int64_t column, double value) {
      fmt::format_to(std::back_inserter(text), "{} {} {}\n", row + 1, column + 1, textOf(value));
    });
  });
}

} // namespace tokamak::runtime
