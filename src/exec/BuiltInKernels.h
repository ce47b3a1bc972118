// Kernels that are part of the program: of operators that many programs share, compiled when Tokamak
// is built. Their code lies in the program's own, so that one costs a look into an index.
//
//   BuiltInKernels kernels(sets);                   // generated: tools/built-in-kernels
//   std::optional<codegen::StoredKernel> kernel = kernels.find(key);   // KernelStore.h says what keys are
//
// There are sets for several targets of a kind of machine, in the order of `targets`; the first one
// that this machine can run serves. All give the same bits.
#ifndef TOKAMAK_EXEC_BUILTINKERNELS_H
#define TOKAMAK_EXEC_BUILTINKERNELS_H

#include "codegen/KernelStore.h"
#include "codegen/target/Target.h"
#include "runtime/image/Bytes.h"

#include <map>
#include <span>
#include <vector>

namespace tokamak::exec {

// What the program holds for one target.
struct BuiltInSet {
  std::string_view target; // its name
  std::string_view index;  // made by writeBuiltIn
  char *code;              // executable
};

class BuiltInKernels {
public:
  explicit BuiltInKernels(std::span<const BuiltInSet> sets);

  // A kernel with code. Thread-safe, as is `has`.
  std::optional<codegen::StoredKernel> find(std::string_view key) const;
  bool has(std::string_view key) const { return recordOf(key).has_value(); }

  // The targets for which kernels are built into a program for this kind of machine, the best first.
  static std::vector<const codegen::Target *> targets();

private:
  // What stands behind the key.
  std::optional<runtime::ByteReader> recordOf(std::string_view key) const;

  std::string_view index_; // empty: there are no kernels for this machine
  char *code_ = nullptr;
};

// For the build: the code of all kernels in one piece, and where each is.
struct BuiltInFiles {
  std::string index, code;
  struct Function {
    std::string name;
    size_t begin, size;
  };
  std::vector<Function> functions; // by their place in the code
};
// `kernels`: by key. An image begins at a multiple of `alignment`.
BuiltInFiles writeBuiltIn(const std::map<std::string, codegen::StoredKernel> &kernels,
                          size_t alignment);

} // namespace tokamak::exec
#endif
