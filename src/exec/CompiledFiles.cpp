#include "exec/CompiledFiles.h"

using namespace tokamak;
using namespace tokamak::exec;

static std::string keyOf(std::string_view kind, std::string_view key) {
  return compilerVersion() + std::string(kind) + "\n" + std::string(key);
}

const CacheFolder &CompiledFiles::folder() {
  std::call_once(opened_, [&] { folder_.emplace(compilerVersion().empty() ? "" : path_); });
  return *folder_;
}

std::optional<std::string> CompiledFiles::find(std::string_view kind, std::string_view key) {
  return folder().find(keyOf(kind, key));
}

void CompiledFiles::keep(std::string_view kind, std::string_view key, std::string_view bytes) {
  folder().keep(keyOf(kind, key), bytes);
}
