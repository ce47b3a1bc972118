#include "runtime/natives/TransposedProduct.h"

#include "base/WidestVectors.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>

namespace tokamak::runtime {
namespace {

// The order in which sums add up depends on these figures, so they are the same on every machine.
// With fewer rows, traversing the result costs more than the products.
constexpr int64_t fewestRows = 64;
// Wider operands are cut into blocks of columns, copied chunk by chunk to contiguous memory: rows
// that are far apart would compete for the same cache sets.
constexpr int64_t widestBlock = 256;
// The bytes of a chunk of rows, whose length in rows is limited: at least so long that it amortises
// loading and storing a tile's sums, at most so long that it stays in the caches.
constexpr int64_t chunkBytes = 32 << 10, shortestChunk = 32, longestChunk = 64;
// Tasks (pairs of a block and a range of rows) are about this many; ranges have
// at least this many rows.
constexpr int64_t mostTasks = 64, shortestRange = 2048;
constexpr int64_t lineBytes = 64;

// The rows of a tile: with three vectors of columns its sums and operands fill the 32 registers of
// AVX-512, or the 16 of AVX2.
int64_t tileRowsFor(int vectorBytes) { return vectorBytes == 64 ? 8 : 4; }
constexpr int mostVectors = 3;

// The operands of a tile: cells of lhs from `lhs`, of rhs from `rhs`, with
// the strides of their rows.
template <typename Number> struct Chunk {
  const Number *lhs, *rhs;
  int64_t lhsStride, rhsStride, rows;
};

// Inlined into functions compiled for machines with such vectors.
template <typename Number, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void addTile(const Chunk<Number> &chunk, Number *sums) {
  using Vector [[gnu::vector_size(Bytes), gnu::may_alias]] = Number;
  using Unaligned [[gnu::vector_size(Bytes), gnu::aligned(alignof(Number)), gnu::may_alias]] =
      Number;
  constexpr int lanes = Bytes / sizeof(Number);
  Vector totals[Rows][Vectors];
  for (int row = 0; row < Rows; ++row)
    for (int i = 0; i < Vectors; ++i)
      totals[row][i] = *reinterpret_cast<const Vector *>(sums + (row * Vectors + i) * lanes);
  const Number *lhs = chunk.lhs, *rhs = chunk.rhs;
  for (int64_t k = 0; k < chunk.rows; ++k, lhs += chunk.lhsStride, rhs += chunk.rhsStride) {
    Vector cells[Vectors];
    for (int i = 0; i < Vectors; ++i)
      cells[i] = *reinterpret_cast<const Unaligned *>(rhs + i * lanes);
    for (int row = 0; row < Rows; ++row) {
      Vector factor = lhs[row] - Vector{};
      for (int i = 0; i < Vectors; ++i)
        totals[row][i] = __builtin_elementwise_fma(factor, cells[i], totals[row][i]);
    }
  }
  for (int row = 0; row < Rows; ++row)
    for (int i = 0; i < Vectors; ++i)
      *reinterpret_cast<Vector *>(sums + (row * Vectors + i) * lanes) = totals[row][i];
}

template <typename Number, int Bytes, int Rows>
[[gnu::always_inline]] inline void addTileOf(int vectors, const Chunk<Number> &chunk,
                                             Number *sums) {
  switch (vectors) {
  case 1:
    return addTile<Number, Bytes, Rows, 1>(chunk, sums);
  case 2:
    return addTile<Number, Bytes, Rows, 2>(chunk, sums);
  default:
    return addTile<Number, Bytes, Rows, mostVectors>(chunk, sums);
  }
}

#if defined(__x86_64__)
template <typename Number>
[[gnu::target("avx512f"), gnu::noinline]] void addTile512(int vectors, const Chunk<Number> &chunk,
                                                          Number *sums) {
  addTileOf<Number, 64, 8>(vectors, chunk, sums);
}
template <typename Number>
[[gnu::target("avx2,fma"), gnu::noinline]] void addTile256(int vectors, const Chunk<Number> &chunk,
                                                           Number *sums) {
  addTileOf<Number, 32, 4>(vectors, chunk, sums);
}
#endif

template <typename Number>
void addTile(int vectorBytes, int vectors, const Chunk<Number> &chunk, Number *sums) {
#if defined(__x86_64__)
  return vectorBytes == 64 ? addTile512(vectors, chunk, sums) : addTile256(vectors, chunk, sums);
#endif
}

// Prefetches the cache lines of [begin, end), an equal share during each tile.
class AheadOfTiles {
public:
  AheadOfTiles(const void *begin, const void *end, size_t tiles)
      : next_(static_cast<const char *>(begin)), end_(static_cast<const char *>(end)),
        share_((end_ - next_) / static_cast<int64_t>(tiles) + lineBytes) {}
  void fetchShare() {
    for (const char *stop = std::min(end_, next_ + share_); next_ < stop; next_ += lineBytes)
      __builtin_prefetch(next_);
  }

private:
  const char *next_, *end_;
  int64_t share_;
};

// The columns of a block in a chunk: in place, or copied to contiguous memory.
template <typename Number> class Columns {
public:
  Columns(const Array &array, int64_t first, int64_t count)
      : cells_(array.cellsAs<Number>()), stride_(array.columns()), first_(first), count_(count) {}
  bool isCopied() const { return count_ < stride_; }
  int64_t stride() const { return isCopied() ? count_ : stride_; }
  const Number *rows(int64_t begin, int64_t end) {
    const Number *start = cells_ + begin * stride_ + first_;
    if (!isCopied())
      return start;
    copy_.resize(static_cast<size_t>(longestChunk * count_));
    for (int64_t row = begin; row < end; ++row)
      std::copy_n(start + (row - begin) * stride_, count_, copy_.data() + (row - begin) * count_);
    return copy_.data();
  }

private:
  const Number *cells_;
  int64_t stride_, first_, count_;
  BudgetedVector<Number> copy_;
};

// Columns in blocks whose sizes differ by one at most: either all of them are in one, or each has at least half of the
// widest one's, which is more than the rows of a tile and the columns of a vector.
struct Cut {
  explicit Cut(int64_t columns)
      : columns(columns), blocks((columns + widestBlock - 1) / widestBlock) {}
  int64_t begin(int64_t block) const { return columns * block / blocks; }
  int64_t sizeOf(int64_t block) const { return begin(block + 1) - begin(block); }
  int64_t columns, blocks;
};

} // namespace

int TransposedProduct::widestVectorBytes() {
#if defined(__x86_64__)
  return fusedVectorBytes();
#else
  return 0;
#endif
}

bool TransposedProduct::suits(const Array &lhs, const Array &rhs, int vectorBytes) {
  if (vectorBytes == 0 || lhs.isSparse() || rhs.isSparse() || !mayBeSparse(lhs.elementType()) ||
      lhs.elementType() != rhs.elementType())
    return false;
  int64_t lanes = vectorBytes / (lhs.elementType() == ElementType::F32 ? 4 : 8);
  return lhs.rows() >= fewestRows && lhs.columns() >= tileRowsFor(vectorBytes) &&
         rhs.columns() >= lanes;
}

TransposedProduct::TransposedProduct(const Array &lhs, const Array &rhs, int vectorBytes)
    : lhs_(lhs), rhs_(rhs), vectorBytes_(vectorBytes),
      lanes_(vectorBytes / (lhs.elementType() == ElementType::F32 ? 4 : 8)),
      tileRows_(tileRowsFor(vectorBytes)), isSymmetric_(&lhs == &rhs) {
  Cut rows(lhs.columns()), columns(rhs.columns());
  for (int64_t i = 0; i < rows.blocks; ++i)
    for (int64_t j = isSymmetric_ ? i : 0; j < columns.blocks; ++j)
      addBlock(rows.begin(i), rows.sizeOf(i), columns.begin(j), columns.sizeOf(j));
}

// The last tile in each direction is aligned to the end of the block: the cells that it shares with
// the tile before are computed twice, with the same result.
void TransposedProduct::addBlock(int64_t row, int64_t rows, int64_t column, int64_t columns) {
  Block block{row, rows, column, columns, {}};
  bool isDiagonal = isSymmetric_ && row == column;
  for (int64_t first = 0; first < rows; first += tileRows_) {
    int64_t tileRow = std::min(first, rows - tileRows_);
    int64_t start = isDiagonal ? std::min(tileRow, columns - lanes_) : 0;
    int64_t vectors = (columns - start + lanes_ - 1) / lanes_;
    while (vectors > 0) {
      // Two tiles of two vectors rather than one of three and one of a single vector.
      int64_t count = vectors == 4 ? 2 : std::min<int64_t>(vectors, mostVectors);
      count = std::min(count, columns / lanes_);
      int64_t width = count * lanes_;
      block.tiles.push_back(
          {tileRow, std::min(start, columns - width), static_cast<int>(count), sums_});
      sums_ += tileRows_ * width;
      start += width;
      vectors -= count;
    }
  }
  blocks_.push_back(std::move(block));
}

template <typename Number>
void TransposedProduct::addRange(const Block &block, int64_t begin, int64_t end,
                                 Number *sums) const {
  Columns<Number> lhs(lhs_, block.row, block.rows), rhs(rhs_, block.column, block.columns);
  bool isOneArray = isSymmetric_ && block.row == block.column;
  int64_t rowBytes =
      static_cast<int64_t>(sizeof(Number)) * (block.columns + (isOneArray ? 0 : block.rows));
  int64_t chunkRows = std::clamp(chunkBytes / rowBytes, shortestChunk, longestChunk);
  for (int64_t row = begin; row < end; row += chunkRows) {
    int64_t stop = std::min(end, row + chunkRows), ahead = std::min(end, stop + chunkRows);
    const Number *left = lhs.rows(row, stop);
    const Number *right = isOneArray ? left : rhs.rows(row, stop);
    auto fetchOf = [&](const Columns<Number> &columns, const Array &array) {
      const Number *cells = array.cellsAs<Number>();
      int64_t from = columns.isCopied() ? ahead : stop;
      return AheadOfTiles(cells + from * array.columns(), cells + ahead * array.columns(),
                          block.tiles.size());
    };
    AheadOfTiles nextLeft = fetchOf(lhs, lhs_), nextRight = fetchOf(rhs, rhs_);
    for (const Tile &tile : block.tiles) {
      nextRight.fetchShare();
      if (!isOneArray)
        nextLeft.fetchShare();
      addTile<Number>(vectorBytes_, tile.vectors,
                      {left + tile.row, right + tile.column, lhs.stride(),
                       isOneArray ? lhs.stride() : rhs.stride(), stop - row},
                      sums + tile.accumulators);
    }
  }
}

template <typename Number>
void TransposedProduct::write(const Block &block, const Number *sums, Number *result) const {
  int64_t stride = rhs_.columns();
  for (const Tile &tile : block.tiles) {
    const Number *cell = sums + tile.accumulators;
    int64_t width = tile.vectors * lanes_;
    for (int64_t row = block.row + tile.row; row < block.row + tile.row + tileRows_; ++row)
      for (int64_t column = block.column + tile.column; column < block.column + tile.column + width;
           ++column, ++cell) {
        result[row * stride + column] = *cell;
        if (isSymmetric_)
          result[column * stride + row] = *cell;
      }
  }
}

template <typename Number>
void TransposedProduct::computeCells(ExecutionContext &context, Array &into) const {
  auto blocks = static_cast<int64_t>(blocks_.size());
  int64_t rows = lhs_.rows();
  int64_t ranges =
      std::clamp<int64_t>(rows / shortestRange, 1, std::max<int64_t>(1, mostTasks / blocks));
  int64_t range = (rows + ranges - 1) / ranges;
  ranges = (rows + range - 1) / range;
  ArrayPointer partials = Array::create({ranges, sums_}, into.elementType());
  auto *sums = partials->mutableCellsAs<Number>();
  forEachRange(context, ranges * blocks, 1, [&](int64_t task, int64_t) {
    const Block &block = blocks_[task % blocks];
    int64_t number = task / blocks;
    Number *own = sums + number * sums_;
    int64_t first = block.tiles.front().accumulators;
    const Tile &last = block.tiles.back();
    std::fill(own + first, own + last.accumulators + tileRows_ * last.vectors * lanes_, Number(0));
    addRange(block, number * range, std::min(rows, (number + 1) * range), own);
  });
  addPartials(context, sums, ranges, sums_);
  auto *result = into.mutableCellsAs<Number>();
  forEachRange(context, blocks, 1,
               [&](int64_t block, int64_t) { write(blocks_[block], sums, result); });
}

void TransposedProduct::compute(ExecutionContext &context, Array &into) const {
  withFloatCells(lhs_, [&]<typename Number>() { computeCells<Number>(context, into); });
}

} // namespace tokamak::runtime
