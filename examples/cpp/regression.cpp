// A ridge regression by gradient descent, with lazy arrays: each step is one fused program, which is compiled once.
#include <tokamak.hpp>

#include <cmath>
#include <cstdio>

int main() {
  const int64_t rows = 1000, columns = 3;
  const double truth[] = {1.5, -2.0, 0.5};
  std::vector<double> features, targets;
  for (int64_t i = 0; i < rows; ++i) {
    double target = 0;
    for (int64_t j = 0; j < columns; ++j) {
      features.push_back(std::sin(static_cast<double>(i * (j + 1))));
      target += truth[j] * features.back();
    }
    targets.push_back(target);
  }
  try {
    tk::Array X = tk::borrow(features.data(), {rows, columns});
    tk::Array y = tk::borrow(targets.data(), {rows});
    tk::Array w = tk::zeros({columns});
    for (int step = 0; step < 100; ++step) {
      tk::Array rest = tk::matmul(X, w) - y;
      w = w - tk::matmul(tk::transpose(X), rest) / static_cast<double>(rows);
      tk::Array loss = tk::mean(rest * rest);
      tk::eval(w, loss);
      if (step % 25 == 0)
        std::printf("step %d: loss %.4f\n", step, loss.item());
    }
    std::vector<double> weights = w.cells<double>();
    std::printf("weights %.2f %.2f %.2f\n", weights[0], weights[1], weights[2]);
    tk::matmul(X, X);
  } catch (const tk::Error &error) {
    std::printf("error: %s\n", error.what());
  }
}
