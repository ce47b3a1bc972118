#include "exec/KernelFiles.h"

#include "runtime/image/ImageFile.h"

using namespace tokamak;
using namespace tokamak::exec;

static constexpr std::string_view kind = "kernel";

std::optional<codegen::StoredKernel> KernelFiles::find(std::string_view key) {
  std::optional<std::string> bytes = files_.find(kind, key);
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
  files_.keep(kind, key, writer.bytes());
}
