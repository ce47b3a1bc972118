// t(a) %*% b of dense matrices with many rows, over chunks of rows that stay in the nearest caches:
// nothing is packed as long as the matrices are narrow, and t(a) %*% a computes half of its cells.
//
//   Array result = ...;                                  // columns of a × columns of b
//   if (!TransposedProduct::suits(*a, *b)) ...           // gemm
//   TransposedProduct(*a, *b).compute(context, result);
//
// The result is computed in tiles that fit the registers: every row of a chunk adds the products of
// some cells of its row of a with some vectors of its row of b. (The outer-product formulation of a
// matrix product: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008,
// section 6, with rows in place of packed panels.)
#ifndef TOKAMAK_RUNTIME_TRANSPOSEDPRODUCT_H
#define TOKAMAK_RUNTIME_TRANSPOSEDPRODUCT_H

#include "runtime/Native.h"

namespace tokamak::runtime {

class TransposedProduct {
public:
  // Bytes of a vector: 64 (AVX-512), 32 (AVX2 with FMA), or 0 where this machine has neither.
  static int widestVectorBytes();
  // Whether this is the way for t(lhs) %*% rhs: dense matrices of one element type with enough rows
  // and at least a vector of columns, on a machine with such vectors.
  static bool suits(const Array &lhs, const Array &rhs, int vectorBytes = widestVectorBytes());

  TransposedProduct(const Array &lhs, const Array &rhs, int vectorBytes = widestVectorBytes());
  // Sums are accumulated in the type of the cells, by fused multiply-adds in the order of rows
  // within ranges of rows that depend on the sizes alone, then over the ranges in a fixed tree.
  // Where both operands are the same array, the result is symmetric to the bit.
  void compute(ExecutionContext &context, Array &into) const;

private:
  // Some rows (columns of lhs) times some vectors (of columns of rhs) of the result, in a block.
  struct Tile {
    int64_t row, column; // of the block
    int vectors;
    int64_t accumulators; // where its sums lie among those of all tiles, in cells
  };
  // Columns of both operands that are computed together.
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
