// Parses a command line argument as a literal: boolean, integer, double or string.
//
//   parseArgumentValue("TRUE")     // bool
//   parseArgumentValue("10")       // int64_t
//   parseArgumentValue("1e-3")     // double
//   parseArgumentValue("'a b'")    // std::string: a b
#ifndef TOKAMAK_FRONTEND_DML_ARGUMENTVALUE_H
#define TOKAMAK_FRONTEND_DML_ARGUMENTVALUE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <variant>

namespace tokamak::frontend {

using ArgumentValue = std::variant<bool, int64_t, double, std::string>;

/// Doubles may be written as in DML or Java: NaN, Inf, Infinity, 1d. Any other text is a string:
/// surrounding quotes are removed and escapes are replaced.
ArgumentValue parseArgumentValue(llvm::StringRef text);

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_ARGUMENTVALUE_H
