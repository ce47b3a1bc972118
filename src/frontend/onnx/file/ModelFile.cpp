#include "frontend/onnx/file/ModelFile.h"

#include "frontend/onnx/file/ModelReader.h"
#include "frontend/onnx/file/ModelStructure.h"

namespace tokamak::onnx {

ModelFile::ModelFile(const std::string &path)
    : path_(path), file_(path), model_(readModel({path, file_->bytes()})), external_(path) {
  verify();
}

ModelFile::ModelFile(const std::string &name, std::string bytes)
    : path_(name), bytes_(std::move(bytes)), model_(readModel({name, bytes_})), external_(name) {
  verify();
}

void ModelFile::verify() {
  ModelErrors errors(path_);
  verifyStructure(model_, &external_, errors);
  errors.throwIfAny();
}

} // namespace tokamak::onnx
