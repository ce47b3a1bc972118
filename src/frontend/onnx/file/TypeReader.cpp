#include "frontend/onnx/file/TypeReader.h"

namespace tokamak::onnx {
namespace {

DataType dataTypeOf(int64_t number) { return static_cast<DataType>(static_cast<int32_t>(number)); }

} // namespace

ValueInfo TypeReader::valueInfo(std::string_view bytes) {
  ValueInfo result;
  bool hasType = false;
  MessageReader reader = tensors_.part(bytes, "ValueInfoProto");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      result.name = reader.bytes();
      break;
    case 2:
      result.type = type(reader.onlyBytes(hasType), 1);
      hasType = true;
      break;
    default:
      reader.skip();
    }
  }
  return result;
}

Type TypeReader::type(std::string_view bytes, int depth) {
  Type result;
  MessageReader reader = tensors_.nestedPart(bytes, "TypeProto", depth, "types");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      result = tensorType(reader, Type::Kind::Tensor, result);
      break;
    case 4:
      result = typeOfElements(reader, Type::Kind::Sequence, result, depth);
      break;
    case 5:
      result = typeOfElements(reader, Type::Kind::Map, result, depth);
      break;
    case 7:
      reader.checkOnly(result.kind != Type::Kind::None);
      result.kind = Type::Kind::Opaque;
      reader.skip();
      break;
    case 8:
      result = tensorType(reader, Type::Kind::SparseTensor, result);
      break;
    case 9:
      result = typeOfElements(reader, Type::Kind::Optional, result, depth);
      break;
    default:
      reader.skip();
    }
  }
  return result;
}

// A type has one of its fields: `before` is what stood before this one.
Type TypeReader::tensorType(MessageReader &typeReader, Type::Kind kind, const Type &before) {
  Type result;
  result.kind = kind;
  MessageReader reader =
      tensors_.part(typeReader.onlyBytes(before.kind != Type::Kind::None), "TypeProto.Tensor");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      result.dataType = dataTypeOf(reader.integer());
      break;
    case 2:
      result.shape = shape(reader.onlyBytes(result.shape.has_value()));
      break;
    default:
      reader.skip();
    }
  }
  return result;
}

Type TypeReader::typeOfElements(MessageReader &typeReader, Type::Kind kind, const Type &before,
                                int depth) {
  Type result;
  result.kind = kind;
  bool isMap = kind == Type::Kind::Map;
  MessageReader reader = tensors_.part(typeReader.onlyBytes(before.kind != Type::Kind::None),
                                       isMap ? "TypeProto.Map" : "TypeProto.Sequence");
  while (reader.next()) {
    if (isMap && reader.field() == 1)
      result.dataType = dataTypeOf(reader.integer());
    else if (reader.field() == (isMap ? 2 : 1))
      result.element =
          std::make_unique<Type>(type(reader.onlyBytes(result.element != nullptr), depth + 1));
    else
      reader.skip();
  }
  return result;
}

std::vector<Dimension> TypeReader::shape(std::string_view bytes) {
  std::vector<Dimension> result;
  MessageReader reader = tensors_.part(bytes, "TensorShapeProto");
  while (reader.next()) {
    if (reader.field() == 1)
      result.push_back(dimension(reader.bytes()));
    else
      reader.skip();
  }
  return result;
}

Dimension TypeReader::dimension(std::string_view bytes) {
  Dimension result;
  MessageReader reader = tensors_.part(bytes, "TensorShapeProto.Dimension");
  while (reader.next()) {
    switch (reader.field()) {
    case 1:
      result = reader.integer();
      break;
    case 2:
      if (std::string_view name = reader.bytes(); !name.empty())
        result = name;
      break;
    default:
      reader.skip();
    }
  }
  return result;
}

} // namespace tokamak::onnx
