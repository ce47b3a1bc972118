// tokamak.hpp, as programs use it.
#include <tokamak.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace {

// Programs stay when a process ends; a sanitizer would find the threads that compiled them.
class FreedPrograms : public ::testing::Environment {
  void TearDown() override { tk::internal::Evaluations::ofAll().programs.clear(); }
};
[[maybe_unused]] const auto *const freedPrograms =
    ::testing::AddGlobalTestEnvironment(new FreedPrograms);

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

TEST(LazyArrays, KeepWhatOthersHave) {
  tk::Array x = counting({100});
  tk::Array shared = tk::exp(x / 100.0);
  EXPECT_NEAR(tk::sum(shared).item(), 171.0, 1);
  EXPECT_TRUE(shared.node()->value);

  auto both = [&] {
    tk::Array distances = x - tk::mean(x);
    return std::pair(tk::max(distances), tk::min(distances));
  };
  auto [greatest, least] = both(); // nobody has the distances but the two graphs
  EXPECT_DOUBLE_EQ(greatest.item(), 49.5);
  EXPECT_TRUE(least.node()->inputs[0]->value);
  EXPECT_DOUBLE_EQ(least.item(), -49.5);

  tk::Array large = counting({100'000}) * 2.0; // as fast computed again as read
  EXPECT_DOUBLE_EQ(tk::max(large).item(), 199'998.0);
  EXPECT_FALSE(large.node()->value);
  tk::Array once = tk::sum(counting({4}) + 1.0);
  tk::eval(once, once);
  EXPECT_DOUBLE_EQ(once.item(), 10.0);
}

TEST(LazyArrays, ThreadsComputeSharedNodesOnce) {
  tk::Array x = counting({300, 4});
  for (int round = 0; round < 20; ++round) {
    tk::Array shared = tk::matmul(tk::transpose(x), x) + static_cast<double>(round % 2);
    std::vector<double> sums(4);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < sums.size(); ++i)
      threads.emplace_back(
          [&, i] { sums[i] = tk::sum(shared * static_cast<double>(i + 1)).item(); });
    for (std::thread &thread : threads)
      thread.join();
    for (size_t i = 0; i < sums.size(); ++i)
      EXPECT_EQ(sums[i], sums[0] * static_cast<double>(i + 1));
    EXPECT_TRUE(shared.node()->value);
  }
}

TEST(LazyArrays, ThreadsRunAtTheSameTime) {
  auto total = [](const tk::Array &x) { return tk::sum(tk::matmul(x, x)); };
  tk::Array large = tk::array(std::vector<double>(1'000'000, 1.0), {1000, 1000});
  tk::Array small = tk::array(std::vector<double>(4, 1.0), {2, 2});
  EXPECT_EQ(total(small).item(), 8.0); // compiled
  std::atomic<bool> isFinished = false;
  std::atomic<int> others = 0;
  std::thread second([&] {
    while (!isFinished) {
      total(small).item();
      ++others;
    }
  });
  tk::Array product = large;
  for (int i = 0; i < 6; ++i)
    product = tk::matmul(product, large) / 1000.0;
  EXPECT_NEAR(tk::sum(product).item(), 1e6, 1);
  isFinished = true;
  second.join();
  EXPECT_GT(others, 10); // one evaluation at a time leaves only those before the other one begins
}

} // namespace
