// What is known of a value before or while a program runs: sizes as constants or symbols, scalar
// values, density. Facts live in the dataflow lattice of `analysis` and on the arguments of a block
// that is being specialised; they are not part of types.
//
//   nrow(X) of a file that is not read yet:   Dimension::symbol(7)
//   rows of cbind(X, matrix(1, nrow(X), 1)):  the same symbol, which proves that both have as many
//                                             rows
#ifndef TOKAMAK_IR_TOK_FACTS_H
#define TOKAMAK_IR_TOK_FACTS_H

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tokamak::tok {

// A size (or an integer scalar): a constant, or a symbol that stands for one value, or unknown. A
// symbol may carry an estimate (what the size was when the block was specialised): it may inform
// costs, never legality.
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
  // A symbol that stands for a product, see below; its number is above those of all others.
  bool isProduct() const { return isSymbol() && value_ >= firstProduct; }
  static constexpr int64_t firstProduct = int64_t{1} << 62;

  // Best guess of the size, `fallback` if there is none.
  int64_t estimate(int64_t fallback) const { return estimate_ >= 0 ? estimate_ : fallback; }

  // Proved equal / proved different. Both are false when nothing is known.
  bool provedEqual(Dimension other) const {
    return !isUnknown() && kind_ == other.kind_ && value_ == other.value_;
  }
  bool provedDifferent(Dimension other) const {
    return isConstant() && other.isConstant() && value_ != other.value_;
  }
  // The same lattice element (used by the dataflow solver).
  bool operator==(const Dimension &other) const {
    return kind_ == other.kind_ && value_ == other.value_;
  }

  // a * b: a constant, or a symbol that stands for the product. Equal products of the same symbols,
  // in whatever order they were multiplied, are equal symbols. Unknown where the product is too
  // large, or has too many factors (four symbols are representable).
  static Dimension product(Dimension a, Dimension b);

  // Where two paths meet: equal facts stay, others become unknown.
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

// How an array lies in memory (runtime/Array.h). Of results it is what their operation is going to
// give; a reader that finds something else converts it.
enum class Layout : uint8_t { Dense, Csr };

// Facts of one value. For an array `dims` has its rank; for a scalar `value` is its constant (if
// known), and `integer` the same as a dimension, so that nrow(X) can be the symbol of X's rows.
struct Facts {
  llvm::SmallVector<Dimension, 2> dims;
  mlir::Attribute value;
  Dimension integer = Dimension::unknown();
  // Share of cells that are not zero, in [0, 1]; negative: not known. An estimate, never a proof.
  // Of CSR arrays the share of entries.
  double density = -1;
  Layout layout = Layout::Dense;

  static Facts matrix(Dimension rows, Dimension columns) {
    Facts facts;
    facts.dims = {rows, columns};
    return facts;
  }
  bool isMatrix() const { return dims.size() == 2; }
  // The array as a matrix whose rows run along the last dimension: all others together are its
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
