// Facts of every value of a program: sizes as constants or symbols, through branches and loops.
//
//   FactsAnalysis analysis(module);
//   // Of an array: Dimension::constant(569), or a symbol; never unknown.
//   tok::Dimension rows = analysis.factsOf(value).rows();
//
// A value whose size is not known gets a symbol of its own, so that sizes derived from it can be
// compared. Arguments of functions may state facts in the attribute `tok.sizes`, an array of
// dimensions as `factsAttribute` encodes them.
#ifndef TOKAMAK_ANALYSIS_FACTSANALYSIS_H
#define TOKAMAK_ANALYSIS_FACTSANALYSIS_H

#include "ir/tok/TokDialect.h"

#include "mlir/Analysis/DataFlowFramework.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace tokamak::analysis {

// Symbols that a caller gives to inputs stay below this number; the analysis numbers its own from
// here.
inline constexpr int64_t firstOwnSymbol = 1000;

// Numbers the symbols of one analysis: the same value and dimension always give the same symbol.
class SymbolNumbers {
public:
  explicit SymbolNumbers(int64_t first) : next_(first) {}
  // `dimension`: 0, 1, ... of an array, -1 for an integer scalar.
  tok::Dimension of(mlir::Value value, int dimension);
  // Replaces what is unknown by the value's own symbols.
  tok::Facts complete(mlir::Value value, tok::Facts facts);

private:
  int64_t next_;
  llvm::DenseMap<std::pair<mlir::Value, int>, int64_t> numbers_;
};

// An operation whose operands are proved wrong (sizes that can never agree, indices out of range):
// it fails with this message if control gets to it.
struct Contradiction {
  mlir::Operation *op;
  std::string message;
};

class FactsAnalysis {
public:
  // `root` is a module or a function. Calls are not followed: run it after inlining.
  explicit FactsAnalysis(mlir::Operation *root);
  tok::Facts factsOf(mlir::Value value);
  // In the order of the program, without those in code that is proved never to run: scripts guard
  // special cases by conditions that turn out constant.
  std::vector<Contradiction> contradictions();

private:
  mlir::Operation *root_;
  SymbolNumbers symbols_;
  mlir::DataFlowSolver solver_;
};

// States sizes (and, for an integer scalar, its value) of a function's argument: a constant as
// {value, -1}, a symbol as
// {-1-id, estimate}.
inline constexpr llvm::StringLiteral sizesAttributeName = "tok.sizes";
// On an argument that is a CSR array: the share of entries among its cells, an f64.
inline constexpr llvm::StringLiteral csrDensityAttributeName = "tok.csr_density";
mlir::Attribute factsAttribute(mlir::MLIRContext *context,
                               llvm::ArrayRef<tok::Dimension> dimensions);
llvm::SmallVector<tok::Dimension> dimensionsOf(mlir::Attribute attribute);

} // namespace tokamak::analysis
#endif
