// What windows, convolutions and pools mean, and that the runtime's natives agree, for random windows.
#include "reference/WindowMeaning.h"

#include "runtime/natives/NativeTesting.h"

#include <cmath>
#include <functional>
#include <random>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::Array;
using runtime::ArrayPointer;
using runtime::Value;
using runtime::testing::Cells;
using runtime::testing::cellsOf;
using runtime::testing::integer;

namespace {

Value arrayOf(const std::vector<int64_t> &sizes, const std::function<double()> &cell) {
  ArrayPointer array = Array::create(runtime::Shape(std::span<const int64_t>(sizes)));
  for (int64_t i = 0; i < array->cells(); ++i)
    array->mutableData()[i] = cell();
  return array;
}

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

// Six numbers for one dimension.
std::vector<Value> one(std::initializer_list<int64_t> numbers) {
  std::vector<Value> values;
  for (int64_t number : numbers)
    values.push_back(integer(number));
  return values;
}

TEST(WindowMeaning, convolvesByTheDefinition) {
  double next = 0;
  Value image = arrayOf({1, 1, 4}, [&] { return ++next; });   // 1 2 3 4
  Value weights = arrayOf({2, 1, 2}, [&] { return ++next; }); // 5 6, 7 8
  Value y =
      convolve(image, weights, integer(1), one({3, 2, 0, 2, 1, 1})); // padded by one cell, stride 2
  EXPECT_EQ(cellsOf(y), (Cells{6, 28, 20, 8, 38, 28}));
}

TEST(WindowMeaning, poolsLeaveOutWhatIsOutside) {
  double next = -5;
  Value x = arrayOf({1, 4}, [&] { return ++next; }); // -4 -3 -2 -1
  EXPECT_EQ(cellsOf(pool(x, "max", one({3, 2, 0, 2, 1, 1}))), (Cells{-4, -2, -1}));
  EXPECT_EQ(cellsOf(pool(x, "sum", one({3, 2, 0, 2, 1, 1}))), (Cells{-4, -5, -1}));
  EXPECT_EQ(cellsOf(pool(x, "max", one({1, 2, 9, 1, 1, 1}))), (Cells{-INFINITY}));
}

TEST(WindowMeaning, natives) {
  std::mt19937 random(7);
  auto upTo = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); };
  auto cell = [&] { return static_cast<double>(upTo(8)) - 4; };
  for (int round = 0; round < 400; ++round) {
    int64_t spatial = 1 + upTo(2), groups = 1 + upTo(2), channels = 1 + upTo(2),
            filters = groups * (1 + upTo(2));
    bool isLarge = round % 100 == 0; // several panels, and tasks for several threads
    if (isLarge)
      spatial = 2, channels = 40;
    int64_t images = 1 + upTo(1);
    if (round % 100 == 1) // many images of few windows: several products, in tasks
      spatial = 1, channels = 90, images = 120, filters = groups * 40;
    std::vector<int64_t> image = {images, groups * channels}, weights = {filters, channels};
    std::vector<Value> numbers;
    bool isPlain = upTo(3) == 0; // windows of one cell
    for (int64_t i = 0; i < spatial; ++i) {
      int64_t size = isLarge ? 60 + upTo(20) : upTo(9), places = isPlain ? 1 : 1 + upTo(3);
      image.push_back(size);
      weights.push_back(places);
      for (int64_t number : {isPlain ? size : upTo(12) + (isLarge ? 50 : 0), places,
                             isPlain ? 1 : upTo(4) - 2, isPlain ? 1 : 1 + upTo(2),
                             isPlain ? 1 : upTo(4) - 2, isPlain || upTo(2) > 0 ? 1 : 1 + upTo(2)})
        numbers.push_back(integer(number));
    }
    Value x = arrayOf(image, cell), w = arrayOf(weights, cell);
    std::vector<Value> operands = {x, w, integer(groups)};
    operands.insert(operands.end(), numbers.begin(), numbers.end());
    Value y = convolve(x, w, integer(groups), numbers);
    Value own = runtime::testing::call("convolve", operands, 1);
    ASSERT_EQ(runtime::testing::sizeOf(own), runtime::testing::sizeOf(y));
    ASSERT_EQ(cellsOf(own), cellsOf(y)) << "round " << round; // whole numbers: sums are exact
    ASSERT_EQ(cellsOf(runtime::testing::call("convolve", operands, 3)), cellsOf(y));
    for (const char *kind : {"max", "sum"}) {
      std::vector<Value> pooled = {x, kind};
      pooled.insert(pooled.end(), numbers.begin(), numbers.end());
      ASSERT_EQ(cellsOf(runtime::testing::call("pool", pooled, 2)), cellsOf(pool(x, kind, numbers)))
          << "round " << round;
    }
    std::vector<Value> all = {x, 9.0};
    all.insert(all.end(), numbers.begin(), numbers.end());
    ASSERT_EQ(cellsOf(runtime::testing::call("windows", all, 2)),
              cellsOf(windows(x, 9.0, numbers)));
  }
}

TEST(WindowMeaning, nativesPoolCellsOfEveryType) {
  double next = -3;
  Value x = arrayOf({1, 5}, [&] { return ++next; }); // -2 to 2
  std::vector<Value> numbers = one({3, 3, 1, 1, 1, 1});
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
                           ElementType::I8, ElementType::I64})
    for (const char *kind : {"max", "sum"}) {
      std::vector<Value> operands = {Array::withElementType(x.array(), type), kind};
      operands.insert(operands.end(), numbers.begin(), numbers.end());
      Value y = runtime::testing::call("pool", operands);
      EXPECT_EQ(cellsOf(Array::withElementType(y.array(), ElementType::F64)),
                cellsOf(pool(x, kind, numbers)))
          << nameOf(type) << " " << kind;
    }
}

TEST(WindowMeaning, bothRefuseWhatDoesNotFit) {
  auto cell = [] { return 1.0; };
  Value x = arrayOf({1, 4, 5}, cell), w = arrayOf({2, 3, 2}, cell);
  auto expectError = [&](std::vector<Value> numbers, const Value &image,
                         const std::string &message) {
    std::vector<Value> operands = {image, w, integer(2)};
    operands.insert(operands.end(), numbers.begin(), numbers.end());
    EXPECT_EQ(errorOf([&] { convolve(image, w, integer(2), numbers); }), message);
    EXPECT_EQ(errorOf([&] { runtime::testing::call("convolve", operands); }), message);
  };
  expectError(
      one({3, 2, 1, 1, 1, 1}), x,
      "convolve: the 4 channels of the image and weights of 2x3x2 are not those of 2 groups");
  expectError(one({3, 3, 1, 1, 1, 1}), x,
              "convolve: an image of 1x4x5 and weights of 2x3x2 don't go together");
  expectError(one({3, 2, 1, int64_t{1} << 40, 1, 1}), x,
              "convolve: no array has room for windows 1099511627776 cells apart");
  expectError(one({3, 2, 1, 1, 1, 0}), x, "convolve: the distance between cells is less than 1");
  expectError(one({1 << 20, 1 << 10, 1, 1, 1, 1}), x,
              "convolve: 1048576 windows of 1024 places are too many");
  EXPECT_EQ(errorOf([&] { pool(x, "median", one({3, 2, 1, 1, 1, 1})); }),
            "pool: there is no kind 'median', but max and sum");
}

} // namespace
