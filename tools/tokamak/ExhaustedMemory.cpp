#include "tokamak/ExhaustedMemory.h"

#include "base/NeedsMemory.h"
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

// Memory released for printing the error message.
std::atomic<char *> reserve = nullptr;
constexpr size_t reserveBytes = size_t{64} << 10;

[[noreturn]] void endProcess() {
  delete[] reserve.exchange(nullptr);
  std::cout.flush();
  const SourcePlace *place = NeedsMemory::place();
  if (place && place->isKnown())
    std::cerr << place->file << ':' << place->line << ':' << place->column << ": ";
  else
    std::cerr << (place ? place->file : "tokamak") << ": ";
  std::cerr << "error: out of memory: the system refuses more"
            << (place ? " while the program is compiled\n" : "\n");
  _exit(hasBegun ? RunFailed : Rejected);
}

void onRefusal() {
  if (NeedsMemory::place())
    endProcess();
  throw std::bad_alloc();
}

void onTerminate() {
  try {
    if (std::exception_ptr thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    endProcess();
  } catch (...) {
    // Reported by the handler of SIGABRT.
  }
  std::abort();
}

} // namespace

void endWhereMemoryIsRefused() {
  reserve = new char[reserveBytes];
  std::set_new_handler(onRefusal);
  std::set_terminate(onTerminate);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { onRefusal(); });
}

void programBegins() { hasBegun = true; }

} // namespace tokamak
