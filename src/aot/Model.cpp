#include "aot/Model.h"

#include "aot/ModelObject.h"
#include "base/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;

template <typename Visit> static void forEachImage(const Model &model, const Visit &visit) {
  for (const ModelEntry &entry : model.entries) {
    visit(entry.program.image);
    for (const runtime::PlannedBlock &block : entry.program.blocks)
      for (const runtime::BlockPlan &plan : block.plans)
        visit(*plan.image);
  }
}

std::map<std::string, bool> aot::kernelsOf(const Model &model) {
  std::map<std::string, bool> kernels;
  forEachImage(model, [&](const runtime::Image &image) {
    for (const runtime::KernelPlan &kernel : image.kernels)
      kernels[kernel.name] = llvm::any_of(kernel.outputs, [](const runtime::KernelOutput &output) {
        return output.kind != runtime::KernelOutput::Kind::Array;
      });
  });
  return kernels;
}

std::set<NativeKind> aot::nativesOf(const Model &model) {
  std::set<NativeKind> natives;
  forEachImage(model, [&](const runtime::Image &image) {
    for (const runtime::Native *native : image.natives)
      natives.insert(native->row.kind);
  });
  return natives;
}

// The macros of <stdint.h>, with those that the C standard keeps for it.
static bool isMacroOfIntegers(llvm::StringRef name) {
  static const char *const types[] = {"INT",  "UINT",  "PTRDIFF", "SIG_ATOMIC",
                                      "SIZE", "WCHAR", "WINT"};
  static const char *const kinds[] = {"_MIN", "_MAX", "_WIDTH", "_C"};
  return llvm::any_of(types, [&](const char *type) { return name.starts_with(type); }) &&
         llvm::any_of(kinds, [&](const char *kind) { return name.ends_with(kind); });
}

std::string aot::identifier(std::string_view name) {
  // Words of C and C++, macros that the standard headers and compilers have, and names that the headers of models use.
  static const llvm::StringSet<> taken = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "restrict",
                                          "return",
                                          "reinterpret_cast",
                                          "requires",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "typeof_unqual",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq",
                                          "NULL",
                                          "linux",
                                          "unix",
                                          "context",
                                          "int32_t",
                                          "int64_t",
                                          "size_t",
                                          "options",
                                          "tokamak_matrix",
                                          "tokamak_tensor",
                                          "tokamak_type"};
  std::string text;
  for (char letter : name)
    text += llvm::isAlnum(letter) ? letter : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text = "_" + text;
  return taken.contains(text) || isMacroOfIntegers(text) ? text + "_" : text;
}

static std::string functionName(const std::string &model, const std::string &entry) {
  std::string name = identifier(entry);
  return model + "_" + (entry + "_" == name ? entry : name);
}

std::string aot::functionName(const Model &model, const ModelEntry &entry) {
  return ::functionName(model.name, entry.name);
}

bool ModelEntry::hasOptions() const {
  return llvm::any_of(parameters,
                      [](const ModelValue &parameter) { return parameter.byDefault.has_value(); });
}

std::string aot::optionsName(const Model &model, const ModelEntry &entry) {
  return functionName(model, entry) + "_options";
}

std::string aot::defaultsName(const Model &model, const ModelEntry &entry) {
  return functionName(model, entry) + "_defaults";
}

void aot::checkFunctionNames(const std::string &model, std::span<const std::string> entries) {
  std::map<std::string, std::string> known; // of C, with that of the script
  for (const std::string &entry : entries) {
    std::string name = ::functionName(model, entry);
    bool isOfContext = name == model + "_context" ||
                       llvm::any_of(contextFunctions(), [&](const ContextFunction &function) {
                         return name == model + "_" + function.name;
                       });
    if (isOfContext)
      throw Error(fmt::format("--entry {}: every compiled model has a function or type {} of its "
                              "own; expected a function of another name",
                              entry, name));
    for (const char *ending : {"_options", "_defaults"})
      if (llvm::StringRef whole = name; whole.consume_back(ending))
        for (const std::string &other : entries)
          if (::functionName(model, other) == whole)
            throw Error(fmt::format("--entry {},{}: {} is what belongs to {} in C; expected a "
                                    "function of another name",
                                    other, entry, name, other));
    auto [other, isNew] = known.emplace(name, entry);
    if (!isNew)
      throw Error(
          other->second == entry
              ? fmt::format("--entry {}: expected each function once", entry)
              : fmt::format("--entry {},{}: both functions would be {} in C; expected names that "
                            "differ in letters or digits",
                            other->second, entry, name));
  }
}
