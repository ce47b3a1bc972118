// tokamak.hpp, as programs use it.
#include <tokamak.hpp>

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace {

std::string messageOf(const std::function<void()> &run) {
  try {
    run();
  } catch (const tk::Error &error) {
    return error.what();
  }
  return "";
}

tk::Array counting(const tk::Shape &shape) {
  std::vector<double> cells;
  for (int64_t size = 1, i = 0;
       i < std::accumulate(shape.begin(), shape.end(), size, std::multiplies<>()); ++i)
    cells.push_back(static_cast<double>(i));
  return tk::array(cells, shape);
}

TEST(LazyArrays, ComputeWhenCellsAreAskedFor) {
  std::vector<double> cells = {1, 2, 3, 4, 5, 6};
  tk::Array x = tk::borrow(cells.data(), {2, 3});
  tk::Array y = tk::sqrt(tk::sum(x * x, {1})) + 1.0;
  EXPECT_EQ(y.shape(), tk::Shape{2});
  cells[0] = 2; // nothing has run
  EXPECT_DOUBLE_EQ(y.cells<double>()[0], std::sqrt(17.0) + 1);
  EXPECT_EQ(tk::where(x > 3.0, x, tk::zeros({1})).cells<double>(),
            (std::vector<double>{0, 0, 0, 4, 5, 6}));
  EXPECT_EQ(tk::argmax(x, -1).cells<int64_t>(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(tk::cast<float>(x).data<float>()[5], 6.0F);
  EXPECT_EQ(tk::matmul(x, tk::transpose(x)).shape(), (tk::Shape{2, 2}));
  EXPECT_EQ(tk::concat({x, x}, -1).shape(), (tk::Shape{2, 6}));
}

TEST(LazyArrays, TransposesByPlacesFromTheEnd) {
  tk::Array turned = tk::transpose(counting({2, 3}), {-1, -2});
  EXPECT_EQ(turned.shape(), (tk::Shape{3, 2}));
  EXPECT_EQ(turned.cells<double>(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

TEST(LazyArrays, LongGraphsAreLetGo) {
  tk::Array x = counting({2});
  for (int i = 0; i < 200'000; ++i)
    x = x * 1.0;
}

TEST(LazyArrays, KeepIntegersBeyondDoubles) {
  int64_t large = (int64_t(1) << 53) + 1;
  EXPECT_EQ(tk::full({2}, large).cells<int64_t>()[1], large);
}

TEST(LazyArrays, SayWhatIsWrong) {
  tk::Array x = counting({2, 3});
  EXPECT_EQ(messageOf([&] { tk::sum(x, {0, 0}); }), "a dimension is named twice");
  EXPECT_EQ(messageOf([&] { tk::reshape(x, {-2, -3}); }), "6 cells don't fit shape (-2, -3)");
  EXPECT_EQ(messageOf([&] { x + tk::zeros({4}); }), "shapes (2, 3) and (4) can't be broadcast");
  EXPECT_EQ(messageOf([&] { x + tk::full<int64_t>({2}, 1); }),
            "Add of arrays of two types; convert one of them with tk::cast");
  EXPECT_NE(messageOf([&] { tk::full<int64_t>({2}, 1) + 0.5; }).find("a number is whole"),
            std::string::npos);
  EXPECT_NE(messageOf([&] {
              tk::concat({x, tk::zeros({3, 3}), tk::zeros({1, 2})});
            }).find("concat takes arrays"),
            std::string::npos);
  EXPECT_EQ(messageOf([&] { x.data<float>(); }), "the array has cells of another type");
}

TEST(LazyArrays, AreSharedByThreads) {
  tk::Array x = counting({1000});
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sums.size(); ++i)
    threads.emplace_back([&, i] { sums[i] = tk::sum(x * static_cast<double>(i)).item(); });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < sums.size(); ++i)
    EXPECT_EQ(sums[i], 499'500.0 * static_cast<double>(i));
}

} // namespace
