#include "aot/Model.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

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

std::string aot::identifier(std::string_view name) {
  static const llvm::StringSet<> wordsOfC = {
      "auto",     "break",    "case",    "char",      "const",    "continue",  "default",  "do",
      "double",   "else",     "enum",    "extern",    "float",    "for",       "goto",     "if",
      "inline",   "int",      "long",    "register",  "restrict", "return",    "short",    "signed",
      "sizeof",   "static",   "struct",  "switch",    "typedef",  "union",     "unsigned", "void",
      "while",    "volatile", "context", "bool",      "class",    "new",       "delete",   "this",
      "template", "private",  "public",  "protected", "operator", "namespace", "true",     "false"};
  std::string text;
  for (char letter : name)
    text += llvm::isAlnum(letter) ? letter : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text = "_" + text;
  return wordsOfC.contains(text) ? text + "_" : text;
}

std::string aot::functionName(const Model &model, const ModelEntry &entry) {
  std::string name = identifier(entry.name);
  return model.name + "_" + (name.ends_with('_') && entry.name + "_" == name ? entry.name : name);
}
