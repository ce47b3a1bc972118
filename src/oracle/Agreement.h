// Tells whether an engine's value is correct, given the reference's value and its error bounds.
//
//   if (auto difference = disagreement(expected.value, expected.engine, actual))
//     std::cerr << describe(*difference);
#ifndef TOKAMAK_ORACLE_AGREEMENT_H
#define TOKAMAK_ORACLE_AGREEMENT_H

#include "oracle/BoundedInterpreter.h"

#include <optional>
#include <string>

namespace tokamak::oracle {

// The first wrong cell, or another difference such as that of types.
struct Difference {
  std::string expected, actual; // the cells, or descriptions of the values
  int64_t row = 0, column = 0;  // from 1; 0 if not about a cell
  double allowed = 0;           // the error bound of the cell
  int64_t cells = 0;            // the number of wrong cells
};

std::optional<Difference> disagreement(const runtime::Value &expected, const CellErrors &errors,
                                       const runtime::Value &actual);
// The text of a difference:
// "cell [3, 1]: expected 2.5, got 2.25 (may be 1e-15 off); 4 cells are wrong".
std::string describe(const Difference &difference);

} // namespace tokamak::oracle
#endif
