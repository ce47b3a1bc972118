#include "runtime/natives/Native.h"

#include "runtime/natives/NativeTables.h"

#include <algorithm>

namespace tokamak::runtime {

static std::vector<Native> sortedTable() {
  std::vector<Native> table;
  table.reserve(128);
  for (auto natives :
       {bindingNatives,       constructionNatives, decompositionNatives,  distinctNatives,
        distributionNatives,  fileNatives,         frameNatives,          groupNatives,
        linearAlgebraNatives, listNatives,         outputNatives,         productNatives,
        programNatives,       randomNatives,       reorganizationNatives, scanNatives,
        selectionNatives,     statisticsNatives,   tableNatives,          tensorNatives}) {
    std::span<const Native> rows = natives();
    table.insert(table.end(), rows.begin(), rows.end());
  }
  std::sort(table.begin(), table.end(),
            [](const Native &a, const Native &b) { return a.name < b.name; });
  return table;
}

const std::vector<Native> &allNatives() {
  static const std::vector<Native> table = sortedTable();
  return table;
}

const Native *findNative(std::string_view name) {
  const std::vector<Native> &table = allNatives();
  auto found = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Native &native, std::string_view name) { return native.name < name; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

} // namespace tokamak::runtime
