// Generates docs/onnx-operators.md: the operators of ONNX that models may use, from the import rules.
//
//   std::cout << operatorTableMarkdown();
//
#ifndef TOKAMAK_FRONTEND_ONNX_OPERATORTABLE_H
#define TOKAMAK_FRONTEND_ONNX_OPERATORTABLE_H

#include <string>

namespace tokamak::onnx {

std::string operatorTableMarkdown();

} // namespace tokamak::onnx
#endif
