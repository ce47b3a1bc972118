// The natives of each source file; Native.cpp joins them into one table.
//
//   for (const Native &native : outputNatives())
//     std::cout << native.name;                   // print, toString, ...
#ifndef TOKAMAK_RUNTIME_NATIVES_NATIVETABLES_H
#define TOKAMAK_RUNTIME_NATIVES_NATIVETABLES_H

#include "runtime/natives/Native.h"

namespace tokamak::runtime {

std::span<const Native> bindingNatives();
std::span<const Native> constructionNatives();
std::span<const Native> decompositionNatives();
std::span<const Native> distinctNatives();
std::span<const Native> distributionNatives();
std::span<const Native> fileNatives();
std::span<const Native> frameNatives();
std::span<const Native> groupNatives();
std::span<const Native> linearAlgebraNatives();
std::span<const Native> listNatives();
std::span<const Native> outputNatives();
std::span<const Native> productNatives();
std::span<const Native> programNatives();
std::span<const Native> randomNatives();
std::span<const Native> reorganizationNatives();
std::span<const Native> scanNatives();
std::span<const Native> selectionNatives();
std::span<const Native> statisticsNatives();
std::span<const Native> tableNatives();
std::span<const Native> tensorNatives();

} // namespace tokamak::runtime
#endif
