// What is known of seq(from, to, by) where it counts whole numbers, one after the other: then its length is
// a size, and doubles are exact.
//
//   if (std::optional<WholeSequence> sequence = wholeSequence(from, to, by))
//     Size rows = sequence->length;
#ifndef TOKAMAK_IR_TOK_WHOLESEQUENCE_H
#define TOKAMAK_IR_TOK_WHOLESEQUENCE_H

#include "ir/tok/Facts.h"

#include <optional>

namespace tokamak::tok {

struct WholeSequence {
  Size length;
  bool isFalling;
};

// nullopt if from and to are no numbers or sizes, or which of them is larger is not proved, or the step is
// another one than 1 or -1.
std::optional<WholeSequence> wholeSequence(const Facts &from, const Facts &to, const Facts &by);

} // namespace tokamak::tok
#endif
