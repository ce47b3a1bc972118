#include "tokamak-fuzz/MessageTree.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace tokamak::fuzz {
namespace {

struct Part {
  MessageKind owner;
  uint32_t number;
  MessageKind kind;
};

// The messages in messages.
constexpr Part parts[] = {
    {MessageKind::Model, 7, MessageKind::Graph},
    {MessageKind::Model, 8, MessageKind::OperatorSet},
    {MessageKind::Model, 25, MessageKind::Function},
    {MessageKind::Graph, 1, MessageKind::Node},
    {MessageKind::Graph, 5, MessageKind::Tensor},
    {MessageKind::Graph, 11, MessageKind::ValueInfo},
    {MessageKind::Graph, 12, MessageKind::ValueInfo},
    {MessageKind::Graph, 13, MessageKind::ValueInfo},
    {MessageKind::Node, 5, MessageKind::Attribute},
    {MessageKind::Attribute, 5, MessageKind::Tensor},
    {MessageKind::Attribute, 6, MessageKind::Graph},
    {MessageKind::Attribute, 10, MessageKind::Tensor},
    {MessageKind::Attribute, 11, MessageKind::Graph},
    {MessageKind::ValueInfo, 2, MessageKind::Type},
    {MessageKind::Type, 1, MessageKind::TensorType},
    {MessageKind::Type, 4, MessageKind::ElementOf},
    {MessageKind::Type, 9, MessageKind::ElementOf},
    {MessageKind::TensorType, 2, MessageKind::Shape},
    {MessageKind::ElementOf, 1, MessageKind::Type},
    {MessageKind::Shape, 1, MessageKind::Dimension},
    {MessageKind::Function, 7, MessageKind::Node},
    {MessageKind::Function, 9, MessageKind::OperatorSet},
    {MessageKind::Function, 11, MessageKind::Attribute},
};

MessageKind kindOf(MessageKind owner, uint32_t number) {
  for (const Part &part : parts)
    if (part.owner == owner && part.number == number)
      return part.kind;
  return MessageKind::None;
}

// Whether bytes of this field are integers one after the other: ints of attributes, sizes and cells of tensors.
bool areIntegers(MessageKind owner, uint32_t number) {
  return (owner == MessageKind::Attribute && number == 8) ||
         (owner == MessageKind::Tensor && (number == 1 || number == 5 || number == 7));
}

void readBytes(Field &owner, uint32_t number, std::string_view bytes) {
  if (areIntegers(owner.kind, number)) {
    const char *at = bytes.data(), *end = at + bytes.size();
    while (at < end)
      owner.fields.push_back({number, Field::Form::Integer, protozero::decode_varint(&at, end)});
  } else if (MessageKind kind = kindOf(owner.kind, number); kind != MessageKind::None) {
    owner.fields.push_back(readMessage(bytes, kind));
    owner.fields.back().number = number;
  } else {
    owner.fields.push_back(bytesField(number, std::string(bytes)));
  }
}

void write(protozero::pbf_writer &writer, const Field &field) {
  switch (field.form) {
  case Field::Form::Integer:
    return writer.add_uint64(field.number, field.integer);
  case Field::Form::Word:
    return writer.add_fixed32(field.number, static_cast<uint32_t>(field.integer));
  case Field::Form::LongWord:
    return writer.add_fixed64(field.number, field.integer);
  case Field::Form::Bytes:
    return writer.add_bytes(field.number, field.bytes);
  case Field::Form::Message:
    return writer.add_bytes(field.number, bytesOf(field));
  }
}

} // namespace

Field readMessage(std::string_view bytes, MessageKind kind) {
  Field message{0, Field::Form::Message};
  message.kind = kind;
  protozero::pbf_reader reader(bytes.data(), bytes.size());
  while (reader.next()) {
    uint32_t number = reader.tag();
    switch (reader.wire_type()) {
    case protozero::pbf_wire_type::varint:
      message.fields.push_back({number, Field::Form::Integer, reader.get_uint64()});
      break;
    case protozero::pbf_wire_type::fixed32:
      message.fields.push_back({number, Field::Form::Word, reader.get_fixed32()});
      break;
    case protozero::pbf_wire_type::fixed64:
      message.fields.push_back({number, Field::Form::LongWord, reader.get_fixed64()});
      break;
    default:
      protozero::data_view view = reader.get_view();
      readBytes(message, number, {view.data(), view.size()});
    }
  }
  return message;
}

std::string bytesOf(const Field &message) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const Field &field : message.fields)
    write(writer, field);
  return bytes;
}

std::vector<Field *> fieldsOf(Field &message, uint32_t number) {
  std::vector<Field *> found;
  for (Field &field : message.fields)
    if (field.number == number)
      found.push_back(&field);
  return found;
}

Field *fieldOf(Field &message, uint32_t number) {
  std::vector<Field *> found = fieldsOf(message, number);
  return found.empty() ? nullptr : found.front();
}

std::string textOf(Field &message, uint32_t number) {
  Field *field = fieldOf(message, number);
  return field ? field->bytes : "";
}

Field bytesField(uint32_t number, std::string bytes) {
  return {number, Field::Form::Bytes, 0, std::move(bytes)};
}

} // namespace tokamak::fuzz
