// The text of a program and its language.
//
//   SourceText source{"print(sum(matrix(1, 2, 3)))\n", Language::Dml};
//   languageOf("examples/attention.mlir") == Language::Tok
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_SOURCETEXT_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_SOURCETEXT_H

#include <cstdint>
#include <string>

namespace tokamak::fuzz {

enum class Language : uint8_t {
  Dml,
  Tok,  // textual form of the tok dialect: arrays of any rank and both precisions
  Onnx, // the bytes of a model, in which the values of its inputs are, too (ModelProgram.h)
};

struct SourceText {
  std::string text;
  Language language = Language::Dml;
};

inline Language languageOf(const std::string &path) {
  return path.ends_with(".mlir")   ? Language::Tok
         : path.ends_with(".onnx") ? Language::Onnx
                                   : Language::Dml;
}
inline const char *extensionOf(Language language) {
  return language == Language::Tok ? ".mlir" : language == Language::Onnx ? ".onnx" : ".dml";
}
inline const char *commentMarkOf(Language language) {
  return language == Language::Tok ? "// " : "# ";
}

} // namespace tokamak::fuzz
#endif
