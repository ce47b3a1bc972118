#include "runtime/sparse/UnitedEntries.h"
#include "runtime/natives/NativeTesting.h"
#include "runtime/sparse/SparseMatrix.h"

using namespace tokamak;
using namespace tokamak::runtime;
using namespace tokamak::runtime::testing;

static ArrayReference csr(int64_t rows, int64_t columns, const Cells &cells) {
  return Array::asSparse(matrix(rows, columns, cells).array());
}

static std::vector<ArrayReference> united(std::vector<ArrayReference> matrices, int threads = 1) {
  Scheduler scheduler(threads);
  ExecutionContext context;
  context.scheduler = &scheduler;
  std::vector<ArrayReference *> pointers;
  for (ArrayReference &matrix : matrices)
    pointers.push_back(&matrix);
  uniteEntries(context, pointers);
  return matrices;
}

static void expectSameEntries(const std::vector<ArrayReference> &matrices) {
  for (const ArrayReference &matrix : matrices) {
    EXPECT_EQ(matrix->rowOffsets(), matrices[0]->rowOffsets());
    EXPECT_EQ(matrix->columnIndices(), matrices[0]->columnIndices());
  }
}

TEST(UnitedEntries, areThoseOfEach) {
  // The second row is empty in both matrices, the third in the first matrix.
  ArrayReference a = csr(3, 4, {0, 5, 0, 1, /**/ 0, 0, 0, 0, /**/ 0, 0, 0, 0}),
                 b = csr(3, 4, {2, 3, 0, 0, /**/ 0, 0, 0, 0, /**/ 0, 0, notANumber, infinity});
  std::vector<ArrayReference> both = united({a, b});
  expectSameEntries(both);
  EXPECT_EQ(both[0]->entries(), 5);
  EXPECT_EQ(cellsOf(Value(both[0])), cellsOf(Value(a)));
  EXPECT_EQ(Cells(both[0]->data(), both[0]->data() + 5), (Cells{0, 5, 1, 0, 0}));
  EXPECT_EQ(Cells(both[1]->data(), both[1]->data() + 3), (Cells{2, 3, 0}));
  EXPECT_TRUE(std::isnan(both[1]->data()[3]));
  EXPECT_EQ(both[1]->data()[4], infinity);
  EXPECT_EQ(std::vector<int32_t>(both[0]->columnIndices(), both[0]->columnIndices() + 5),
            (std::vector<int32_t>{0, 1, 3, 2, 3}));
}

TEST(UnitedEntries, ofMatricesThatShareThemStayWhereTheyAre) {
  ArrayReference a = csr(2, 3, {0, 5, 0, 1, 0, 2});
  std::shared_ptr<Array> b = a->withSamePattern(ElementType::F64);
  std::fill_n(b->mutableData(), 3, 7.0);
  std::vector<ArrayReference> both = united({a, b});
  EXPECT_EQ(both[0], a);
  EXPECT_EQ(both[1], b);
}

TEST(UnitedEntries, ofViewsOfRowsAndSinglesAndEmptyMatrices) {
  ArrayReference whole = csr(3, 2, {1, 0, 2, 3, 0, 4});
  std::vector<ArrayReference> some = united(
      {whole->rowView(1, 3), Array::withElementType(csr(2, 2, {0, 0, 0.5, 0}), ElementType::F32),
       csr(2, 2, Cells(4))});
  expectSameEntries(some);
  EXPECT_EQ(some[0]->entries(), 4);
  EXPECT_EQ(cellsOf(Value(some[0])), (Cells{2, 3, 0, 4}));
  EXPECT_EQ(some[1]->elementType(), ElementType::F32);
  EXPECT_EQ(some[1]->at(1, 0), 0.5);
  EXPECT_EQ(cellsOf(Value(some[2])), Cells(4));
  EXPECT_EQ(united({csr(0, 5, {}), csr(0, 5, {})})[1]->entries(), 0);
}

TEST(UnitedEntries, areTheSameOnAnyNumberOfThreads) {
  auto random = [](double sparsity, int64_t seed) {
    return Array::asSparse(call("rand", {integer(3000), integer(400), 0.0, 1.0, sparsity,
                                         integer(seed), "uniform", 1.0})
                               .array());
  };
  std::vector<ArrayReference> matrices = {random(0.1, 1), random(0.02, 2), random(0.2, 3)};
  std::vector<ArrayReference> once = united(matrices, 1), parallel = united(matrices, 3);
  expectSameEntries(parallel);
  int64_t entries = once[0]->entries();
  ASSERT_EQ(parallel[0]->entries(), entries);
  EXPECT_TRUE(std::equal(once[0]->columnIndices(), once[0]->columnIndices() + entries,
                         parallel[0]->columnIndices()));
  for (size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_EQ(cellsOf(Value(parallel[i])), cellsOf(Value(matrices[i])));
    EXPECT_TRUE(std::equal(once[i]->data(), once[i]->data() + entries, parallel[i]->data()));
  }
}
