// Whether a value is a right one, given the reference's value and its errors.
//
//   if (std::optional<Difference> difference = disagreement(expected, expected.engine, actual))
//     std::cerr << describe(*difference);
#ifndef TOKAMAK_ORACLE_AGREEMENT_H
#define TOKAMAK_ORACLE_AGREEMENT_H

#include "oracle/BoundedInterpreter.h"

#include <optional>
#include <string>

namespace tokamak::oracle {

// The first cell that is wrong, or what else is.
struct Difference {
  std::string expected, actual; // the cells, or what the values are
  int64_t row = 0, column = 0;  // from 1; 0 where it is not about a cell
  double allowed = 0;           // by how much they might differ
  int64_t cells = 0;            // how many cells are wrong
};

std::optional<Difference> disagreement(const runtime::Value &expected, const CellErrors &errors,
                                       const runtime::Value &actual);
// "cell [3, 1]: expected 2.5, got 2.25 (at most 1e-15 off; 4 cells are wrong)"
std::string describe(const Difference &difference);

} // namespace tokamak::oracle
#endif
