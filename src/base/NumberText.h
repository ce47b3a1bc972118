// Doubles as DML prints them.
//
//   textOf(1e-5) == "1.0E-5"
#ifndef TOKAMAK_BASE_NUMBERTEXT_H
#define TOKAMAK_BASE_NUMBERTEXT_H

#include <string>

namespace tokamak {

// The shortest text that parses to the same number, in the format of Java's Double.toString: "1.0",
// "1.0E-5", "1.2345678E7", "NaN", "-Infinity".
std::string textOf(double value);

} // namespace tokamak
#endif
