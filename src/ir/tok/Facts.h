// Facts: what is known statically about a value before or while a program runs, namely its sizes as
// constants or symbols, scalar values, and density. Facts live in the dataflow lattice of
// `analysis` and on the arguments of a block that is being specialised; they are not part of types.
//
//   Facts facts = Facts::matrix(Size::symbol(7), Size::constant(10));
//   facts.columns().isConstant(10)
//
// Facts of values, in DML:
//
//   nrow(X) of a file that is not read yet:   Size::symbol(7)
//   rows of cbind(X, matrix(1, nrow(X), 1)):  the same symbol, which proves that both have
//                                             equally many rows; its columns are ncol(X) + 1
#ifndef TOKAMAK_IR_TOK_FACTS_H
#define TOKAMAK_IR_TOK_FACTS_H

#include "base/Size.h"

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tokamak::tok {

// The memory layout of an array (runtime/values/Array.h). For a result it is only the layout expected from
// its operation: code that finds another layout converts the array.
enum class Layout : uint8_t { Dense, Sparse };

// Facts of one value. For an array, `dims` has one entry per dimension. For a scalar, `value` is
// its constant (if known) and `integer` is its value as a size, so that nrow(X) can be the
// symbol of X's rows.
struct Facts {
  llvm::SmallVector<Size, 2> dims;
  mlir::Attribute value;
  Size integer = Size::unknown();
  // The fraction of cells that are not zero, in [0, 1]; negative if unknown. For sparse arrays, the
  // fraction of stored entries. An estimate, never a proof.
  double density = -1;
  Layout layout = Layout::Dense;

  static Facts matrix(const Size &rows, const Size &columns) {
    Facts facts;
    facts.dims = {rows, columns};
    return facts;
  }
  bool isMatrix() const { return dims.size() == 2; }
  bool isSparse() const { return layout == Layout::Sparse; }
  Size rows() const { return isMatrix() ? dims[0] : Size::unknown(); }
  Size columns() const { return isMatrix() ? dims[1] : Size::unknown(); }
  bool isColumnVector() const { return columns().isConstant(1); }
  bool isRowVector() const { return rows().isConstant(1); }

  bool operator==(const Facts &other) const {
    return dims == other.dims && value == other.value && integer == other.integer &&
           density == other.density && layout == other.layout;
  }
};

} // namespace tokamak::tok
#endif
