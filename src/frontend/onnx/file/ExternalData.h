// The cells of tensors that a model keeps in files of their own, beneath its folder.
//
//   ExternalData external("models/net.onnx");
//   std::string_view cells = external.bytesOf(tensor);     // of a file in models/
//
// Files are mapped, each once, and stay mapped as long as the object lives.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_EXTERNALDATA_H
#define TOKAMAK_FRONTEND_ONNX_FILE_EXTERNALDATA_H

#include "frontend/onnx/file/MappedFile.h"
#include "frontend/onnx/file/Model.h"

#include <map>
#include <string>

namespace tokamak::onnx {

class ExternalData {
public:
  // Opens nothing: most models have no such files.
  explicit ExternalData(std::string modelPath) : modelPath_(std::move(modelPath)) {}
  ~ExternalData();
  ExternalData(ExternalData &&other) noexcept;
  ExternalData &operator=(ExternalData &&) = delete;

  // The bytes that the tensor, whose storage is External, says are its cells. Throws Error with what
  // is wrong, for a caller who knows where in the model the tensor stands: the entries make no
  // sense, the file may not be opened (OpenBeneath.h), is too short or has another SHA-1 checksum
  // than the model says.
  std::string_view bytesOf(const Tensor &tensor);

  // Of the files that were opened.
  std::vector<std::string> paths() const;

private:
  struct File {
    MappedFile mapped;
    std::string checksum; // once it was asked for
  };
  File &fileAt(const std::string &location);

  std::string modelPath_;
  int folder_ = -1;
  std::map<std::string, File> files_;
};

} // namespace tokamak::onnx
#endif
