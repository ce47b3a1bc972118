// Whether what a pointer shares may be changed in place.
//
//   if (hasSoleOwner(array))
//     *array += 1;  // nobody sees it, and whoever saw it before is done
#ifndef TOKAMAK_BASE_SOLEOWNER_H
#define TOKAMAK_BASE_SOLEOWNER_H

#include <memory>

namespace tokamak {

// use_count() is a relaxed load: what another thread did before it let go of the object may still
// come after a change that is made here. Taking a reference and dropping it acquires what every
// earlier drop released.
template <typename T> bool hasSoleOwner(const std::shared_ptr<T> &pointer) {
  if (pointer.use_count() != 1)
    return false;
  std::shared_ptr<T> acquired = pointer;
  return true;
}

} // namespace tokamak
#endif
