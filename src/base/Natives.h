// What is known of the natives, the operations that the runtime implements in C++: a row for each.
// The table, and what its columns mean, is Natives.def.
//
//   const NativeRow *row = findNativeRow("rev");
//   row->shape == NativeShape::LikeFirst && row->effect == NativeEffect::Total
//   rowOf(NativeKind::Lu).signature.results.size() == 3
#ifndef TOKAMAK_BASE_NATIVES_H
#define TOKAMAK_BASE_NATIVES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tokamak {

enum class NativeKind : uint8_t {
#define TOKAMAK_NATIVE(Name, ...) Name,
#include "base/Natives.def"
};

// What an operand may be: Value is any of the others.
enum class NativeOperand : uint8_t { Value, Array, Number, String, Scalar, List, Frame };

struct NativeSignature {
  struct Part {
    NativeOperand kind;
    bool mayBeAbsent = false; // none, or left out behind all others
    bool isRepeated = false;  // any number of them
  };
  std::vector<Part> operands;
  std::vector<Part> results;

  bool takes(size_t count) const;
  // The part that describes this operand.
  const Part &operand(size_t number) const;
};

enum class NativeShape : uint8_t {
  Unknown,
  LikeFirst,
  Transposed,
  Diagonal,
  Sequence,
  FirstColumn,
  Product,
  TransposedLeft,
  TransposedRight,
  Outer,
  Solution,
  SizesAt0,
  SizesAt1,
  SizesAt2,
  SizesAt3,
  ColumnAt1,
  View,
  Expand,
  Permuted,
  StridedSlice,
  Taken,
  Windows,
  Pooled,
  Convolved,
  Joined,
  Slice,
  Beside,
  Below,
  NonEmpty,
  Sorted,
  LastAt1,
  Leading,
  Found,
  Eigen,
  Qr,
  Svd,
  Square
};
enum class NativeAccess : uint8_t { DenseDoubles, DenseCells, Doubles, Products, AnyCells, Any };
enum class NativeRanks : uint8_t { Matrices, Arrays };
enum class NativeEffect : uint8_t { Total, Fallible, Ordered, Visible };
enum class NativeCost : uint8_t { Call, Cell, ReadCell, SortedCell, Multiplication };
enum class RowSplit : uint8_t { Whole, First, Every, Sums };
enum class NativeErrors : uint8_t {
  Any,
  Moves1,
  Moves2,
  MovesAll,
  Product,
  Trace,
  Table,
  Outer,
  Fill,
  Replace,
  NonEmpty,
  ScanSum,
  ScanProd,
  ScanMin,
  ScanMax,
  RowScanSum,
  Moment,
  Mean,
  GroupMoments
};
enum class NativeMeaning : uint8_t { Own, Equation, Native };

struct NativeRow {
  NativeKind kind;
  std::string_view name; // the mnemonic
  NativeSignature signature;
  NativeShape shape;
  NativeAccess access;
  NativeRanks ranks;
  NativeEffect effect;
  NativeCost per;
  double flops;
  RowSplit rows;
  NativeErrors errors;
  NativeMeaning meaning;

  // Of `operands` leading ones, the number of operands whose cells are moved to other places; 0 if
  // cells are computed.
  size_t movedOperands(size_t operands) const;
  // Whether the sizes of the results depend on cells.
  bool hasSizesFromCells() const;
};

const NativeRow &rowOf(NativeKind kind);
// Null if there is no such native.
const NativeRow *findNativeRow(std::string_view name);
// In the order of the table.
std::span<const NativeRow> allNativeRows();

} // namespace tokamak
#endif
