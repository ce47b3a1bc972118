#include "frontend/onnx/file/TensorReader.h"

#include "base/Error.h"

#include <fmt/format.h>

namespace tokamak::onnx {

MessageReader TensorReader::part(std::string_view bytes, const char *name) {
  MessageReader reader(source_, bytes, name);
  expectParts(reader, 1);
  ++parts_;
  return reader;
}

void TensorReader::expectParts(const MessageReader &reader, int64_t count) const {
  if (parts_ + count > mostParts)
    throw Error(
        fmt::format("{}: the file has more than {} nodes, attributes, tensors, values, types "
                    "and dimensions",
                    reader.place(), mostParts));
}

MessageReader TensorReader::nestedPart(std::string_view bytes, const char *name, int depth,
                                       const char *what) {
  MessageReader reader = part(bytes, name);
  if (depth > mostNested)
    throw Error(
        fmt::format("{}: {} are nested more than {} deep", reader.place(), what, mostNested));
  return reader;
}

KeyAndValue TensorReader::keyAndValue(std::string_view bytes) {
  KeyAndValue result;
  MessageReader reader = part(bytes, "StringStringEntryProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      result.key = reader.bytes();
      break;
    case 2:
      result.value = reader.bytes();
      break;
    default:
      reader.skip();
    }
  }
  return result;
}

Tensor TensorReader::tensor(std::string_view bytes) {
  Tensor result;
  result.message = bytes;
  bool isRaw = false, isExternal = false;
  MessageReader reader = part(bytes, "TensorProto");
  while (reader.next()) {
    switch (uint32_t field = reader.field()) {
    case 1:
      reader.append(result.dims);
      break;
    case 2:
      result.dataType = static_cast<DataType>(static_cast<int32_t>(reader.integer()));
      break;
    case 3:
      result.isSegment = true;
      reader.skip();
      break;
    case 4:  // float_data
    case 5:  // int32_data
    case 6:  // string_data
    case 7:  // int64_data
    case 10: // double_data
    case 11: // uint64_data
      result.typedFields = static_cast<uint16_t>(result.typedFields | 1U << field);
      reader.skip();
      break;
    case 8:
      result.name = reader.bytes();
      break;
    case 9:
      isRaw = true;
      result.raw = reader.bytes();
      break;
    case 13:
      result.external.push_back(keyAndValue(reader.bytes()));
      break;
    case 14:
      isExternal = reader.integer() == 1;
      break;
    default:
      reader.skip();
    }
  }
  if (isExternal)
    result.storage = CellStorage::External;
  else if (isRaw)
    result.storage = CellStorage::Raw;
  return result;
}

SparseTensor TensorReader::sparseTensor(std::string_view bytes) {
  SparseTensor result;
  MessageReader reader = part(bytes, "SparseTensorProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      result.values = tensor(reader.onlyBytes(!result.values.message.empty()));
      break;
    case 2:
      result.indices = tensor(reader.onlyBytes(!result.indices.message.empty()));
      break;
    case 3:
      reader.append(result.dims);
      break;
    default:
      reader.skip();
    }
  }
  return result;
}

Tensor readTensor(const Source &source) { return TensorReader(source).tensor(source.bytes); }

} // namespace tokamak::onnx
