// The reference semantics of operations that are identified by a name and take everything they need
// as operands: those that the runtime executes by a native, whether by tok.native or by an
// operation of their own.
//
//   Meaning *meaning = findMeaning(NativeKind::Rev);
//   Value reversed = meaning(operands);
#ifndef TOKAMAK_REFERENCE_NAMEDMEANING_H
#define TOKAMAK_REFERENCE_NAMEDMEANING_H

#include "base/Natives.h"
#include "runtime/values/Value.h"

#include <span>

namespace tokamak::reference {

using Meaning = runtime::Value(std::span<const runtime::Value> operands);

// Null if the reference uses the runtime's native.
Meaning *findMeaning(NativeKind kind);

} // namespace tokamak::reference
#endif
