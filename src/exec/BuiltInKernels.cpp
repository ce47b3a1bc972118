#include "exec/BuiltInKernels.h"

#include "runtime/image/ImageFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstring>

using namespace tokamak;
using namespace tokamak::exec;

namespace {

// The index begins with their number and entries, in the order of hashes. Records follow: the key, the
// plan, and where its functions are in the code.
struct Entry {
  uint64_t hash;
  uint64_t record; // its place in the index
};

uint64_t hashOf(std::string_view key) {
  return llvm::xxh3_64bits(llvm::StringRef(key.data(), key.size()));
}

template <typename Number> Number numberAt(std::string_view bytes, size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

} // namespace

std::vector<const codegen::Target *> BuiltInKernels::targets() {
#if defined(__x86_64__)
  return {&codegen::wideX86Target(), &codegen::x86Target()};
#else
  return {&codegen::aarch64Target()};
#endif
}

BuiltInKernels::BuiltInKernels(std::span<const BuiltInSet> sets) {
  for (const codegen::Target *target : targets())
    for (const BuiltInSet &set : sets)
      if (index_.empty() && set.target == target->name && codegen::canRun(*target)) {
        index_ = set.index;
        code_ = set.code;
      }
}

std::optional<runtime::ByteReader> BuiltInKernels::recordOf(std::string_view key) const {
  if (index_.empty())
    return {};
  auto count = numberAt<uint64_t>(index_, 0);
  auto entryAt = [&](size_t number) {
    return numberAt<Entry>(index_, sizeof count + number * sizeof(Entry));
  };
  uint64_t hash = hashOf(key);
  size_t first = 0, end = count;
  while (first < end) {
    size_t middle = (first + end) / 2;
    entryAt(middle).hash < hash ? first = middle + 1 : end = middle;
  }
  for (; first < count && entryAt(first).hash == hash; ++first) {
    runtime::ByteReader reader(index_.substr(entryAt(first).record));
    if (reader.text() == key)
      return reader;
  }
  return {};
}

std::optional<codegen::StoredKernel> BuiltInKernels::find(std::string_view key) const {
  std::optional<runtime::ByteReader> record = recordOf(key);
  if (!record)
    return {};
  codegen::StoredKernel kernel;
  kernel.plan = runtime::readKernelPlan(*record);
  kernel.plan.kernel = reinterpret_cast<TokKernel>(code_ + record->number<uint64_t>());
  if (record->boolean())
    kernel.plan.merge = reinterpret_cast<TokMerge>(code_ + record->number<uint64_t>());
  return kernel;
}

BuiltInFiles exec::writeBuiltIn(const std::map<std::string, codegen::StoredKernel> &kernels,
                                size_t alignment) {
  BuiltInFiles files;
  std::vector<Entry> entries;
  uint64_t recordsBegin = sizeof(uint64_t) + kernels.size() * sizeof(Entry);
  runtime::ByteWriter records;
  for (const auto &[key, kernel] : kernels) {
    entries.push_back({hashOf(key), recordsBegin + records.bytes().size()});
    files.code.resize(llvm::alignTo(files.code.size(), alignment));
    uint64_t begin = files.code.size();
    files.code += kernel.image;
    records.text(key);
    runtime::writeKernelPlan(kernel.plan, records);
    records.number<uint64_t>(begin + kernel.kernel);
    records.number<uint8_t>(kernel.merge >= 0);
    if (kernel.merge >= 0)
      records.number<uint64_t>(begin + kernel.merge);
    files.functions.push_back({kernel.plan.name, begin, kernel.image.size()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.hash < b.hash; });
  runtime::ByteWriter head;
  head.number<uint64_t>(entries.size());
  for (const Entry &entry : entries) {
    head.number(entry.hash);
    head.number(entry.record);
  }
  files.index = head.bytes() + records.bytes();
  return files;
}
