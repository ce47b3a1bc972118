// Frames: tables whose columns have different types. A frame is immutable; frames share columns, so
// that selecting or binding columns copies no cells.
//
//   FramePointer frame = frameOfMatrix(*matrix);            // columns of doubles, C1, C2, ...
//   frame->cell(0, 1).asDouble();
//   sliceFrame(*frame, {1, 2, 1, 1})                        // rows 1:2 of column 1
#ifndef TOKAMAK_RUNTIME_VALUES_FRAME_H
#define TOKAMAK_RUNTIME_VALUES_FRAME_H

#include "base/Sizes.h"
#include "runtime/memory/MemoryCharge.h"
#include "runtime/values/Value.h"

#include <optional>
#include <span>
#include <variant>

namespace tokamak::runtime {

enum class FrameType : uint8_t { String, Double, Integer, Boolean };

// "STRING", "FP64", "INT64", "BOOLEAN": the names in printed frames and metadata.
std::string_view nameOf(FrameType type);
// Of a text for a truth, TRUE, True, true, T or t and their opposites; nullopt for others.
std::optional<bool> parseTruth(std::string_view text);
// Accepts DML's names ("double", "int", ...) too, in any case; nullopt for other names.
std::optional<FrameType> findFrameType(std::string_view name);

// A missing string as printed and as a scalar, as in SystemDS. Files have nothing in its place.
inline constexpr std::string_view missingText = "null";

// The cells of one column. A string may be missing; missing numbers are NaN.
class FrameColumn {
public:
  using Texts = BudgetedVector<std::optional<std::string>>;
  using Doubles = BudgetedVector<double>;
  using Integers = BudgetedVector<int64_t>;
  using Booleans = BudgetedVector<uint8_t>;

  // Cells are missing strings, 0 or FALSE.
  FrameColumn(FrameType type, int64_t rows);
  FrameColumn(Texts cells) : cells_(std::move(cells)) { chargeTexts(); }
  FrameColumn(Doubles cells) : cells_(std::move(cells)) {}
  FrameColumn(Integers cells) : cells_(std::move(cells)) {}
  FrameColumn(Booleans cells) : cells_(std::move(cells)) {}

  FrameType type() const { return static_cast<FrameType>(cells_.index()); }
  int64_t rows() const;
  // A scalar of the column's type; Nothing for a missing string.
  Value cell(int64_t row) const;
  // The cell in files: "1.0", "TRUE", "" if it is missing.
  std::string text(int64_t row) const;
  // Converts a scalar (or Nothing) to the column's type. Throws Error if that would lose
  // information: a string that is not a number, or a number that is not a 64-bit integer in an
  // integer column.
  void set(int64_t row, const Value &value);
  // The cells of a column of strings without copies; null for other types.
  const Texts *texts() const { return std::get_if<Texts>(&cells_); }
  // Likewise.
  const Doubles *doubles() const { return std::get_if<Doubles>(&cells_); }
  const Integers *integers() const { return std::get_if<Integers>(&cells_); }
  const Booleans *booleans() const { return std::get_if<Booleans>(&cells_); }
  std::shared_ptr<FrameColumn> rowsOf(int64_t begin, int64_t end) const;
  // Throws Error as setCell does.
  std::shared_ptr<FrameColumn> converted(FrameType type, std::string_view place,
                                         int64_t number) const;
  // The cells repeated `count` times, one copy below the other.
  std::shared_ptr<FrameColumn> repeated(int64_t count) const;

private:
  void chargeTexts();
  // The alternatives are in the order of FrameType.
  std::variant<Texts, Doubles, Integers, Booleans> cells_;
  MemoryCharge charge_; // of strings too long for their cells
  int64_t textBytes_ = 0;
};

// column.set(row, value), but its Error names the place: `place` (an operation or a file), row and
// column. `row` and `number` (of the column) count from 0.
void setCell(FrameColumn &column, int64_t row, const Value &value, std::string_view place,
             int64_t number);

using ColumnPointer = std::shared_ptr<const FrameColumn>;

class Frame {
public:
  using Replacements = std::vector<std::optional<std::string>>;

  // Names may be empty: C1, C2, ...
  Frame(int64_t rows, std::vector<ColumnPointer> columns, std::vector<std::string> names = {},
        Replacements replacements = {});

  int64_t rows() const { return rows_; }
  int64_t columns() const { return static_cast<int64_t>(columns_.size()); }
  const ColumnPointer &column(int64_t index) const { return columns_[index]; }
  const std::vector<ColumnPointer> &allColumns() const { return columns_; }
  bool hasNames() const { return !names_.empty(); }
  const std::vector<std::string> &givenNames() const { return names_; } // empty: none are set
  std::string name(int64_t column) const;
  std::vector<std::string> names() const; // one for each column, default names where none are set
  Value cell(int64_t row, int64_t column) const { return columns_[column]->cell(row); }
  // Of metadata of transformencode: what stands for missing cells of a column, if anything does. Only files keep
  // it; frames that are computed from this one have none.
  std::optional<std::string> replacement(int64_t column) const {
    return replacements_.empty() ? std::nullopt : replacements_[column];
  }
  bool hasReplacements() const { return !replacements_.empty(); }
  std::string sizeText() const; // "3x4"
  // The memory of this many columns, in addition to their cells.
  static int64_t bytesOfColumns(int64_t columns) {
    constexpr int64_t bytesOfColumn = 128;
    return checkedProduct(columns, bytesOfColumn, "frame", "bytes");
  }

private:
  int64_t rows_;
  std::vector<ColumnPointer> columns_;
  std::vector<std::string> names_;
  Replacements replacements_; // empty: none
  MemoryCharge charge_;
};

using FramePointer = std::shared_ptr<const Frame>;

// 1-based and inclusive, as DML writes it.
struct FrameRange {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

// All throw Error with the wording of the same mistake on matrices.
FramePointer sliceFrame(const Frame &frame, FrameRange range);
// `value` is a frame of the range's size, or a scalar for one cell; cells take
// the type of their column. Columns that have no other owner than this frame, and it no other than the caller, are written
// in place.
FramePointer insertIntoFrame(FramePointer frame, const Value &value, FrameRange range);
// Bind frames, matrices and scalars side by side or below each other; columns of different types
// below each other get the more general type.
FramePointer bindFrameColumns(std::span<const Value> inputs);
FramePointer bindFrameRows(std::span<const Value> inputs);
// The frame's rows, repeated `count` times.
FramePointer repeatFrame(const Frame &frame, int64_t count);

FramePointer frameOfMatrix(const Array &matrix);
// as.frame: converts a matrix, a scalar, a frame, or a list of one of them.
FramePointer frameOf(const Value &value);
// as.matrix: strings are parsed as numbers, TRUE is 1.
ArrayPointer matrixOfFrame(const Frame &frame);
// as.scalar: the cell of a 1x1 frame; missingText for a missing string.
Value scalarOfFrame(const Frame &frame);

// The types of a schema, "STRING,FP64,...", for this many columns; a single type applies to all.
std::vector<FrameType> parseSchema(std::string_view text, int64_t columns,
                                   std::string_view operation);
std::string schemaText(const Frame &frame);

} // namespace tokamak::runtime
#endif
