// A dataflow analysis of the facts of every value of a program: sizes as constants or symbols,
// through branches and loops.
//
//   FactsAnalysis analysis(module);
//   // For an array: Size::constant(569), or a symbol; never unknown.
//   Size rows = analysis.factsOf(value).rows();
//
// A value of unknown size gets a symbol of its own, so that sizes derived from it can be compared.
// Facts about arguments of functions are given by the attributes `tok.sizes` and `tok.sparse_density`.
#ifndef TOKAMAK_ANALYSIS_FACTSANALYSIS_H
#define TOKAMAK_ANALYSIS_FACTSANALYSIS_H

#include "ir/tok/TokDialect.h"

#include "mlir/Analysis/DataFlowFramework.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace tokamak::analysis {

// The ids of symbols that a caller gives to inputs must be below this number; the ids of the
// analysis's own symbols start here.
inline constexpr int64_t firstOwnSymbol = 1000;

// Assigns the symbols of one analysis: the same value and dimension always give the same symbol.
class SymbolNumbers {
public:
  explicit SymbolNumbers(int64_t first) : next_(first) {}
  // `dimension`: 0, 1, ... of an array, -1 for an integer scalar.
  Size of(mlir::Value value, int dimension);
  // Replaces unknown sizes (or an unknown integer) by the value's own symbols.
  tok::Facts complete(mlir::Value value, tok::Facts facts);

private:
  int64_t next_;
  llvm::DenseMap<std::pair<mlir::Value, int>, int64_t> numbers_;
};

// An operation whose operands are proved wrong (mismatched sizes, indices out of range): it fails
// with this message if it is executed.
struct Contradiction {
  mlir::Operation *op;
  std::string message;
};

class FactsAnalysis {
public:
  // Whether arguments without `tok.sizes` have those of `tok.expected_sizes`: what follows is not proved then.
  enum class Arguments : uint8_t { Proved, Expected };
  // `root` is a module or a function. Calls are not followed: run it after inlining.
  explicit FactsAnalysis(mlir::Operation *root, Arguments arguments = Arguments::Proved);
  tok::Facts factsOf(mlir::Value value);
  // In program order. Code that is proved never to run is excluded, because scripts guard special
  // cases by conditions that turn out constant.
  std::vector<Contradiction> contradictions();

private:
  mlir::Operation *root_;
  SymbolNumbers symbols_;
  mlir::DataFlowSolver solver_;
};

// Attribute of an argument that is a sparse array: the share of entries among its cells, an f64.
inline constexpr llvm::StringLiteral sparseDensityAttributeName = "tok.sparse_density";

} // namespace tokamak::analysis
#endif
