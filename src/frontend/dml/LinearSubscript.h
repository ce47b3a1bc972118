// Subscripts as linear functions of loop indices, and a test whether two subscripts can denote the
// same cell in two different iterations of a loop.
//
//   LinearForm written = LinearForm::of("i"), read = written.plus(LinearForm::of(1), -1);
//   mayMeet(written, read, {"i", {}})     // A[i] and A[i - 1]: they do, in consecutive iterations
//
// A subscript, and its form, as text:
//
//   3 * i + n - 1     constant -1, terms {i: 3, n: 1}
#ifndef TOKAMAK_FRONTEND_DML_LINEARSUBSCRIPT_H
#define TOKAMAK_FRONTEND_DML_LINEARSUBSCRIPT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tokamak::frontend {

/// constant + sum of factor * name. Factors are never 0. Positions are truncated to integers, so
/// only a form that is whole tells which position a subscript with names denotes.
struct LinearForm {
  double constant = 0;
  std::map<std::string, double> terms;

  static LinearForm of(double constant) { return {constant, {}}; }
  static LinearForm of(const std::string &name) { return {0, {{name, 1}}}; }

  bool isConstant() const { return terms.empty(); }
  /// Whether constant and factors are integers that doubles represent exactly.
  bool isWhole() const;
  double factorOf(const std::string &name) const;
  LinearForm plus(const LinearForm &other, double factor) const;
  LinearForm times(double factor) const;
};

/// Bounds of the values of an index, where they are known; first <= last.
struct IndexBounds {
  std::optional<double> first, last;
};

/// The loop nest around a subscript, from the tested loop inwards. A name that is no index here has
/// the same value in all iterations of the tested loop.
struct IndexSpace {
  std::string tested;
  std::map<std::string, IndexBounds> bounds; // of the tested index and of all inner ones
};

/// Whether `a` in one iteration of the tested loop can equal `b` in a different iteration; indices
/// of inner loops vary independently in `a` and `b`. Conservative: true unless equality is ruled
/// out. Both are whole.
bool mayMeet(const LinearForm &a, const LinearForm &b, const IndexSpace &space);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_LINEARSUBSCRIPT_H
