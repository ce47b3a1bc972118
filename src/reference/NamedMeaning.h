// The reference semantics of operations that are identified by a name and take everything they need
// as operands: those that the runtime executes by a native, whether by tok.native or by an
// operation of their own.
//
//   Meaning *meaning = findMeaning("rev");
//   Value reversed = meaning(operands);
#ifndef TOKAMAK_REFERENCE_NAMEDMEANING_H
#define TOKAMAK_REFERENCE_NAMEDMEANING_H

#include "runtime/values/Value.h"

#include <span>
#include <string_view>

namespace tokamak::reference {

using Meaning = runtime::Value(std::span<const runtime::Value> operands);

// Null if the reference uses the runtime's native.
Meaning *findMeaning(std::string_view name);

} // namespace tokamak::reference
#endif
