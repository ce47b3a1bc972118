// Serialises images: a program compiled in one process runs in another one without a compiler.
//
//   ByteWriter writer;
//   writeImage(image, writer);
//   ByteReader reader(writer.bytes());
//   auto noKernels = [](const std::string &kernel) { return KernelCode{}; };
//   Image copy = readImage(reader, {noKernels, findNative});
//
// The machine code of kernels is not included. Constants are scalars, strings, dense arrays or
// Nothing. Reading checks every index of an instruction and of a kernel's plan, so that damaged
// bytes never make the executor access memory outside of its tables.
#ifndef TOKAMAK_RUNTIME_IMAGE_IMAGEFILE_H
#define TOKAMAK_RUNTIME_IMAGE_IMAGEFILE_H

#include "runtime/image/Bytes.h"
#include "runtime/image/Image.h"

#include <functional>

namespace tokamak::runtime {

struct KernelCode {
  TokKernel kernel = nullptr;
  TokMerge merge = nullptr;             // null: the kernel has no partial results
  std::shared_ptr<void> code = nullptr; // keeps machine code alive that is no part of the program
};
// The code of a kernel; null if there is no kernel of this name.
using KernelLookup = std::function<KernelCode(const std::string &name)>;

// Where an image finds the code that it refers to by name. Of natives, findNative knows all; a program that
// names only a few links only those.
struct CodeLookup {
  KernelLookup kernels;
  std::function<const Native *(std::string_view name)>
      natives; // null if there is none of this name
};

void writeImage(const Image &image, ByteWriter &writer);
// Throws Error if the bytes are damaged, or name an operator or a native that this program lacks or
// a kernel without code.
Image readImage(ByteReader &reader, const CodeLookup &code);

// The plan of one kernel, without its code. Reading throws Error like readImage.
void writeKernelPlan(const KernelPlan &plan, ByteWriter &writer);
KernelPlan readKernelPlan(ByteReader &reader);

// A scalar, a string, an unassigned variable or Nothing.
void writeScalar(const Value &value, ByteWriter &writer);
Value readScalar(ByteReader &reader);

void writePlace(const SourcePlace &place, ByteWriter &writer);
SourcePlace readPlace(ByteReader &reader);

// A number that changes whenever the meaning of the bytes does, with their order, the instructions
// and the kernel interface. Operators and natives are stored by name: it does not depend on them.
uint64_t imageFormat();

} // namespace tokamak::runtime
#endif
