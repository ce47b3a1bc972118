#include "exec/KernelFiles.h"

#include "runtime/image/ImageFile.h"

using namespace tokamak;
using namespace tokamak::exec;

static std::string keyOf(std::string_view structure) {
  return compilerVersion() + "kernel\n" + std::string(structure);
}

const CacheFolder &KernelFiles::folder() {
  std::call_once(opened_, [&] { folder_.emplace(compilerVersion().empty() ? "" : path_); });
  return *folder_;
}

std::optional<codegen::StoredKernel> KernelFiles::find(std::string_view key) {
  std::optional<std::string> bytes = folder().find(keyOf(key));
  if (!bytes)
    return {};
  try {
    runtime::ByteReader reader(*bytes);
    codegen::StoredKernel kernel;
    kernel.plan = runtime::readKernelPlan(reader);
    kernel.object = reader.text();
    return kernel;
  } catch (const Error &) {
    return {};
  }
}

void KernelFiles::keep(std::string_view key, const abi::KernelPlan &plan, std::string_view object) {
  runtime::ByteWriter writer;
  runtime::writeKernelPlan(plan, writer);
  writer.text(object);
  folder().keep(keyOf(key), writer.bytes());
}
