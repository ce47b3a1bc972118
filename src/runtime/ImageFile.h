// Images as bytes: what is compiled in one process runs in another one, which has no compiler.
//
//   ByteWriter writer;
//   writeImage(image, writer);
//   ByteReader reader(writer.bytes());
//   Image copy = readImage(reader, [](const std::string &kernel) { return KernelCode{}; });
//
// The code of kernels is not part of it. Constants are scalars, texts or nothing. What is read is
// checked: every index of an instruction and of a kernel's plan is in range, so that damaged bytes
// never make the executor leave its tables.
#ifndef TOKAMAK_RUNTIME_IMAGEFILE_H
#define TOKAMAK_RUNTIME_IMAGEFILE_H

#include "runtime/Bytes.h"
#include "runtime/Image.h"

#include <functional>
#include <span>

namespace tokamak::runtime {

struct KernelCode {
  TokKernel kernel = nullptr;
  TokMerge merge = nullptr; // null: the kernel has no partial results
};
// The code of a kernel; null where there is none of that name.
using KernelLookup = std::function<KernelCode(const std::string &name)>;

void writeImage(const Image &image, ByteWriter &writer);
// Throws Error if the bytes are damaged, name a native this runtime does not have or a kernel
// without code.
Image readImage(ByteReader &reader, const KernelLookup &kernels);

// A scalar, a text, an unassigned variable or nothing.
void writeScalar(const Value &value, ByteWriter &writer);
Value readScalar(ByteReader &reader);

// Changes whenever the meaning of the bytes does: with the format, the instructions, the names and
// the order of the operators, and the contract with kernels.
uint64_t imageFormat();
// The same with these operators.
uint64_t imageFormat(std::span<const std::string_view> unary,
                     std::span<const std::string_view> binary);

} // namespace tokamak::runtime
#endif
