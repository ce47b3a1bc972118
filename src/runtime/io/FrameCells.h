// Collects the cells of a frame whose size is known only when all have been read.
//
//   FrameCells cells("people.csv", metadata);
//   cells.set(1, 2, "Anna");                       // naStrings and empty fields are missing cells
//   FramePointer frame = cells.frame(rows, columns, names);
#ifndef TOKAMAK_RUNTIME_IO_FRAMECELLS_H
#define TOKAMAK_RUNTIME_IO_FRAMECELLS_H

#include "base/MatrixMetadata.h"
#include "runtime/values/Frame.h"

namespace tokamak::runtime {

class FrameCells {
public:
  // Both must outlive this object; `path` is the file's name in error messages.
  FrameCells(const std::string &path, const MatrixMetadata &metadata);

  // Row and column count from 1.
  void set(int64_t row, int64_t column, const std::string &field);

  // What stands for missing cells (Frame::replacement), by column.
  void setReplacements(Frame::Replacements replacements) {
    replacements_ = std::move(replacements);
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return static_cast<int64_t>(columns_.size()); }

  // A frame of this size with the types of the metadata's schema, or of strings. Takes the cells.
  // Throws Error, naming row and column, if a cell doesn't have its column's type.
  FramePointer frame(int64_t rows, int64_t columns, std::vector<std::string> names);

private:
  ColumnPointer typedColumn(FrameColumn::Texts cells, FrameType type, int64_t number) const;

  const std::string &path_;
  const MatrixMetadata &metadata_;
  std::vector<std::string> missing_;
  std::vector<FrameColumn::Texts> columns_;
  Frame::Replacements replacements_;
  int64_t rows_ = 0, textBytes_ = 0;
  MemoryCharge charge_; // of strings too long for their cells
};

// Throws Error unless the file has the expected number; `what` is "rows" or "columns".
void checkFrameSize(const std::string &path, std::string_view what, std::optional<int64_t> expected,
                    int64_t found);

} // namespace tokamak::runtime
#endif
