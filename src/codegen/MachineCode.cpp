#include "codegen/MachineCode.h"

#include "base/UncheckedByThreadSanitizer.h"

#include "llvm/ExecutionEngine/JITEventListener.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

static void tellPerf(const object::ObjectFile &object, const MachineCode &code) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::error_code error;
  raw_fd_ostream map("/tmp/perf-" + std::to_string(sys::Process::getProcessId()) + ".map", error,
                     sys::fs::OF_Append);
  if (error)
    return;
  for (auto [symbol, size] : object::computeSymbolSizes(object)) {
    StringRef name = cantFail(symbol.getName());
    if (size > 0 && cantFail(symbol.getType()) == object::SymbolRef::ST_Function)
      map << format_hex_no_prefix(reinterpret_cast<uintptr_t>(code.address(name)), 1) << ' '
          << format_hex_no_prefix(size, 1) << ' ' << name << '\n';
  }
}

Expected<std::shared_ptr<MachineCode>> MachineCode::link(MemoryBufferRef object) {
  UncheckedByThreadSanitizer section;
  auto file = object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  std::shared_ptr<MachineCode> code(new MachineCode);
  auto loaded = code->linker_.loadObject(**file);
  if (loaded)
    code->linker_.finalizeWithMemoryManagerLocking();
  if (code->linker_.hasError())
    return createStringError(code->linker_.getErrorString());
  JITEventListener::createGDBRegistrationListener()->notifyObjectLoaded(
      reinterpret_cast<uintptr_t>(code.get()), **file, *loaded);
  if (std::getenv("TOKAMAK_PERF_MAP"))
    tellPerf(**file, *code);
  return code;
}

MachineCode::~MachineCode() {
  UncheckedByThreadSanitizer section;
  JITEventListener::createGDBRegistrationListener()->notifyFreeingObject(
      reinterpret_cast<uintptr_t>(this));
  deregisterEHFrames();
}

void MachineCode::reserveAllocationSpace(uintptr_t codeBytes, Align, uintptr_t constantBytes, Align,
                                         uintptr_t variableBytes, Align variableAlignment) {
  size_t codePages = alignTo(codeBytes, sys::Process::getPageSizeEstimate());
  size_t constants = alignTo(constantBytes, variableAlignment);
  // LLVM does not count all entries of the table of addresses in another program or library.
  constexpr size_t addresses = 128 * sizeof(void *);
  std::error_code error;
  memory_ = sys::OwningMemoryBlock(
      sys::Memory::allocateMappedMemory(codePages + constants + variableBytes + addresses, nullptr,
                                        sys::Memory::MF_READ | sys::Memory::MF_WRITE, error));
  if (error)
    report_bad_alloc_error("no memory for generated code");
  code_ = static_cast<uint8_t *>(memory_.base());
  constants_ = code_ + codePages;
  variables_ = constants_ + constants;
}

static uint8_t *take(uint8_t *&next, uintptr_t bytes, unsigned alignment) {
  auto *taken = reinterpret_cast<uint8_t *>(alignAddr(next, Align(std::max(alignment, 1U))));
  next = taken + bytes;
  return taken;
}
uint8_t *MachineCode::allocateCodeSection(uintptr_t bytes, unsigned alignment, unsigned,
                                          StringRef) {
  return take(code_, bytes, alignment);
}
// The sizes that were reserved hold for constants and variables each, not for both in any order.
uint8_t *MachineCode::allocateDataSection(uintptr_t bytes, unsigned alignment, unsigned, StringRef,
                                          bool isReadOnly) {
  return take(isReadOnly ? constants_ : variables_, bytes, alignment);
}

bool MachineCode::finalizeMemory(std::string *) {
  auto *begin = static_cast<uint8_t *>(memory_.base());
  sys::MemoryBlock used(begin, code_ - begin);
  if (sys::Memory::protectMappedMemory(used, sys::Memory::MF_READ | sys::Memory::MF_EXEC))
    report_bad_alloc_error("no memory for generated code");
  return false;
}

JITSymbol MachineCode::findSymbol(const std::string &name) {
  return {reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, name.c_str())), JITSymbolFlags::Exported};
}
