// How the cells of one column of a frame become numbers, as found by transformencode: the codes of its values, the
// borders of its intervals, what stands for missing cells. Kept in a column of the frame of metadata:
//
// - recode: value·code, such as red·1, blue·2
// - bin: lower·upper border, such as 0.0·2.5, 2.5·5.0
// - hash: the number of buckets
//
//   ColumnCodes codes = ColumnCodes::of(*frame.column(j), spec.columns[j], frame.name(j));
//   codes.encode(*frame.column(j), 0, frame.rows(), numbers.data());
#ifndef TOKAMAK_RUNTIME_TRANSFORM_COLUMNCODES_H
#define TOKAMAK_RUNTIME_TRANSFORM_COLUMNCODES_H

#include "runtime/memory/MemoryCharge.h"
#include "runtime/transform/TransformSpec.h"
#include "runtime/values/Frame.h"

#include <deque>
#include <string_view>
#include <unordered_map>

namespace tokamak::runtime {

class ColumnCodes {
public:
  ColumnCodes(ColumnCodes &&) = default;
  ColumnCodes &operator=(ColumnCodes &&) = default;
  // Codes of this column alone: `encode` has to get the same one.
  static ColumnCodes of(const FrameColumn &column, const ColumnTransform &transform,
                        std::string_view name);
  // From a column of metadata. `replacement`: what stands for missing cells, by Frame::replacement. Throws Error if it
  // has something else.
  static ColumnCodes fromMetadata(const FrameColumn &column, const ColumnTransform &transform,
                                  std::string_view name, std::optional<std::string> replacement);

  // The numbers of the cells in the rows from `begin` up to `end`, at their places in `numbers`; NaN for what has none.
  // Throws Error for a cell that is no number where one is needed. Thread-safe.
  void encode(const FrameColumn &column, int64_t begin, int64_t end, double *numbers) const;
  static bool isMissing(const FrameColumn &column, int64_t row);

  // The number of codes; 0 without them.
  int64_t count() const;
  // Of the metadata.
  int64_t metadataRows() const;
  std::string metadataText(int64_t row) const;
  const std::optional<std::string> &replacement() const { return replacement_; }

  // The inverse of encode: the value of a code, the middle of an interval. Nothing for what is no code.
  Value decode(double code) const;
  // The type of a column of decoded values.
  FrameType decodedType() const;

private:
  ColumnCodes(const ColumnTransform &transform, std::string_view name)
      : transform_(transform), name_(name) {}
  bool hasTexts() const; // whether codes are of texts
  void findReplacement(const FrameColumn &column);
  void collectValues(const FrameColumn &column);
  int32_t addValue(std::string_view text); // if it is new; its code
  void divide(const FrameColumn &column);
  BudgetedVector<double> numbersOf(const FrameColumn &column, std::string_view purpose) const;
  void copyNumbers(const FrameColumn &column, std::string_view purpose, int64_t begin, int64_t end,
                   double *numbers) const;
  double codeOf(std::string_view text) const;
  double binOf(double number) const;
  double numberOfText(const std::string &text) const; // of a replacement

  ColumnTransform transform_;
  std::string name_;
  std::optional<std::string> replacement_;
  // Of recoded values, from 1. The texts are those of `values_`, in the order of their codes.
  std::unordered_map<std::string_view, int64_t> codes_;
  std::deque<std::string> values_;
  // Of the column that these were found in, if it has no texts; 0: missing.
  BudgetedVector<int32_t> codesOfRows_;
  std::vector<double> lower_, upper_; // borders of intervals
};

} // namespace tokamak::runtime
#endif
