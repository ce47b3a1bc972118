// What functions that throw Error say is wrong.
//
//   messageOf([&] { readModel(source); }) == "model.onnx: byte 0: broken protobuf: …"
//
#ifndef TOKAMAK_FRONTEND_ONNX_TESTING_MESSAGES_H
#define TOKAMAK_FRONTEND_ONNX_TESTING_MESSAGES_H

#include "base/Error.h"
#include "frontend/onnx/file/ModelReader.h"
#include "frontend/onnx/file/ModelStructure.h"

#include <string>
#include <vector>

namespace tokamak::onnx::testing {

// "" if nothing is thrown; a bug of Tokamak is marked.
template <typename Run> std::string messageOf(const Run &run) {
  try {
    run();
  } catch (const Error &error) {
    return (error.kind() == ErrorKind::Internal ? "internal error: " : "") + error.message();
  }
  return "";
}

// The mistakes in the structure of a model, given as bytes.
inline std::vector<std::string> mistakesIn(const std::string &bytes) {
  Source source = {"model.onnx", bytes};
  Model model = readModel(source);
  ModelErrors errors(source.path);
  verifyStructure(model, nullptr, errors);
  return errors.messages();
}

} // namespace tokamak::onnx::testing
#endif
