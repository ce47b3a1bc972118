// Subscripts as linear functions of loop indices, and whether two of them can name the same cell in
// two iterations of a loop.
//
//   3 * i + n - 1     constant -1, terms {i: 3, n: 1}
#ifndef TOKAMAK_FRONTEND_DML_LINEARSUBSCRIPT_H
#define TOKAMAK_FRONTEND_DML_LINEARSUBSCRIPT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tokamak::frontend {

/// constant + sum of factor * name. Factors are never 0.
struct LinearForm {
  double constant = 0;
  std::map<std::string, double> terms;

  static LinearForm of(double constant) { return {constant, {}}; }
  static LinearForm of(const std::string &name) { return {0, {{name, 1}}}; }

  bool isConstant() const { return terms.empty(); }
  double factorOf(const std::string &name) const;
  LinearForm plus(const LinearForm &other, double factor) const;
  LinearForm times(double factor) const;
};

/// The values an index takes, where they are known; first <= last.
struct IndexBounds {
  std::optional<double> first, last;
};

/// The loops around a subscript from the tested one inwards. Other names stand for the same value
/// in all iterations.
struct IndexSpace {
  std::string tested;
  std::map<std::string, IndexBounds> bounds; // of the tested index and of all inner ones
};

/// Whether `a` in one iteration of the tested loop and `b` in a different one can be equal. True
/// where that can't be excluded; inner indices are free in both.
bool mayMeet(const LinearForm &a, const LinearForm &b, const IndexSpace &space);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_LINEARSUBSCRIPT_H
