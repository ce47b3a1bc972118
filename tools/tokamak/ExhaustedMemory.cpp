#include "tokamak/ExhaustedMemory.h"

#include "tokamak/Commands.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <unistd.h>

namespace tokamak {
namespace {

std::atomic<bool> hasBegun = false;

[[noreturn]] void endProcess() {
  std::cout.flush();
  std::cerr << "tokamak: error: out of memory: the system refuses more than it has given\n";
  _exit(hasBegun ? RunFailed : Rejected);
}

void onTerminate() {
  try {
    if (std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    endProcess();
  } catch (...) {
    // Told by the handler of SIGABRT.
  }
  std::abort();
}

} // namespace

void endWhereMemoryIsRefused() {
  std::set_terminate(onTerminate);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { throw std::bad_alloc(); });
}

void programBegins() { hasBegun = true; }

} // namespace tokamak
