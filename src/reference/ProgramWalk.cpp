#include "reference/ProgramWalk.h"

#include "llvm/Support/thread.h"

#include <exception>
#include <optional>

namespace tokamak::reference {

// The walk recurses where the program calls or nests blocks; this is enough even where each of the
// deepest calls is nested in many blocks. Only what is used takes memory.
static constexpr unsigned stackBytes = 1u << 29;

void runOnDeepStack(llvm::function_ref<void()> action) {
  std::exception_ptr failure;
  llvm::thread thread(std::optional<unsigned>(stackBytes), [&] {
    try {
      action();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

} // namespace tokamak::reference
