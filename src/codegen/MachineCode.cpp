#include "codegen/MachineCode.h"

#include "base/UncheckedByThreadSanitizer.h"
#include "codegen/DebuggerRegistration.h"
#include "codegen/target/Target.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/TargetParser/Triple.h"

#include <atomic>
#include <gnu/lib-names.h>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

// The JIT returns errors that only list the missing symbols. It reports their cause to the
// execution session, on the linking thread; these variables keep it until the error is returned.
static thread_local std::string sessionReport;
static thread_local bool wasMemoryRefused = false;

static void keepReport(Error error) {
  handleAllErrors(std::move(error), [](const ErrorInfoBase &information) {
    sessionReport += information.message() + "\n";
    wasMemoryRefused |= information.convertToErrorCode() == std::errc::not_enough_memory;
  });
}

static Error withReport(Error error) {
  if (std::exchange(wasMemoryRefused, false)) {
    consumeError(std::move(error));
    throw std::bad_alloc();
  }
  return createStringError(inconvertibleErrorCode(),
                           std::exchange(sessionReport, {}) + toString(std::move(error)));
}

// One JIT serves the process. Each kernel is a separate library in it, so that kernels can be
// removed individually.
static Expected<std::shared_ptr<orc::LLJIT>> sharedJit() {
  static std::mutex mutex;
  static std::shared_ptr<orc::LLJIT> shared;
  std::lock_guard lock(mutex);
  if (shared)
    return shared;
  auto jit =
      orc::LLJITBuilder()
          .setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(Triple(hostTarget().triple)))
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .setLinkProcessSymbolsByDefault(false)
          .create();
  if (!jit)
    return jit.takeError();
  (*jit)->getExecutionSession().setErrorReporter(keepReport);
  // Generated code may call libm and the library it is linked with, the rest of the C library.
  auto mathematics =
      orc::DynamicLibrarySearchGenerator::Load(LIBM_SO, (*jit)->getDataLayout().getGlobalPrefix());
  if (!mathematics)
    return mathematics.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*mathematics));
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  // Instrumented kernels call AddressSanitizer's runtime.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix(),
      [](const orc::SymbolStringPtr &name) { return (*name).starts_with("__asan"); });
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
#endif
#endif
  shared = std::move(*jit);
  return shared;
}

namespace {

class LinkedCode : public MachineCode {
public:
  LinkedCode(std::shared_ptr<orc::LLJIT> jit, orc::JITDylib &library)
      : jit_(std::move(jit)), library_(library) {}
  ~LinkedCode() override {
    UncheckedByThreadSanitizer section;
    cantFail(jit_->getExecutionSession().removeJITDylib(library_));
  }
  void set(StringRef symbol, void *address) { addresses_[symbol] = address; }
  // To be called after all symbols are set.
  void tellDebuggers(StringRef object) { registration_.emplace(object, addresses_); }

private:
  std::shared_ptr<orc::LLJIT> jit_;
  orc::JITDylib &library_;
  std::optional<DebuggerRegistration> registration_;
};

} // namespace

Expected<std::shared_ptr<MachineCode>> MachineCode::link(std::unique_ptr<MemoryBuffer> object,
                                                         ArrayRef<std::string> symbols) {
  static std::atomic<uint64_t> serial = 0;
  UncheckedByThreadSanitizer section;
  auto jit = sharedJit();
  if (!jit)
    return jit.takeError();
  auto library = (*jit)->createJITDylib("kernel" + std::to_string(serial++));
  if (!library)
    return library.takeError();
  library->addToLinkOrder((*jit)->getMainJITDylib());
  auto code = std::make_shared<LinkedCode>(*jit, *library);
  auto copy = MemoryBuffer::getMemBufferCopy(object->getBuffer());
  sessionReport.clear();
  if (Error error = (*jit)->addObjectFile(*library, std::move(object)))
    return std::move(error);
  for (const std::string &symbol : symbols) {
    auto address = (*jit)->lookup(*library, symbol);
    if (!address)
      return withReport(address.takeError());
    code->set(symbol, address->toPtr<void *>());
  }
  code->tellDebuggers(copy->getBuffer());
  return code;
}
