#include "codegen/MachineCode.h"

#include "base/UncheckedByThreadSanitizer.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Process.h"

#include <cstring>
#include <dlfcn.h>

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

// Whether what the relocation puts into the code stays the same when the code moves by whole pages.
static bool isDistance(const object::ObjectFile &object, uint64_t type) {
  switch (object.getArch()) {
  case Triple::x86_64:
    return type == ELF::R_X86_64_PC32 || type == ELF::R_X86_64_PC64 || type == ELF::R_X86_64_PLT32;
  case Triple::aarch64:
    return type != ELF::R_AARCH64_ABS64 && type != ELF::R_AARCH64_ABS32 &&
           type != ELF::R_AARCH64_ABS16;
  default:
    return false;
  }
}

// Whether the code lies in a copy of its object that can be moved: nothing in it refers elsewhere.
// Tables for unwinding, which no code reads, don't count.
static bool isImage(const object::ObjectFile &object, const RuntimeDyld::LoadedObjectInfo &loaded,
                    const uint8_t *begin) {
  auto isCode = [](const object::SectionRef &section) {
    return object::ELFSectionRef(section).getFlags() & ELF::SHF_ALLOC && section.getSize() > 0 &&
           cantFail(section.getName()) != ".eh_frame";
  };
  return all_of(object.sections(), [&](const object::SectionRef &section) {
    // No address: nothing refers to the section.
    uint64_t address = loaded.getSectionLoadAddress(section);
    uint64_t offset = object::ELFSectionRef(section).getOffset();
    if (isCode(section) && address && address != reinterpret_cast<uintptr_t>(begin) + offset)
      return false;
    auto relocated = cantFail(section.getRelocatedSection());
    return relocated == object.section_end() || !isCode(*relocated) ||
           all_of(section.relocations(), [&](const object::RelocationRef &relocation) {
             return isDistance(object, relocation.getType());
           });
  });
}

Expected<std::shared_ptr<MachineCode>> MachineCode::link(MemoryBufferRef object) {
  UncheckedByThreadSanitizer section;
  auto file = object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  std::shared_ptr<MachineCode> code(new MachineCode(**file));
  auto loaded = code->linker_.loadObject(**file);
  if (!code->linker_.hasError()) {
    auto *begin = static_cast<char *>(code->memory_.base());
    DenseMap<uint64_t, uint64_t> addresses; // by number of the section
    for (const object::SectionRef &each : (*file)->sections())
      addresses[each.getIndex()] = loaded->getSectionLoadAddress(each);
    code->known_.emplace(
        MutableArrayRef(begin, object.getBufferSize()),
        [&](const object::SectionRef &copied) { return addresses.lookup(copied.getIndex()); });
    if (isImage(**file, *loaded, reinterpret_cast<uint8_t *>(begin)))
      code->imageBytes_ = object.getBufferSize();
    code->linker_.finalizeWithMemoryManagerLocking();
  }
  code->object_ = nullptr;
  if (code->linker_.hasError())
    return createStringError(code->linker_.getErrorString());
  return code;
}

std::string MachineCode::image() const {
  std::string image(static_cast<const char *>(memory_.base()), imageBytes_);
  if (!image.empty())
    ObjectInMemory::setAddresses(MutableArrayRef(image.data(), image.size()),
                                 [](const object::SectionRef &) { return 0; });
  return image;
}

MachineCode::~MachineCode() {
  UncheckedByThreadSanitizer section;
  known_.reset();
  deregisterEHFrames();
}

void MachineCode::reserveAllocationSpace(uintptr_t codeBytes, Align, uintptr_t constantBytes, Align,
                                         uintptr_t variableBytes, Align variableAlignment) {
  StringRef object = object_->getData();
  size_t objectBytes = alignTo(object.size(), Align(64));
  size_t codePages = alignTo(objectBytes + codeBytes, sys::Process::getPageSizeEstimate());
  size_t constants = alignTo(constantBytes, variableAlignment);
  // LLVM does not count all entries of the table of addresses in another program or library.
  constexpr size_t addresses = 128 * sizeof(void *);
  std::error_code error;
  memory_ = sys::OwningMemoryBlock(
      sys::Memory::allocateMappedMemory(codePages + constants + variableBytes + addresses, nullptr,
                                        sys::Memory::MF_READ | sys::Memory::MF_WRITE, error));
  if (error)
    report_bad_alloc_error("no memory for generated code");
  auto *begin = static_cast<uint8_t *>(memory_.base());
  std::memcpy(begin, object.data(), object.size());
  code_ = begin + objectBytes;
  constants_ = begin + codePages;
  variables_ = constants_ + constants;
}

uint8_t *MachineCode::ownPlace(StringRef name, uintptr_t bytes, unsigned alignment) {
  for (const object::SectionRef &section : object_->sections()) {
    uint64_t offset = object::ELFSectionRef(section).getOffset();
    if (section.getSize() == bytes && !section.isBSS() && cantFail(section.getName()) == name &&
        offset % std::max(alignment, 1U) == 0 && ownPlaces_.insert(offset).second)
      return static_cast<uint8_t *>(memory_.base()) + offset;
  }
  return nullptr;
}

static uint8_t *take(uint8_t *&next, uintptr_t bytes, unsigned alignment) {
  auto *taken = reinterpret_cast<uint8_t *>(alignAddr(next, Align(std::max(alignment, 1U))));
  next = taken + bytes;
  return taken;
}
uint8_t *MachineCode::allocateCodeSection(uintptr_t bytes, unsigned alignment, unsigned,
                                          StringRef name) {
  uint8_t *own = ownPlace(name, bytes, alignment);
  return own ? own : take(code_, bytes, alignment);
}
// The sizes that were reserved hold for constants and variables each, not for both in any order.
uint8_t *MachineCode::allocateDataSection(uintptr_t bytes, unsigned alignment, unsigned,
                                          StringRef name, bool isReadOnly) {
  if (uint8_t *own = isReadOnly ? ownPlace(name, bytes, alignment) : nullptr)
    return own;
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
