// An ONNX model together with the bytes that it is a view into: what the front end begins with.
//
//   ModelFile file("models/net.onnx");
//   for (const Node &node : file.model().graph.nodes)      // each behind those it needs
//     ...
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MODELFILE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MODELFILE_H

#include "frontend/onnx/file/ExternalData.h"
#include "frontend/onnx/file/MappedFile.h"
#include "frontend/onnx/file/Model.h"

#include <optional>
#include <string>

namespace tokamak::onnx {

class ModelFile {
public:
  // Maps and reads the file and verifies the model's structure (ModelStructure.h). Throws Error,
  // each line of which begins with the path: what keeps the file from being read, where its bytes
  // stop making sense, or all mistakes in its structure.
  explicit ModelFile(const std::string &path);
  // The same of the bytes of such a file. `name` stands for the path: cells in other files are looked
  // for beneath its folder.
  ModelFile(const std::string &name, std::string bytes);

  const std::string &path() const { return path_; }
  const Model &model() const { return model_; }
  // For the cells of its tensors (TensorCells.h).
  ExternalData &external() { return external_; }

private:
  // Throws Error if the structure is wrong.
  void verify();

  std::string path_;
  std::optional<MappedFile> file_; // or
  std::string bytes_;
  Model model_;
  ExternalData external_;
};

} // namespace tokamak::onnx
#endif
