#include "frontend/onnx/file/ModelFile.h"

#include "frontend/onnx/file/ModelReader.h"
#include "frontend/onnx/file/ModelStructure.h"

namespace tokamak::onnx {

ModelFile::ModelFile(const std::string &path)
    : path_(path), file_(path), model_(readModel({path, file_.bytes()})), external_(path) {
  ModelErrors errors(path);
  verifyStructure(model_, &external_, errors);
  errors.throwIfAny();
}

} // namespace tokamak::onnx
