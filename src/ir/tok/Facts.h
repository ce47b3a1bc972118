// Facts: what is known statically about a value before or while a program runs, namely its sizes as
// constants or symbols, scalar values, and density. Facts live in the dataflow lattice of
// `analysis` and on the arguments of a block that is being specialised; they are not part of types.
//
//   nrow(X) of a file that is not read yet:   Dimension::symbol(7)
//   rows of cbind(X, matrix(1, nrow(X), 1)):  the same symbol, which proves that both have
//                                             equally many rows
#ifndef TOKAMAK_IR_TOK_FACTS_H
#define TOKAMAK_IR_TOK_FACTS_H

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tokamak::tok {

// A size (or an integer scalar): a constant, a symbol that stands for one fixed value, or unknown.
// A symbol may carry an estimate (the size when the block was specialised), which may inform costs
// but never legality.
class Dimension {
public:
  static Dimension unknown() { return Dimension(); }
  static Dimension constant(int64_t value) { return Dimension(Kind::Constant, value, value); }
  static Dimension symbol(int64_t id, int64_t estimate = -1) {
    return Dimension(Kind::Symbol, id, estimate);
  }

  bool isUnknown() const { return kind_ == Kind::Unknown; }
  bool isConstant() const { return kind_ == Kind::Constant; }
  bool isSymbol() const { return kind_ == Kind::Symbol; }
  bool isConstant(int64_t value) const { return isConstant() && value_ == value; }
  int64_t constantValue() const { return value_; }
  int64_t symbolId() const { return value_; }
  // A symbol that stands for a product (see `product`); its id is above those of all other symbols.
  bool isProduct() const { return isSymbol() && value_ >= firstProduct; }
  static constexpr int64_t firstProduct = int64_t{1} << 62;

  // The best estimate of the size, or `fallback` if there is none.
  int64_t estimate(int64_t fallback) const { return estimate_ >= 0 ? estimate_ : fallback; }

  // Each is true only if proved: both are false for unknown dimensions.
  bool provedEqual(Dimension other) const {
    return !isUnknown() && kind_ == other.kind_ && value_ == other.value_;
  }
  bool provedDifferent(Dimension other) const {
    return isConstant() && other.isConstant() && value_ != other.value_;
  }
  // Equality of lattice elements (used by the dataflow solver); estimates don't count.
  bool operator==(const Dimension &other) const {
    return kind_ == other.kind_ && value_ == other.value_;
  }

  // a * b: a constant, or a symbol that stands for the product. Products of the same symbols are
  // equal symbols, in whatever order they were multiplied. Unknown if the product is too large to
  // represent or has more than four symbols as factors.
  static Dimension product(Dimension a, Dimension b);

  // The join of two lattice elements: equal dimensions stay, others become unknown.
  static Dimension join(Dimension a, Dimension b) { return a == b ? a : unknown(); }

private:
  enum class Kind : uint8_t { Unknown, Constant, Symbol };
  Dimension() = default;
  Dimension(Kind kind, int64_t value, int64_t estimate)
      : kind_(kind), value_(value), estimate_(estimate) {}

  Kind kind_ = Kind::Unknown;
  int64_t value_ = 0;
  int64_t estimate_ = -1;
};

// The memory layout of an array (runtime/Array.h). For a result it is only the layout expected from
// its operation: code that finds another layout converts the array.
enum class Layout : uint8_t { Dense, Csr };

// Facts of one value. For an array, `dims` has one entry per dimension. For a scalar, `value` is
// its constant (if known) and `integer` is its value as a dimension, so that nrow(X) can be the
// symbol of X's rows.
struct Facts {
  llvm::SmallVector<Dimension, 2> dims;
  mlir::Attribute value;
  Dimension integer = Dimension::unknown();
  // The fraction of cells that are not zero, in [0, 1]; negative if unknown. For CSR arrays, the
  // fraction of stored entries. An estimate, never a proof.
  double density = -1;
  Layout layout = Layout::Dense;

  static Facts matrix(Dimension rows, Dimension columns) {
    Facts facts;
    facts.dims = {rows, columns};
    return facts;
  }
  bool isMatrix() const { return dims.size() == 2; }
  // The array viewed as a matrix: the last dimension is its columns, the product of all others its
  // rows.
  Facts collapsed() const {
    Dimension rows = Dimension::constant(1);
    for (size_t i = 0; i + 1 < dims.size(); ++i)
      rows = Dimension::product(rows, dims[i]);
    Facts facts = *this;
    facts.dims = {rows, dims.empty() ? Dimension::constant(1) : dims.back()};
    return facts;
  }
  bool isCsr() const { return layout == Layout::Csr; }
  Dimension rows() const { return isMatrix() ? dims[0] : Dimension::unknown(); }
  Dimension columns() const { return isMatrix() ? dims[1] : Dimension::unknown(); }
  bool isColumnVector() const { return columns().isConstant(1); }
  bool isRowVector() const { return rows().isConstant(1); }

  bool operator==(const Facts &other) const {
    return dims == other.dims && value == other.value && integer == other.integer &&
           density == other.density && layout == other.layout;
  }
};

} // namespace tokamak::tok
#endif
