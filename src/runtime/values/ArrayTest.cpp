#include "runtime/values/Array.h"

#include "base/Error.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/natives/NativeTesting.h"

#include <cstring>

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

TEST(Array, isAlignedAndRowMajor) {
  ArrayPointer x = Array::filled({3, 4}, 2.5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x->data()) % 64, 0u);
  EXPECT_EQ(x->at(2, 3), 2.5);
  EXPECT_EQ(x->bytes(), 96);
  TokArray descriptor = x->descriptor();
  EXPECT_EQ(descriptor.dims[0], 3);
  EXPECT_EQ(descriptor.dims[1], 4);
}

TEST(Array, viewsShareTheBuffer) {
  ArrayPointer x = Array::filled({4, 2}, 1);
  EXPECT_TRUE(x->ownsWholeBuffer());
  {
    ArrayPointer rows = x->rowView(1, 3);
    EXPECT_EQ(rows->data(), x->data() + 2);
    EXPECT_EQ(rows->rows(), 2);
    EXPECT_FALSE(x->ownsWholeBuffer());
  }
  EXPECT_TRUE(x->ownsWholeBuffer());
  EXPECT_EQ(x->reshaped({2, 4})->data(), x->data());
}

TEST(Array, mayBeEmpty) {
  EXPECT_EQ(Array::create({0, 5})->cells(), 0);
  EXPECT_EQ(Array::filled({3, 0}, 1)->bytes(), 0);
}

TEST(Array, refusesImpossibleSizes) {
  EXPECT_EQ(errorOf([] { Array::create({-1, 2}); }), "an array cannot have the size -1x2");
  EXPECT_EQ(errorOf([] { Array::create({int64_t{1} << 40, int64_t{1} << 40}); }),
            "an array of the size 1099511627776x1099511627776 is too large");
}

TEST(BufferPool, reusesFreedBuffers) {
  BufferPool &pool = BufferPool::instance();
  const std::byte *first = pool.allocate(10 << 20)->bytes();
  EXPECT_EQ(pool.allocate(10 << 20)->bytes(), first);
}

TEST(BufferPool, alignsLargeBuffersToHugePages) {
  auto buffer = BufferPool::instance().allocate(9 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->bytes()) % (2 << 20), 0u);
}

TEST(BufferPool, keepsToTheBudget) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached();
  pool.setMemoryBudget(pool.statistics().inUse + (8 << 20));
  {
    auto fits = pool.allocate(6 << 20);
  }
  // The cached buffer is released to make room.
  {
    auto fits = pool.allocate(8 << 20);
  }
  EXPECT_NE(errorOf([&] {
              pool.allocate(64 << 20);
            }).find("out of memory: 64.0 MiB more would pass the budget"),
            std::string::npos);
  pool.setMemoryBudget(0);
}

TEST(BufferPool, countsThePeak) {
  BufferPool &pool = BufferPool::instance();
  pool.releaseCached(); // a cached buffer may be larger
  pool.resetPeak();
  int64_t before = pool.statistics().peakInUse;
  {
    auto buffer = pool.allocate(32 << 20);
  }
  EXPECT_EQ(pool.statistics().peakInUse - before, 32 << 20);
}

TEST(BufferPool, writesSizesForPeople) {
  EXPECT_EQ(sizeText(12), "12 B");
  EXPECT_EQ(sizeText(1536), "1.5 KiB");
  EXPECT_EQ(sizeText(int64_t{3} << 30), "3.0 GiB");
}

//===- sparse -----------------------------------------------------------------------------------===//

static ArrayReference scattered() {
  ArrayPointer dense = Array::filled({40, 10}, 0);
  dense->mutableData()[3 * 10 + 7] = 2.5;
  dense->mutableData()[3 * 10 + 1] = -1;
  dense->mutableData()[39 * 10 + 0] = 4;
  return dense;
}

TEST(CsrArray, ConversionsKeepCells) {
  ArrayReference csr = Array::asSparse(scattered());
  ASSERT_TRUE(csr->isSparse());
  EXPECT_EQ(csr->entries(), 3);
  EXPECT_EQ(csr->rowOffsets()[3], 0);
  EXPECT_EQ(csr->rowOffsets()[4], 2);
  EXPECT_EQ(csr->columnIndices()[0], 1);
  EXPECT_EQ(csr->at(3, 7), 2.5);
  EXPECT_EQ(csr->at(3, 6), 0);
  ArrayReference dense = Array::asDense(csr);
  for (int64_t row = 0; row < 40; ++row)
    for (int64_t column = 0; column < 10; ++column)
      EXPECT_EQ(dense->at(row, column), csr->at(row, column));
}

TEST(CsrArray, ConversionIsRememberedUntilTheArrayIsWritten) {
  ArrayPointer dense = scattered()->copy();
  ArrayReference csr = Array::asSparse(dense);
  EXPECT_EQ(csr.get(), Array::asSparse(dense).get());
  dense->mutableData()[5] = 9;
  EXPECT_EQ(Array::asSparse(dense)->entries(), 4);
  EXPECT_EQ(csr->entries(), 3);
}

TEST(CsrArray, RowViewsAndCopiesKeepTheirEntries) {
  ArrayReference csr = Array::asSparse(scattered());
  ArrayPointer view = csr->rowView(30, 40);
  EXPECT_EQ(view->entries(), 1);
  EXPECT_EQ(view->rowOffsets()[0], 2);
  EXPECT_EQ(view->at(9, 0), 4);
  ArrayPointer copy = view->copy();
  EXPECT_EQ(copy->rowOffsets()[0], 0);
  EXPECT_EQ(copy->at(9, 0), 4);
  ArrayReference single = Array::withElementType(view, ElementType::F32);
  EXPECT_EQ(single->at(9, 0), 4);
  EXPECT_EQ(Array::asDense(single)->floats()[90], 4);
}

TEST(CsrArray, LayoutFollowsDensity) {
  EXPECT_TRUE(Array::inBestLayout(scattered())->isSparse());
  EXPECT_FALSE(Array::inBestLayout(Array::filled({40, 10}, 1))->isSparse());
  EXPECT_FALSE(Array::inBestLayout(Array::filled({400, 1}, 0))->isSparse());
  EXPECT_FALSE(Array::inBestLayout(Array::filled({4, 4}, 0))->isSparse());
  EXPECT_FALSE(Array::inBestLayout(Array::asSparse(Array::filled({40, 10}, 1)))->isSparse());
}

TEST(CsrArray, PatternIsShared) {
  ArrayReference csr = Array::asSparse(scattered());
  ArrayPointer other = csr->withSamePattern(ElementType::F64);
  EXPECT_EQ(other->rowOffsets(), csr->rowOffsets());
  other->mutableData()[0] = 7;
  EXPECT_EQ(other->at(3, 1), 7);
  EXPECT_EQ(csr->at(3, 1), -1);
}

TEST(RepeatedArray, TakesTheMemoryOfOneCellUntilItsCellsAreRead) {
  int64_t before = BufferPool::instance().statistics().inUse;
  ArrayReference array = Array::repeated({100000, 200}, ElementType::F64, 2.5);
  EXPECT_LE(BufferPool::instance().statistics().inUse - before, 4096);
  EXPECT_TRUE(array->isRepeated());
  EXPECT_EQ(array->bytes(), 8);
  EXPECT_EQ(array->at(99999, 199), 2.5);
  EXPECT_EQ(array->countNonZeros(), 20000000);
  ArrayPointer rows = array->rowView(5, 8), row = array->reshaped({1, 20000000});
  EXPECT_TRUE(rows->isRepeated() && row->isRepeated());
  EXPECT_LE(BufferPool::instance().statistics().inUse - before, 4096);
  EXPECT_EQ(rows->data()[599], 2.5);
  EXPECT_EQ(rows->data(), rows->data()) << "made once";
  EXPECT_EQ(array->data()[20000000 - 1], 2.5);
}

TEST(RepeatedArray, IsConvertedAsAnyArray) {
  ArrayReference array = Array::repeated({30, 20}, ElementType::F64, -0.1);
  ArrayReference single = Array::withElementType(array, ElementType::F32);
  EXPECT_TRUE(single->isRepeated());
  EXPECT_EQ(single->repeatedCell(), static_cast<double>(-0.1F));
  EXPECT_EQ(Array::withElementType(array, ElementType::I8)->at(3, 4), 0);
  ArrayReference dense = Array::asDense(array), csr = Array::asSparse(array);
  EXPECT_FALSE(dense->isRepeated());
  EXPECT_EQ(dense->data()[599], -0.1);
  EXPECT_EQ(csr->entries(), 600);
  EXPECT_EQ(csr->at(29, 19), -0.1);
  EXPECT_EQ(array->descriptor().dims[0], 30);
  EXPECT_EQ(static_cast<const double *>(array->descriptor().data)[7], -0.1);
}

TEST(RepeatedArray, BecomesDenseWhenItIsWritten) {
  ArrayPointer array = Array::repeated({30, 20}, ElementType::F64, 1.0), copy = array->copy();
  array->mutableData()[5] = 7;
  EXPECT_FALSE(array->isRepeated());
  EXPECT_EQ(array->at(0, 5), 7);
  EXPECT_EQ(array->at(29, 19), 1);
  EXPECT_EQ(copy->at(0, 5), 1);
  EXPECT_TRUE(array->ownsWholeBuffer());
}

TEST(Array, IsCopiedWhereItIsNotAligned) {
  alignas(4) std::byte bytes[6 * sizeof(float) + 1];
  const float cells[] = {1, 2, 3, 4, 5, 6};
  for (int64_t offset : {0, 1}) {
    std::memcpy(bytes + offset, cells, sizeof cells);
    ArrayReference array = Array::over({3, 2}, ElementType::F32, bytes + offset);
    EXPECT_EQ(array->isAligned(), offset == 0);
    ArrayReference aligned = Array::aligned(array);
    EXPECT_TRUE(aligned->isAligned());
    EXPECT_EQ(aligned == array, offset == 0);
    EXPECT_EQ(aligned->floats()[5], 6);
    EXPECT_EQ(Array::withElementType(array, ElementType::F64)->at(2, 1), 6);
  }
}

TEST(Array, StandsOverCellsThatAreKeptElsewhere) {
  const float cells[] = {1, 2, 3, 4, 5, 6};
  int64_t before = BufferPool::instance().statistics().inUse;
  ArrayPointer array =
      Array::over({3, 2}, ElementType::F32, reinterpret_cast<const std::byte *>(cells));
  EXPECT_EQ(array->floats(), cells);
  EXPECT_EQ(array->rowView(1, 3)->floats(), cells + 2);
  EXPECT_EQ(array->reshaped({6})->floats(), cells);
  EXPECT_FALSE(array->ownsWholeBuffer()) << "nobody may write to it";
  EXPECT_EQ(BufferPool::instance().statistics().inUse, before);
  ArrayPointer copy = array->copy();
  EXPECT_TRUE(copy->ownsWholeBuffer());
  EXPECT_EQ(copy->floats()[5], 6);
}

TEST(Array, HoldsTheOwnerOfCellsThatAreKeptElsewhere) {
  auto cells = std::make_shared<const std::vector<double>>(std::vector<double>{1, 2, 3, 4, 5, 6});
  auto bytes = reinterpret_cast<const std::byte *>(cells->data());
  ArrayReference view = Array::over({3, 2}, ElementType::F64, bytes, cells)->rowView(1, 3);
  EXPECT_EQ(cells.use_count(), 2) << "the view holds it, too";
  EXPECT_FALSE(view->ownsWholeBuffer()) << "nobody may write to it";
  EXPECT_EQ(view->at(1, 1), 6);
  view.reset();
  EXPECT_EQ(cells.use_count(), 1);
}

TEST(Array, StandsOverSparseMatricesThatAreKeptElsewhere) {
  struct Matrix {
    int64_t offsets[4] = {0, 1, 1, 3};
    int32_t columns[3] = {4, 0, 2};
    float cells[3] = {7, 8, 9};
  };
  auto owner = std::make_shared<const Matrix>();
  ArrayReference array =
      Array::overSparse({3, 5}, ElementType::F32, owner->offsets, owner->columns,
                        reinterpret_cast<const std::byte *>(owner->cells), owner);
  EXPECT_EQ(array->entries(), 3);
  EXPECT_EQ(array->at(0, 4), 7);
  EXPECT_EQ(array->at(2, 2), 9);
  EXPECT_EQ(array->at(1, 1), 0);
  EXPECT_FALSE(array->ownsWholeBuffer());
  EXPECT_EQ(Array::asDense(array)->floats()[12], 9);
  ArrayReference copy = array->copy();
  array.reset();
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(copy->at(2, 0), 8);
}
