// Whether the object of a shared_ptr may be changed in place, because no other pointer shares it.
//
//   if (hasSoleOwner(number))
//     *number += 1;   // no other owner exists, and all accesses of former owners are finished
#ifndef TOKAMAK_BASE_SOLEOWNER_H
#define TOKAMAK_BASE_SOLEOWNER_H

#include <memory>

namespace tokamak {

// use_count() is a relaxed load: accesses that another thread made before it dropped its reference
// might still be ordered after our change. Copying and dropping a reference acquires what every
// earlier drop released.
template <typename T> bool hasSoleOwner(const std::shared_ptr<T> &pointer) {
  if (pointer.use_count() != 1)
    return false;
  std::shared_ptr<T> acquired = pointer;
  return true;
}

} // namespace tokamak
#endif
