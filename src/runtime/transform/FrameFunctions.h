// Functions of whole frames that `map` calls by name instead of a lambda expression, as scripts of SystemDS do:
//
//   callFrameFunction(frame, "UtilFunctions.syntacticalPatternDiscovery(0.8,NA)");
#ifndef TOKAMAK_RUNTIME_TRANSFORM_FRAMEFUNCTIONS_H
#define TOKAMAK_RUNTIME_TRANSFORM_FRAMEFUNCTIONS_H

#include "runtime/values/Frame.h"

namespace tokamak::runtime {

// Nothing if `text` doesn't begin with the name of such a function. Throws Error for wrong arguments:
//   UtilFunctions.syntacticalPatternDiscovery(threshold, replacement)
//     replaces the texts of each column that are off the pattern of most (TextPatterns.h)
//   UtilFunctions.exponentialMovingAverageImputation(tries;mode;period;level;trend;season)
//     smooths each column (ExponentialSmoothing.h); mode: single, double, triple. Weights that are NaN are drawn, so
//     many times, always the same; those with the least error are taken.
std::optional<FramePointer> callFrameFunction(const Frame &frame, std::string_view text);

} // namespace tokamak::runtime
#endif
