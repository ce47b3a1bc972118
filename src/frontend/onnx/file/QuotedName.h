// A name from a model as messages show it. A stranger's file may hold any bytes, of any number: they
// must not reach a terminal.
//
//   quotedName("conv1") == "'conv1'"
//   quotedName("a\nb") == "'a\\x0ab'"
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_QUOTEDNAME_H
#define TOKAMAK_FRONTEND_ONNX_FILE_QUOTEDNAME_H

#include <string>
#include <string_view>

namespace tokamak::onnx {

// Between quotes; control characters and what is no UTF-8 are written in hexadecimal, and of long
// names only the first 100 bytes, followed by "…".
std::string quotedName(std::string_view name);

// The same without quotes.
std::string printableName(std::string_view name);

} // namespace tokamak::onnx
#endif
