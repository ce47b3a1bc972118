// The meanings of operations that are known by a name and take all they need as operands: those
// that the runtime executes by a native, in tok.native and in operations of their own.
//
//   Meaning *meaning = findMeaning("rev");
//   Value reversed = meaning(operands);
#ifndef TOKAMAK_REFERENCE_NAMEDMEANING_H
#define TOKAMAK_REFERENCE_NAMEDMEANING_H

#include "runtime/Value.h"

#include <span>
#include <string_view>

namespace tokamak::reference {

using Meaning = runtime::Value(std::span<const runtime::Value> operands);

// Null where the reference shares the runtime's native.
Meaning *findMeaning(std::string_view name);

} // namespace tokamak::reference
#endif
