#include "codegen/LoadedImages.h"

#include "base/UncheckedByThreadSanitizer.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"

#include <cstring>

using namespace llvm;
using namespace tokamak;
using namespace tokamak::codegen;

std::shared_ptr<LoadedImages> LoadedImages::load(ArrayRef<StringRef> images) {
  UncheckedByThreadSanitizer section;
  // Code may address its constants by their distance in pages.
  const size_t page = sys::Process::getPageSizeEstimate();
  size_t size = 0;
  for (StringRef image : images)
    size += alignTo(image.size(), page);
  std::shared_ptr<LoadedImages> loaded(new LoadedImages);
  std::error_code error;
  loaded->memory_ = sys::OwningMemoryBlock(sys::Memory::allocateMappedMemory(
      size, nullptr, sys::Memory::MF_READ | sys::Memory::MF_WRITE, error));
  if (error)
    report_bad_alloc_error("no memory for generated code");
  auto *begin = static_cast<char *>(loaded->memory_.base());
  for (StringRef image : images) {
    std::memcpy(begin, image.data(), image.size());
    loaded->objects_.emplace_back(
        MutableArrayRef<char>(begin, image.size()), [&](const object::SectionRef &section) {
          uint64_t flags = object::ELFSectionRef(section).getFlags();
          uint64_t offset = object::ELFSectionRef(section).getOffset();
          return flags & ELF::SHF_ALLOC ? reinterpret_cast<uintptr_t>(begin) + offset : 0;
        });
    loaded->begins_.push_back(begin);
    begin += alignTo(image.size(), page);
  }
  if (sys::Memory::protectMappedMemory(loaded->memory_.getMemoryBlock(),
                                       sys::Memory::MF_READ | sys::Memory::MF_EXEC))
    report_bad_alloc_error("no memory for generated code");
  return loaded;
}
