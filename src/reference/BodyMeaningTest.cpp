// The bodies of docs/plan-ir.md beside hand-written loops, and what is said of wrong operands.
#include "reference/BodyMeaning.h"

#include "base/Error.h"
#include "ir/plan/testing/DocumentedBodies.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace tokamak;
using Cells = reference::CellArray;

namespace {

class DocumentedBodies : public plan::DocumentedBodies {
protected:
  Cells random(std::vector<int64_t> sizes, double low = -1, double high = 1) {
    Cells result{sizes, {}};
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    std::uniform_real_distribution<double> distribution(low, high);
    for (int64_t i = 0; i < count; ++i)
      result.cells.push_back(distribution(generator));
    return result;
  }

  // The only result of the function's operator.
  Cells run(StringRef name, const std::vector<Cells> &arrays,
            const std::vector<double> &scalars = {}) {
    std::vector<Cells> operands = arrays;
    for (double scalar : scalars)
      operands.push_back({{}, {scalar}});
    return meaningOf(operatorOf(name), operands)[0];
  }

  static void expectNear(const Cells &result, const std::vector<double> &expected) {
    ASSERT_EQ(result.cells.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(result.cells[i], expected[i], 1e-12) << i;
  }

  std::mt19937_64 generator{1};
};

double cell(const Cells &array, std::initializer_list<int64_t> place) {
  int64_t index = 0;
  for (auto [size, at] : llvm::zip(array.sizes, place))
    index = index * size + at;
  return array.cells[index];
}

TEST_F(DocumentedBodies, OfMatrices) {
  Cells x = random({5, 4}), y = random({5, 4}), v = random({4, 1}), w = random({5, 1}),
        q = random({5, 10});
  std::vector<double> sum(1), chain(4), softmax(20), product(40), mean(20), both;
  for (int64_t i = 0; i < 5; ++i) {
    double inner = 0, largest = -INFINITY, total = 0;
    for (int64_t j = 0; j < 4; ++j) {
      sum[0] += cell(x, {i, j}) * cell(y, {i, j});
      inner += cell(x, {i, j}) * v.cells[j];
      largest = std::max(largest, cell(x, {i, j}));
    }
    for (int64_t j = 0; j < 4; ++j)
      total += softmax[i * 4 + j] = std::exp(cell(x, {i, j}) - largest);
    for (int64_t j = 0; j < 4; ++j) {
      chain[j] += cell(x, {i, j}) * w.cells[i] * inner;
      softmax[i * 4 + j] /= total;
      for (int64_t k = 0; k < 10; ++k)
        product[j * 10 + k] += cell(x, {i, j}) * cell(q, {i, k});
      double above = 0;
      for (int64_t row = 0; row <= i; ++row)
        above += cell(x, {row, j});
      mean[i * 4 + j] = above / static_cast<double>(i + 1);
    }
    for (int64_t j = 0; j < 4; ++j)
      both.push_back(cell(x, {i, j}));
    for (int64_t k = 0; k < 10; ++k)
      both.push_back(std::exp(cell(q, {i, k})));
  }
  expectNear(run("sum_of_product", {x, y}), sum);
  expectNear(run("chain", {x, v, w}), chain);
  expectNear(run("softmax", {x}), softmax);
  expectNear(run("transposed_product", {x, q}), product);
  expectNear(run("running_mean", {x}), mean);
  expectNear(run("cbind", {x, q}), both);
}

TEST_F(DocumentedBodies, Sampled) {
  Cells s = random({6, 7}), u = random({6, 10}, 0, 1), v = random({7, 10}, 0, 1);
  std::vector<double> expected(1);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 7; ++j) {
      double inner = 0;
      for (int64_t k = 0; k < 10; ++k)
        inner += cell(u, {i, k}) * cell(v, {j, k});
      expected[0] += cell(s, {i, j}) * std::log(inner + 1e-15);
    }
  expectNear(run("sampled", {s, u, v}), expected);
}

TEST_F(DocumentedBodies, BatchedProduct) {
  Cells a = random({3, 4, 5}), b = random({3, 5, 6}), c = random({1, 6});
  std::vector<double> expected;
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        double inner = 0;
        for (int64_t k = 0; k < 5; ++k)
          inner += cell(a, {n, i, k}) * cell(b, {n, k, j});
        expected.push_back(std::max(inner + c.cells[j], 0.0));
      }
  expectNear(run("batched_product", {a, b, c}), expected);
}

TEST_F(DocumentedBodies, Convolution) {
  Cells image = random({2, 5, 4, 64}), kernel = random({3, 3, 64, 32}), bias = random({1, 32});
  std::vector<double> expected;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 4; ++x)
        for (int64_t o = 0; o < 32; ++o) {
          double sum = 0;
          for (int64_t dy = -1; dy <= 1; ++dy)
            for (int64_t dx = -1; dx <= 1; ++dx)
              if (y + dy >= 0 && y + dy < 5 && x + dx >= 0 && x + dx < 4)
                for (int64_t c = 0; c < 64; ++c)
                  sum += cell(image, {n, y + dy, x + dx, c}) * cell(kernel, {dy + 1, dx + 1, c, o});
          expected.push_back(std::max(sum + bias.cells[o], 0.0));
        }
  expectNear(run("convolution", {image, kernel, bias}), expected);
}

TEST_F(DocumentedBodies, Attention) {
  Cells q = random({2, 2, 3, 64}), k = random({2, 2, 5, 64}), v = random({2, 2, 5, 64});
  std::vector<double> expected;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < 3; ++i) {
        std::vector<double> weights(5);
        double largest = -INFINITY, total = 0;
        for (int64_t j = 0; j < 5; ++j) {
          for (int64_t d = 0; d < 64; ++d)
            weights[j] += cell(q, {b, h, i, d}) * cell(k, {b, h, j, d});
          largest = std::max(largest, weights[j] /= 8);
        }
        for (double &weight : weights)
          total += weight = std::exp(weight - largest);
        for (int64_t d = 0; d < 64; ++d) {
          double sum = 0;
          for (int64_t j = 0; j < 5; ++j)
            sum += weights[j] / total * cell(v, {b, h, j, d});
          expected.push_back(sum);
        }
      }
  expectNear(run("attention", {q, k, v}, {8}), expected);
}

} // namespace
