#include "exec/KernelFiles.h"

#include "runtime/image/ImageFile.h"

using namespace tokamak;
using namespace tokamak::exec;

static constexpr std::string_view kind = "kernel";

std::optional<codegen::StoredKernel> KernelFiles::find(std::string_view key) {
  if (builtIn_)
    if (std::optional<codegen::StoredKernel> kernel = builtIn_->find(key))
      return kernel;
  std::optional<std::string> bytes = files_.find(kind, key);
  if (!bytes)
    return {};
  try {
    runtime::ByteReader reader(*bytes);
    codegen::StoredKernel kernel;
    kernel.plan = runtime::readKernelPlan(reader);
    kernel.image = reader.text();
    kernel.kernel = reader.number<int64_t>();
    kernel.merge = reader.number<int64_t>();
    return kernel;
  } catch (const Error &) {
    return {};
  }
}

void KernelFiles::keep(std::string_view key, const codegen::StoredKernel &kernel) {
  runtime::ByteWriter writer;
  runtime::writeKernelPlan(kernel.plan, writer);
  writer.text(kernel.image);
  writer.number(kernel.kernel);
  writer.number(kernel.merge);
  files_.keep(kind, key, writer.bytes());
}
