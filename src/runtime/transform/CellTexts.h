// The texts of the cells of a column, as codes and tokens see them: 3.0 and 3 are the same.
//
//   CellTexts texts(*frame.column(0));
//   texts.at(2)                        // of row 3, which must not be missing
#ifndef TOKAMAK_RUNTIME_TRANSFORM_CELLTEXTS_H
#define TOKAMAK_RUNTIME_TRANSFORM_CELLTEXTS_H

#include "runtime/values/Frame.h"

#include <cmath>

namespace tokamak::runtime {

// Whether the text of a number has no point: an integer that prints without an exponent.
inline bool isWholeNumber(double number) {
  constexpr double exactBelow = 1e15;
  return std::abs(number) < exactBelow && number == std::trunc(number);
}

class CellTexts {
public:
  explicit CellTexts(const FrameColumn &column) : column_(column), texts_(column.texts()) {}

  // Valid until the next call.
  std::string_view at(int64_t row) {
    if (texts_)
      return *(*texts_)[row];
    Value cell = column_.cell(row);
    bool isWhole = cell.isDouble() && isWholeNumber(cell.asDouble());
    text_ = isWhole ? Value(cell.asInteger()).asText() : cell.asText();
    return text_;
  }

private:
  const FrameColumn &column_;
  const FrameColumn::Texts *texts_;
  std::string text_;
};

} // namespace tokamak::runtime
#endif
