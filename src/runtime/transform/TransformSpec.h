// What transformencode and its relatives do with each column of a frame. In text:
//
//   {"ids": true, "recode": [1, 3], "dummycode": [3], "bin": [{"id": 2, "method": "equi-width", "numbins": 5}]}
//
// is parsed by
//
//   TransformSpec parsed = TransformSpec::parse(text, {"C1", "C2", "C3"}, "transformencode");
//   parsed.columns[2].dummycode                             // of column 3
//
// Without "ids" (or with false) columns are named. A column that nothing is said about is passed through.
#ifndef TOKAMAK_RUNTIME_TRANSFORM_TRANSFORMSPEC_H
#define TOKAMAK_RUNTIME_TRANSFORM_TRANSFORMSPEC_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::runtime {

// How a cell becomes a number: as it is, by the number of its value among the distinct ones, by a hash of its text, by
// the interval in which it lies, or by a row of numbers for each word.
enum class ColumnCoding : uint8_t { PassThrough, Recode, Hash, Bin, WordEmbedding };
// Intervals of equal width, or with about as many cells in each.
enum class BinMethod : uint8_t { EqualWidth, EqualHeight };
// What stands for a missing cell.
enum class Imputation : uint8_t { None, Mean, Mode, Constant };

struct ColumnTransform {
  ColumnCoding coding = ColumnCoding::PassThrough;
  BinMethod binMethod = BinMethod::EqualWidth;
  int64_t bins = 0;
  int64_t buckets = 0;    // of hashes
  bool dummycode = false; // one column for each code, with 1 in the one that the cell has
  bool omit = false;      // rows in which the cell is missing
  Imputation imputation = Imputation::None;
  std::string constant; // of Imputation::Constant
};

struct TransformSpec {
  std::vector<ColumnTransform> columns; // of the frame

  // Throws Error: for text that is no JSON, unknown keys and methods, and columns that there are not.
  static TransformSpec parse(std::string_view text, const std::vector<std::string> &names,
                             std::string_view native);
};

} // namespace tokamak::runtime
#endif
