// Hand-written regressions by Newton's method and conjugate gradients: probit and multinomial.
#include "HandWrittenAlgorithms.h"
#include "HandWrittenMath.h"
#include "HandWrittenRows.h"

using namespace bench;

namespace {

using Doubles = Vector<double>;

constexpr double logRoot2Pi = 0.91893853320467274;

// Four numbers as eight, for the functions on eight.
Doubles eight(Quad<double> v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3); }
Doubles eight(Doubles v) { return v; }
template <typename Group> Group firstOf(Doubles v) {
  if constexpr (sizeof(Group) == sizeof(Doubles))
    return v;
  else
    return __builtin_shufflevector(v, v, 0, 1, 2, 3);
}

// The logarithm of the normal distribution's tail below t. The tail over the density at |t| is a
// polynomial of u over 1 + |t|, as in lib/millsRatio.dml.
Doubles logNormalTail(Doubles t) {
  constexpr double coefficients[] = {
      -1.695299682e-09,      -3.874300208e-09,      1.3723059452e-08,      4.3722073647e-08,
      -4.494916382e-08,      -2.76289442238e-07,    -3.10108361e-09,       1.380587677952e-06,
      1.019489087099e-06,    -6.546928120501e-06,   -8.606187876097e-06,   3.4156106940806e-05,
      5.3266970938315e-05,   -0.000220214824906642, -0.000236701758827123, 0.001741848641757937,
      -0.000715950905283812, -0.01253910360671188,  0.04495912907706981,   -0.08070800967978549,
      0.07169048120143744,   0.03509188023476339,   -0.2423996705218081,   1.1832619145678034};
  Doubles a = t < 0 ? -t : t, u = (a - 4.0) / (a + 4.0), p = a - a + coefficients[0];
#pragma unroll
  for (int i = 1; i < 24; ++i)
    p = p * u + coefficients[i];
  Doubles tail = logarithm(p / (1.0 + a)) - 0.5 * t * t - logRoot2Pi;
  return t < 0 ? tail : logarithm(1.0 - exponential(tail));
}

template <typename Body> double sumOver(int64_t size, Body body) {
  return reduce<1>(size, [&](int64_t begin, int64_t end, double *out) {
    Doubles sum = {};
    for (int64_t i = begin; i < end; i += 8)
      sum += body(i);
    out[0] = total(sum);
  })[0];
}

// Labels are -1 and 1. The same steps as glm_probit in peers/algorithms.py.
template <int columns> struct Probit {
  using Matrix = Rows<double, columns>;
  using Line = typename Matrix::template Vectors<1>;
  using Group = typename Matrix::Group;
  using Numbers = std::vector<double>;

  const Array &X, &s;
  double reg;
  Array eta, along, w;

  Probit(const Array &X, const Array &s, double reg)
      : X(X), s(s), reg(reg), eta(s.size()), along(s.size()), w(s.size()) {}

  double loss(double step) {
    return sumOver(s.size(), [&](int64_t i) {
      Doubles there = load<Doubles>(&eta[i]) + step * load<Doubles>(&along[i]);
      return -logNormalTail(load<Doubles>(&s[i]) * there);
    });
  }

  struct Change {
    Numbers step;
    double slope, norm;
  };

  // One pass makes the scores of all rows, t(X) %*% g and colSums(X^2 * w); further ones solve.
  Change newton(const Numbers &weights, double first) {
    std::vector<Numbers> gradients(threadCount, Numbers(columns)), squares = gradients;
    parallel(s.size(), [&](int part, int64_t begin, int64_t end) {
      Doubles G[Matrix::accumulators] = {}, S[Matrix::accumulators] = {};
      Matrix::groups(X, begin, end, [&](int64_t i, const double *x) {
        Doubles sign = eight(Matrix::group(&s[i])), there = eight(Matrix::group(&eta[i]));
        Doubles t = sign * there;
        Doubles h = exponential(-0.5 * t * t - logRoot2Pi - logNormalTail(t));
        Doubles weight = h * (h + t), g = sign * h;
        if (first == 0)
          g += weight * there;
        Group q = firstOf<Group>(g), factor = firstOf<Group>(weight);
        store(&w[i], factor);
        Matrix::template add<1>(x, {}, &q, G);
        Matrix::addSquares(x, factor, S);
      });
      Matrix::template collect<1>(G, gradients[part].data());
      Matrix::template collect<1>(S, squares[part].data());
    });
    Numbers residual(columns), inverse(columns), direction(columns);
    for (int j = 0; j < columns; ++j) {
      double square = reg;
      residual[j] = -reg * weights[j];
      for (int part = 0; part < threadCount; ++part) {
        residual[j] += gradients[part][j];
        square += squares[part][j];
      }
      inverse[j] = 1 / square;
      direction[j] = inverse[j] * residual[j];
    }
    Change change = {Numbers(columns), 0, dot(residual, direction)};
    double squared = change.norm;
    double precision = first > 0 ? std::min(0.1, std::pow(change.norm / first, 0.25)) : 0.01;
    for (int iteration = 0; iteration < 3 * columns + 20; ++iteration) {
      Numbers product = Matrix::template pass<1>(
          X, Line(direction), [&](int64_t i, Group *q) { q[0] *= Matrix::group(&w[i]); });
      for (int j = 0; j < columns; ++j)
        product[j] += reg * direction[j];
      double length = squared / dot(direction, product), before = squared;
      change.slope += length * squared;
      squared = 0;
      for (int j = 0; j < columns; ++j) {
        change.step[j] += length * direction[j];
        residual[j] -= length * product[j];
        squared += residual[j] * inverse[j] * residual[j];
      }
      for (int j = 0; j < columns; ++j)
        direction[j] = inverse[j] * residual[j] + squared / before * direction[j];
      if (squared <= precision * precision * change.norm)
        break;
    }
    return change;
  }

  void productInto(Array &out, const Numbers &v) {
    Matrix::template products<1>(X, Line(v), [&](int64_t i, Group *q) { store(&out[i], q[0]); });
  }

  double run() {
    double equal = loss(0);
    for (int64_t i = 0; i < s.size(); ++i)
      eta[i] = s[i] * (std::log(3.0) / 1.6);
    Change start = newton(Numbers(columns), 0);
    Numbers weights = start.step;
    productInto(eta, weights);
    std::fill(along.data(), along.data() + along.size(), 0);
    double objective = loss(0) + reg / 2 * dot(weights, weights);
    for (int iteration = 0; iteration < 10; ++iteration) {
      Change change = newton(weights, start.norm);
      productInto(along, change.step);
      double step = 2, there = 0;
      Numbers moved(columns);
      do {
        step /= 2;
        for (int j = 0; j < columns; ++j)
          moved[j] = weights[j] + step * change.step[j];
        there = loss(step) + reg / 2 * dot(moved, moved);
      } while (!(there <= objective - 1e-4 * step * change.slope + 1e-14 * objective));
      parallel(s.size(), [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          eta[i] += step * along[i];
      });
      weights = moved;
      objective = there;
      if (step == 1 && change.slope <= 1e-9 * 2 * (objective + 0.001 * equal))
        break;
    }
    return dot(weights, weights);
  }
};

// Five classes; the scores of the last one are 0. The same steps as multilogreg in
// peers/algorithms.py; probabilities are stored class by class.
template <int columns> struct Multinomial {
  static constexpr int k = 4;
  using Matrix = Rows<double, columns>;
  using Group = typename Matrix::Group;
  using Numbers = std::vector<double>;

  const Array &X, &Y;
  double reg;
  Array P;
  int64_t n = Y.size();

  Multinomial(const Array &X, const Array &Y, double reg) : X(X), Y(Y), reg(reg), P(Y.size() * k) {}

  // Scores, probabilities, the loss and its gradient without the penalty: one pass.
  double probabilities(const Numbers &B, Numbers &gradient) {
    std::vector<Partial> losses(threadCount);
    std::vector<Numbers> gradients(threadCount, Numbers(k * columns));
    typename Matrix::template Vectors<k> V(B);
    parallel(n, [&](int part, int64_t begin, int64_t end) {
      Doubles H[k * Matrix::accumulators] = {}, loss = {};
      Matrix::groups(X, begin, end, [&](int64_t i, const double *x) {
        Group q[k];
        typename Matrix::Copy copy;
        Matrix::Base::template products<k>(x, V.cells, q, copy);
        Doubles scores[k], highest = {}, sum, own = {}, label = eight(Matrix::group(&Y[i]));
        for (int c = 0; c < k; ++c) {
          scores[c] = eight(q[c]);
          highest = larger(highest, scores[c]);
          own = label == double(c + 1) ? scores[c] : own;
        }
        sum = exponential(-highest);
        for (int c = 0; c < k; ++c) {
          scores[c] = exponential(scores[c] - highest);
          sum += scores[c];
        }
        Doubles inverse = 1 / sum, one = inverse - inverse + 1.0, none = {};
        for (int c = 0; c < k; ++c) {
          Doubles p = scores[c] * inverse;
          store(&P[c * n + i], firstOf<Group>(p));
          q[c] = firstOf<Group>(p - (label == double(c + 1) ? one : none));
        }
        Doubles term = highest + logarithm(sum) - own;
        for (int row = 0; row < Matrix::rows; ++row)
          losses[part].values[0] += term[row];
        Matrix::template add<k>(x, copy, q, H);
      });
      Matrix::template collect<k>(H, gradients[part].data());
    });
    double loss = 0;
    std::fill(gradient.begin(), gradient.end(), 0);
    for (int part = 0; part < threadCount; ++part) {
      loss += losses[part].values[0];
      for (int j = 0; j < k * columns; ++j)
        gradient[j] += gradients[part][j];
    }
    return loss;
  }

  Numbers hessianProduct(const Numbers &V) {
    return Matrix::template pass<k>(X, typename Matrix::template Vectors<k>(V),
                                    [&](int64_t i, Group *q) {
                                      Group p[k], sum = {};
                                      for (int c = 0; c < k; ++c) {
                                        p[c] = Matrix::group(&P[c * n + i]);
                                        q[c] *= p[c];
                                        sum += q[c];
                                      }
                                      for (int c = 0; c < k; ++c)
                                        q[c] -= p[c] * sum;
                                    });
  }

  double run() {
    constexpr int size = k * columns;
    Numbers B(size), gradient(size);
    double loss = probabilities(B, gradient), first = 0;
    for (int step = 0; step < 10; ++step) {
      Numbers S(size), R(size);
      for (int j = 0; j < size; ++j)
        R[j] = -(gradient[j] + reg * B[j]);
      Numbers V = R;
      double squared = dot(R, R), norm = std::sqrt(squared);
      first = first > 0 ? first : norm;
      if (norm <= 1e-3 * first)
        break;
      for (int inner = 0; inner < 20 && std::sqrt(squared) > 0.1 * norm; ++inner) {
        Numbers HV = hessianProduct(V);
        for (int j = 0; j < size; ++j)
          HV[j] += reg * V[j];
        double length = squared / dot(V, HV), before = squared;
        for (int j = 0; j < size; ++j) {
          S[j] += length * V[j];
          R[j] -= length * HV[j];
        }
        squared = dot(R, R);
        for (int j = 0; j < size; ++j)
          V[j] = R[j] + squared / before * V[j];
      }
      for (int j = 0; j < size; ++j)
        B[j] += S[j];
      loss = probabilities(B, gradient);
    }
    return loss;
  }
};

} // namespace

template <int columns> bool bench::measureRegression(const Task &task) {
  bool probit = task.program == "glm";
  if (!probit && task.program != "multilogreg")
    return false;
  int64_t rows = task.rows();
  Array X(rows * columns), Y(rows);
  fill(X, 7919, 1009);
  for (int64_t i = 0; i < X.size(); ++i)
    X[i] -= 0.5;
  for (int64_t i = 0; i < rows; ++i) {
    double chance = double((i + 1) * (i + 1) % 1000003) / 1000003;
    double features = X[i * columns] + X[i * columns + 1];
    Y[i] = probit ? (features + chance * 2 - 1 > 0 ? 1 : -1)
                  : std::floor((chance * 4 + features + 1) * 5 / 6) + 1;
  }
  measure(task.repetitions(), [&](int r) {
    double reg = 0.01 + 1e-9 * r;
    return probit ? Probit<columns>(X, Y, reg).run() : Multinomial<columns>(X, Y, reg).run();
  });
  return true;
}

template bool bench::measureRegression<10>(const Task &);
template bool bench::measureRegression<100>(const Task &);
