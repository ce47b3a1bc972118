#include "codegen/ObjectInMemory.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <mutex>

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;
using object::ELF64LEObjectFile;

// Defined by LLVM; debuggers look for these names.
extern "C" jit_descriptor __jit_debug_descriptor;
extern "C" void __jit_debug_register_code();

static std::mutex &debuggersMutex() {
  static std::mutex mutex;
  return mutex;
}

static void tellPerf(const ELF64LEObjectFile &file) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::error_code error;
  raw_fd_ostream map("/tmp/perf-" + std::to_string(sys::Process::getProcessId()) + ".map", error,
                     sys::fs::OF_Append);
  if (error)
    return;
  for (auto [symbol, size] : object::computeSymbolSizes(file))
    if (size > 0 && cantFail(symbol.getType()) == object::SymbolRef::ST_Function)
      map << format_hex_no_prefix(cantFail(symbol.getAddress()), 1) << ' '
          << format_hex_no_prefix(size, 1) << ' ' << cantFail(symbol.getName()) << '\n';
}

static ELF64LEObjectFile parse(MutableArrayRef<char> file) {
  return cantFail(
      ELF64LEObjectFile::create(MemoryBufferRef(StringRef(file.data(), file.size()), "object")));
}

void ObjectInMemory::setAddresses(MutableArrayRef<char> bytes, AddressOf addressOf) {
  ELF64LEObjectFile file = parse(bytes);
  for (const object::SectionRef &section : file.sections()) {
    const auto *header = file.getSection(section.getRawDataRefImpl());
    const_cast<ELF64LEObjectFile::Elf_Shdr *>(header)->sh_addr = addressOf(section);
  }
}

ObjectInMemory::ObjectInMemory(MutableArrayRef<char> bytes, AddressOf addressOf)
    : entry_{nullptr, nullptr, bytes.data(), bytes.size()} {
  setAddresses(bytes, addressOf);
  static const bool isPerfTold = std::getenv("TOKAMAK_PERF_MAP") != nullptr;
  if (isPerfTold)
    tellPerf(parse(bytes));
  std::lock_guard lock(debuggersMutex());
  entry_.next_entry = __jit_debug_descriptor.first_entry;
  if (entry_.next_entry)
    entry_.next_entry->prev_entry = &entry_;
  __jit_debug_descriptor.first_entry = &entry_;
  __jit_debug_descriptor.relevant_entry = &entry_;
  __jit_debug_descriptor.action_flag = JIT_REGISTER_FN;
  __jit_debug_register_code();
}

ObjectInMemory::~ObjectInMemory() {
  std::lock_guard lock(debuggersMutex());
  if (entry_.next_entry)
    entry_.next_entry->prev_entry = entry_.prev_entry;
  (entry_.prev_entry ? entry_.prev_entry->next_entry : __jit_debug_descriptor.first_entry) =
      entry_.next_entry;
  __jit_debug_descriptor.relevant_entry = &entry_;
  __jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
  __jit_debug_register_code();
}
