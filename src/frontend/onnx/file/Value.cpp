#include "frontend/onnx/file/Value.h"

#include "base/Error.h"

#include <fmt/format.h>

namespace tokamak::onnx {
namespace {

// The numbers of fields are those of onnx-data.proto.
class ValueReader {
public:
  explicit ValueReader(const Source &source) : source_(source), tensors_(source) {}

  Value value(std::string_view bytes, Type::Kind kind, int depth) {
    Value result;
    result.kind = kind;
    switch (kind) {
    case Type::Kind::Tensor:
      result.tensor = tensors_.tensor(bytes);
      return result;
    case Type::Kind::SparseTensor:
      result.sparse = std::make_unique<SparseTensor>(tensors_.sparseTensor(bytes));
      return result;
    case Type::Kind::Sequence:
      result.elements = sequence(bytes, depth + 1);
      return result;
    case Type::Kind::Map:
      readMap(bytes, depth + 1, result);
      return result;
    case Type::Kind::Optional:
      return optional(bytes, depth + 1);
    case Type::Kind::None:
    case Type::Kind::Opaque:
      break;
    }
    throw Error(fmt::format("{}: no file can hold a value of this type", source_.path));
  }

private:
  // What the fields of a sequence or an optional hold; None if it is something else.
  static Type::Kind kindOfField(uint32_t field) {
    switch (field) {
    case 3:
      return Type::Kind::Tensor;
    case 4:
      return Type::Kind::SparseTensor;
    case 5:
      return Type::Kind::Sequence;
    case 6:
      return Type::Kind::Map;
    case 7:
      return Type::Kind::Optional;
    default:
      return Type::Kind::None;
    }
  }

  std::vector<Value> sequence(std::string_view bytes, int depth) {
    std::vector<Value> elements;
    MessageReader reader = tensors_.nestedPart(bytes, "SequenceProto", depth, "values");
    while (reader.next()) {
      Type::Kind kind = kindOfField(reader.field());
      if (kind == Type::Kind::None)
        reader.skip();
      else
        elements.push_back(value(reader.bytes(), kind, depth));
    }
    return elements;
  }

  Value optional(std::string_view bytes, int depth) {
    Value result;
    MessageReader reader = tensors_.nestedPart(bytes, "OptionalProto", depth, "values");
    while (reader.next()) {
      Type::Kind kind = kindOfField(reader.field());
      if (kind == Type::Kind::None)
        reader.skip();
      else
        result = value(reader.onlyBytes(result.kind != Type::Kind::None), kind, depth);
    }
    return result;
  }

  void readMap(std::string_view bytes, int depth, Value &result) {
    MessageReader reader = tensors_.nestedPart(bytes, "MapProto", depth, "values");
    while (reader.next()) {
      switch (reader.field()) {
      case 3:
        reader.append(result.keys);
        break;
      case 4:
        result.stringKeys.push_back(reader.bytes());
        break;
      case 5:
        result.elements = sequence(reader.onlyBytes(!result.elements.empty()), depth + 1);
        break;
      default:
        reader.skip();
      }
    }
    if (result.keys.size() + result.stringKeys.size() != result.elements.size())
      throw Error(fmt::format("{}: a map has {} keys, but {} values", reader.place(),
                              result.keys.size() + result.stringKeys.size(),
                              result.elements.size()));
  }

  const Source &source_;
  TensorReader tensors_;
};

} // namespace

Value readValue(const Source &source, Type::Kind kind) {
  return ValueReader(source).value(source.bytes, kind, 0);
}

} // namespace tokamak::onnx
