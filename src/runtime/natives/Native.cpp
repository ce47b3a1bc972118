#include "runtime/natives/Native.h"

namespace tokamak::runtime {

const Native *findNative(std::string_view name) {
  static const Native natives[] = {
#define TOKAMAK_NATIVE(Name, ...) {rowOf(NativeKind::Name), run##Name},
#include "base/Natives.def"
  };
  const NativeRow *row = findNativeRow(name);
  return row ? &natives[static_cast<size_t>(row->kind)] : nullptr;
}

} // namespace tokamak::runtime
