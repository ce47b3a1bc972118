#include "reference/DefiningEquations.h"

#include "base/Error.h"
#include "runtime/values/Array.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::reference;
using runtime::Value;

namespace {

using Vector = std::vector<double>;

// A dense matrix of doubles.
class Matrix {
public:
  explicit Matrix(const Value &value)
      : array_(runtime::Array::withElementType(runtime::Array::asDense(value.array()),
                                               ElementType::F64)) {}
  int64_t rows() const { return array_->rows(); }
  int64_t columns() const { return array_->columns(); }
  double at(int64_t i, int64_t j) const { return array_->data()[i * columns() + j]; }

  Vector times(const Vector &x) const {
    Vector y(rows());
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t j = 0; j < columns(); ++j)
        y[i] += at(i, j) * x[j];
    return y;
  }
  Vector transposedTimes(const Vector &x) const {
    Vector y(columns());
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t j = 0; j < columns(); ++j)
        y[j] += at(i, j) * x[i];
    return y;
  }
  Vector column(int64_t j) const {
    Vector y;
    for (int64_t i = 0; i < rows(); ++i)
      y.push_back(at(i, j));
    return y;
  }
  double norm() const {
    double squares = 0;
    for (int64_t i = 0; i < array_->cells(); ++i)
      squares += array_->data()[i] * array_->data()[i];
    return std::sqrt(squares);
  }
  bool isZeroWhere(auto condition) const {
    for (int64_t i = 0; i < rows(); ++i)
      for (int64_t j = 0; j < columns(); ++j)
        if (condition(i, j) && at(i, j) != 0)
          return false;
    return true;
  }
  bool isUpperTriangular() const {
    return isZeroWhere([](int64_t i, int64_t j) { return i > j; });
  }
  bool isLowerTriangular() const {
    return isZeroWhere([](int64_t i, int64_t j) { return i < j; });
  }

private:
  runtime::ArrayReference array_;
};

double norm(const Vector &x) {
  double squares = 0;
  for (double cell : x)
    squares += cell * cell;
  return std::sqrt(squares);
}

// A vector without structure, of cells between 0.5 and 1.5 in absolute value.
Vector probe(int64_t size) {
  Vector x;
  for (int64_t i = 0; i < size; ++i)
    x.push_back((i % 3 == 1 ? -1 : 1) * (0.5 + static_cast<double>(i * 37 % 101) / 100));
  return x;
}

class Check {
public:
  Check(std::span<const Value> operands, std::span<const Value> results) {
    for (const Value &operand : operands)
      in_.emplace_back(operand);
    for (const Value &result : results)
      out_.emplace_back(result);
  }

  bool isFinite() const {
    for (const auto *matrices : {&in_, &out_})
      for (const Matrix &matrix : *matrices)
        if (!std::isfinite(matrix.norm()))
          return false;
    return true;
  }

  std::optional<std::string> run(NativeKind native) {
    const Matrix &a = in_[0], &first = out_[0];
    size_ = std::max({a.rows(), a.columns(), int64_t{1}});
    Vector x = probe(a.columns());
    switch (native) {
    case NativeKind::Solve:
      return solve();
    case NativeKind::Inv:
      return near(a.times(first.times(x)), x, a.norm() * first.norm() * norm(x), "A %*% X = I");
    case NativeKind::Cholesky:
      return first.isLowerTriangular() ? near(first.times(first.transposedTimes(x)), a.times(x),
                                              a.norm() * norm(x), "L %*% t(L) = A")
                                       : std::optional<std::string>("L is not lower triangular");
    case NativeKind::Lu:
      return lu();
    case NativeKind::Qr:
      return qr();
    case NativeKind::Svd:
      return svd();
    case NativeKind::Eigen:
      return eigen();
    default:
      internalError("no equation defines the result of " + std::string(rowOf(native).name));
    }
  }

private:
  std::optional<std::string> near(const Vector &is, const Vector &should, double scale,
                                  std::string_view equation) const {
    constexpr double epsilon = 0x1p-53, growth = 1000;
    Vector difference = is;
    for (size_t i = 0; i < is.size(); ++i)
      difference[i] -= should[i];
    double off = norm(difference), bound = growth * static_cast<double>(size_) * epsilon * scale;
    if (off <= bound)
      return std::nullopt;
    return fmt::format("{} is off by {:.3g}, {:.3g} times what it may be", equation, off,
                       off / bound);
  }

  std::optional<std::string> solve() const {
    const Matrix &a = in_[0], &b = in_[1], &x = out_[0];
    Vector y = probe(b.columns()), solution = x.times(y), wanted = b.times(y);
    double scale = a.norm() * x.norm() * norm(y) + b.norm() * norm(y);
    if (a.rows() == a.columns())
      return near(a.times(solution), wanted, scale, "A %*% x = b");
    return near(a.transposedTimes(a.times(solution)), a.transposedTimes(wanted), a.norm() * scale,
                "t(A) %*% A %*% x = t(A) %*% b");
  }

  std::optional<std::string> lu() const {
    const Matrix &a = in_[0], &p = out_[0], &l = out_[1], &u = out_[2];
    if (!l.isLowerTriangular() || !u.isUpperTriangular())
      return "L or U is not triangular";
    for (int64_t i = 0; i < l.rows(); ++i)
      if (l.at(i, i) != 1)
        return "L has no ones on its diagonal";
    Vector x = probe(a.columns());
    return near(p.times(a.times(x)), l.times(u.times(x)), l.norm() * u.norm() * norm(x),
                "P %*% A = L %*% U");
  }

  std::optional<std::string> qr() const {
    const Matrix &a = in_[0], &h = out_[0], &r = out_[1];
    if (!r.isUpperTriangular())
      return "R is not upper triangular";
    Vector x = probe(a.columns()), y = a.times(x);
    for (int64_t j = 0; j < h.columns(); ++j) {
      Vector reflector = h.column(j);
      if (reflector[j] == 0)
        continue;
      double along = 0;
      for (int64_t i = 0; i < h.rows(); ++i)
        along += reflector[i] * y[i];
      for (int64_t i = 0; i < h.rows(); ++i)
        y[i] -= reflector[i] * along / reflector[j];
    }
    return near(y, r.times(x), a.norm() * norm(x), "H(n) ... H(1) %*% A = R");
  }

  std::optional<std::string> svd() const {
    const Matrix &a = in_[0], &u = out_[0], &s = out_[1], &v = out_[2];
    Vector x = probe(a.columns()), y = probe(s.columns());
    for (int64_t i = 0; i < s.rows(); ++i)
      if (s.at(i, i) < 0 || (i > 0 && s.at(i, i) > s.at(i - 1, i - 1)))
        return "the singular values don't descend to 0";
    for (const Matrix *factor : {&u, &v})
      if (auto wrong = near(factor->transposedTimes(factor->times(y)), y, norm(y),
                            factor == &u ? "t(U) %*% U = I" : "t(V) %*% V = I"))
        return wrong;
    return near(u.times(s.times(v.transposedTimes(x))), a.times(x), a.norm() * norm(x),
                "U %*% S %*% t(V) = A");
  }

  // A pair of complex eigenvalues a + ib, of which the real part is given twice, has the columns v and
  // w with A v = a v - b w and A w = b v + a w.
  std::optional<std::string> eigen() const {
    const Matrix &a = in_[0], &values = out_[0], &vectors = out_[1];
    for (int64_t j = 0; j < a.columns(); ++j) {
      double value = values.at(j, 0), scale = 2 * a.norm();
      Vector v = vectors.column(j), rest = minus(a.times(v), v, value);
      if (!near(rest, Vector(v.size()), scale, ""))
        continue;
      if (j + 1 == a.columns() || values.at(j + 1, 0) != value)
        return near(rest, Vector(v.size()), scale, "A %*% V = V %*% diag(values)");
      Vector w = vectors.column(++j), other = minus(a.times(w), w, value);
      double b = -dot(rest, w) / dot(w, w);
      Vector first = minus(rest, w, -b), second = minus(other, v, b);
      first.insert(first.end(), second.begin(), second.end());
      if (auto wrong = near(first, Vector(first.size()), scale * (1 + norm(w) + norm(v)),
                            "A %*% V = V %*% diag(values)"))
        return wrong;
    }
    return std::nullopt;
  }

  static double dot(const Vector &x, const Vector &y) {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += x[i] * y[i];
    return sum;
  }
  static Vector minus(Vector x, const Vector &y, double factor) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] -= factor * y[i];
    return x;
  }

  std::vector<Matrix> in_, out_;
  int64_t size_ = 1;
};

} // namespace

std::optional<std::string> reference::violationOf(NativeKind native,
                                                  std::span<const Value> operands,
                                                  std::span<const Value> results) {
  if (rowOf(native).meaning != NativeMeaning::Equation)
    return std::nullopt;
  for (const Value &operand : operands)
    if (!operand.isArray() || operand.array()->cells() == 0)
      return std::nullopt;
  Check check(operands, results);
  return check.isFinite() ? check.run(native) : std::nullopt;
}
