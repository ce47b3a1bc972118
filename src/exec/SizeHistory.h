// Which sizes of a block's inputs have changed from one of its plans to the next, and which have been equal each
// time. A plan for sizes that keep changing knows of them only that: it serves all of them.
//
//   SizeHistory history;
//   history.add(inputs);                       // 1x3x48x320 and the integer 320, ...
//   history.add(otherInputs);                  // ... 1x3x48x640 and 640
//   history.varies(3)                          // the fourth size of all; 0 to 2 don't
//   history.groupOf(3) == history.groupOf(4)   // it was equal to the integer
//
// Sizes are counted through all inputs: the dimensions of each array, and each integer.
#ifndef TOKAMAK_EXEC_SIZEHISTORY_H
#define TOKAMAK_EXEC_SIZEHISTORY_H

#include "base/Size.h"
#include "runtime/values/Value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tokamak::exec {

class SizeHistory {
public:
  // What a plan is made for.
  void add(std::span<const runtime::Value> inputs);
  // All that was added is going to change.
  void expectChanges();
  // Before anything is added: what will be. Constants are not going to change, and those that are equal will be.
  void expect(std::span<const Size> sizes);
  bool hasChanges() const;
  bool varies(size_t place) const { return sizes_[place].varies; }
  // Whether the size was 0 or 1 once.
  bool hasBeenSmall(size_t place) const { return sizes_[place].hasBeenSmall; }
  // Equal for sizes that were equal in all that was added.
  size_t groupOf(size_t place) const { return sizes_[place].group; }

private:
  struct Known {
    std::optional<int64_t> last;
    size_t group = 0;
    bool varies = false, hasBeenSmall = false;
  };
  std::vector<Known> sizes_;
};

} // namespace tokamak::exec
#endif
