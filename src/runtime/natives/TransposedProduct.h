// t(a) %*% b of dense matrices with many rows, computed over chunks of rows that stay in the
// nearest caches: narrow matrices are not packed, and t(a) %*% a computes half of its cells.
//
//   ArrayPointer result = Array::create({a->columns(), b->columns()});
//   if (!TransposedProduct::suits(*a, *b)) ...           // gemm
//   TransposedProduct(*a, *b).compute(context, *result);
//
// The result is computed in tiles that fit the registers: each row of a chunk adds the outer
// product of some cells of its row of a and some vectors of its row of b. (The outer-product
// formulation of a matrix product: Goto and van de Geijn, Anatomy of High-Performance Matrix
// Multiplication, 2008, section 6, with rows in place of packed panels.)
#ifndef TOKAMAK_RUNTIME_NATIVES_TRANSPOSEDPRODUCT_H
#define TOKAMAK_RUNTIME_NATIVES_TRANSPOSEDPRODUCT_H

#include "runtime/natives/Native.h"

namespace tokamak::runtime {

class TransposedProduct {
public:
  // Bytes of a vector: 64 (AVX-512), 32 (AVX2 with FMA), or 0 if the machine has neither.
  static int widestVectorBytes();
  // Whether t(lhs) %*% rhs should be computed here: for dense matrices of the same element type
  // with enough rows, at least a tile of lhs columns and a vector of rhs columns.
  static bool suits(const Array &lhs, const Array &rhs, int vectorBytes = widestVectorBytes());

  TransposedProduct(const Array &lhs, const Array &rhs, int vectorBytes = widestVectorBytes());
  // Sums are accumulated in the type of the cells, by fused multiply-adds in row order within
  // ranges of rows that depend on the sizes alone, then over the ranges in a fixed tree. If both
  // operands are the same object, the result is exactly symmetric.
  void compute(ExecutionContext &context, Array &into) const;

private:
  // A tile of a block: some rows of the result (columns of lhs), some vectors of its columns.
  struct Tile {
    int64_t row, column; // relative to the block
    int vectors;
    int64_t accumulators; // offset of its sums among those of all tiles, in cells
  };
  // A block of the result: columns of both operands that are computed together.
  struct Block {
    int64_t row, rows, column, columns;
    std::vector<Tile> tiles;
  };
  void addBlock(int64_t row, int64_t rows, int64_t column, int64_t columns);
  template <typename Number> void computeCells(ExecutionContext &context, Array &into) const;
  template <typename Number>
  void addRange(const Block &block, int64_t begin, int64_t end, Number *sums) const;
  template <typename Number>
  void write(const Block &block, const Number *sums, Number *result) const;

  const Array &lhs_, &rhs_;
  int vectorBytes_;
  int64_t lanes_, tileRows_;
  bool isSymmetric_;
  std::vector<Block> blocks_;
  int64_t sums_ = 0; // cells of all tiles
};

} // namespace tokamak::runtime
#endif
