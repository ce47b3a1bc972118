#include "codegen/DebuggerRegistration.h"

#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <mutex>

using namespace llvm;
using namespace tokamak::codegen;

extern "C" {
extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();
}

// Guards the process-wide list of entries. Debuggers take no lock: they stop the process to read.
static std::mutex &listMutex() {
  static std::mutex mutex;
  return mutex;
}

struct DebuggerRegistration::Entry {
  std::unique_ptr<WritableMemoryBuffer> file; // the object, with the address of its code filled in
  jit_code_entry code{};
};

static void tellPerf(const object::ObjectFile &file, uint64_t codeAddress) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::error_code error;
  raw_fd_ostream map("/tmp/perf-" + std::to_string(sys::Process::getProcessId()) + ".map", error,
                     sys::fs::OF_Append);
  if (error)
    return;
  for (auto [symbol, size] : object::computeSymbolSizes(file)) {
    Expected<object::SymbolRef::Type> type = symbol.getType();
    Expected<uint64_t> offset = symbol.getValue();
    Expected<StringRef> name = symbol.getName();
    if (type && offset && name && *type == object::SymbolRef::ST_Function && size > 0)
      map << format_hex_no_prefix(codeAddress + *offset, 1) << ' ' << format_hex_no_prefix(size, 1)
          << ' ' << *name << '\n';
    consumeError(type.takeError());
    consumeError(offset.takeError());
    consumeError(name.takeError());
  }
}

// The address at which the object's code was loaded: the address of a function minus its offset; 0
// if `addresses` has no function of the object.
static uint64_t findCode(const object::ObjectFile &file, const StringMap<void *> &addresses) {
  for (const object::SymbolRef &symbol : file.symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint64_t> offset = symbol.getValue();
    uint64_t address = 0;
    if (name && offset)
      if (void *found = addresses.lookup(*name))
        address = reinterpret_cast<uint64_t>(found) - *offset;
    consumeError(name.takeError());
    consumeError(offset.takeError());
    if (address)
      return address;
  }
  return 0;
}

// Fills in the address of the code section: debuggers read a relocatable object as if its sections
// lay at the addresses in their headers. False if the object is no ELF file or has no code.
static bool setCodeAddress(WritableMemoryBuffer &file, uint64_t address) {
  auto *bytes = reinterpret_cast<uint8_t *>(file.getBufferStart());
  auto elf = object::ELF64LEFile::create(StringRef(file.getBufferStart(), file.getBufferSize()));
  if (!elf) {
    consumeError(elf.takeError());
    return false;
  }
  auto sections = elf->sections();
  if (!sections) {
    consumeError(sections.takeError());
    return false;
  }
  for (const auto &section : *sections) {
    // .text, or .ltext in the large code model.
    if (!(section.sh_flags & ELF::SHF_EXECINSTR) || section.sh_size == 0)
      continue;
    auto offset = reinterpret_cast<const uint8_t *>(&section) - elf->base();
    auto *header = reinterpret_cast<object::ELF64LE::Shdr *>(bytes + offset);
    header->sh_addr = address;
    return true;
  }
  return false;
}

DebuggerRegistration::DebuggerRegistration(StringRef object, const StringMap<void *> &addresses) {
  auto entry = std::make_unique<Entry>();
  entry->file = WritableMemoryBuffer::getNewUninitMemBuffer(object.size(), "generated code");
  std::copy(object.begin(), object.end(), entry->file->getBufferStart());
  auto file = object::ObjectFile::createObjectFile(entry->file->getMemBufferRef());
  if (!file) {
    consumeError(file.takeError());
    return;
  }
  uint64_t code = findCode(**file, addresses);
  if (!code)
    return;
  if (std::getenv("TOKAMAK_PERF_MAP"))
    tellPerf(**file, code);
  if (!setCodeAddress(*entry->file, code))
    return;
  entry_ = std::move(entry);
  jit_code_entry &added = entry_->code;
  added.symfile_addr = entry_->file->getBufferStart();
  added.symfile_size = entry_->file->getBufferSize();
  std::lock_guard lock(listMutex());
  added.next_entry = __jit_debug_descriptor.first_entry;
  if (added.next_entry)
    added.next_entry->prev_entry = &added;
  __jit_debug_descriptor.first_entry = &added;
  __jit_debug_descriptor.relevant_entry = &added;
  __jit_debug_descriptor.action_flag = JIT_REGISTER_FN;
  __jit_debug_register_code();
}

DebuggerRegistration::~DebuggerRegistration() {
  if (!entry_)
    return;
  jit_code_entry &code = entry_->code;
  std::lock_guard lock(listMutex());
  (code.prev_entry ? code.prev_entry->next_entry : __jit_debug_descriptor.first_entry) =
      code.next_entry;
  if (code.next_entry)
    code.next_entry->prev_entry = code.prev_entry;
  __jit_debug_descriptor.relevant_entry = &code;
  __jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
  __jit_debug_register_code();
}
