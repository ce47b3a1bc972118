#include "reference/DefiningEquations.h"

#include "runtime/natives/Native.h"
#include "runtime/natives/NativeTesting.h"
#include "runtime/values/Array.h"

#include <gtest/gtest.h>

#include <random>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::Array;
using runtime::Value;

namespace {

// Symmetric and positive definite, or a general matrix.
Value matrix(int64_t rows, int64_t columns, bool isDefinite = false, uint64_t seed = 1) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> distribution(-1, 1);
  runtime::ArrayPointer result = Array::create({rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i)
    result->mutableData()[i] = distribution(generator);
  if (isDefinite)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j <= i; ++j)
        result->mutableData()[i * columns + j] = result->mutableData()[j * columns + i] =
            i == j ? static_cast<double>(rows) : result->data()[i * columns + j];
  return result;
}

std::vector<Value> call(std::string_view native, std::vector<Value> operands, size_t results) {
  runtime::ExecutionContext context;
  std::vector<Value> out(results);
  runtime::findNative(native)->function(context, operands, out);
  return out;
}

// The native's results hold, and no longer if one cell of them is off by a millionth.
void judge(std::string_view native, const std::vector<Value> &operands, size_t results,
           bool everyCell = true) {
  std::vector<Value> out = call(native, operands, results);
  EXPECT_EQ(violationOf(findNativeRow(native)->kind, operands, out), std::nullopt) << native;
  for (size_t number = 0; number < results; ++number) {
    runtime::ArrayPointer damaged = out[number].array()->copy();
    int64_t cell =
        damaged->columns() == 1 ? damaged->cells() / 2 : damaged->columns() + 1; // on the diagonal
    damaged->mutableData()[cell] += 1e-6;
    std::vector<Value> wrong = out;
    wrong[number] = damaged;
    if (everyCell)
      EXPECT_NE(violationOf(findNativeRow(native)->kind, operands, wrong), std::nullopt)
          << native << " " << number;
  }
}

TEST(DefiningEquations, JudgeDecompositions) {
  for (int64_t size : {2, 7, 40}) {
    judge("inv", {matrix(size, size)}, 1);
    judge("solve", {matrix(size, size), matrix(size, 3, false, 2)}, 1);
    judge("cholesky", {matrix(size, size, true)}, 1);
    judge("lu", {matrix(size, size)}, 3);
    judge("qr", {matrix(size + 3, size)}, 2);
    judge("svd", {matrix(size + 3, size)}, 3);
    judge("svd", {matrix(size, size + 5)}, 3);
    judge("eigen", {matrix(size, size, true)}, 2);
    judge("eigen", {matrix(size, size)}, 2, /*everyCell=*/false); // with complex pairs
  }
}

TEST(DefiningEquations, SayWhatDoesNotHold) {
  Value a = matrix(5, 5);
  std::vector<Value> out = call("lu", {a}, 3);
  std::swap(out[1], out[2]);
  EXPECT_EQ(violationOf(NativeKind::Lu, std::vector<Value>{a}, out), "L or U is not triangular");
  EXPECT_NE(violationOf(NativeKind::Inv, std::vector<Value>{a}, std::vector<Value>{a})
                ->find("A %*% X = I is off"),
            std::string::npos);
  EXPECT_EQ(violationOf(NativeKind::Det, std::vector<Value>{a}, std::vector<Value>{1.0}),
            std::nullopt);
}

} // namespace
