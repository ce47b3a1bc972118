// The message of an ONNX model as a tree that can be changed: fields in the order of the file, messages in messages.
//
//   Field model = readMessage(bytes, MessageKind::Model);
//   for (Field *graph : fieldsOf(model, 7))
//     graph->fields.pop_back();
//   std::string changed = bytesOf(model);
//
// Only what a reader of models looks at is taken apart; the rest are bytes. Lists of integers are a field for each.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_MESSAGETREE_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_MESSAGETREE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::fuzz {

enum class MessageKind : uint8_t {
  None, // no message
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  ValueInfo,
  Type,
  TensorType,
  ElementOf, // of a sequence or an optional
  Shape,
  Dimension,
  OperatorSet,
  Function,
};

struct Field {
  enum class Form : uint8_t { Integer, Word, LongWord, Bytes, Message };
  uint32_t number = 0; // that of onnx.proto; 0 for the model itself
  Form form = Form::Integer;
  uint64_t integer = 0; // of an integer and of words
  std::string bytes = {};
  MessageKind kind = MessageKind::None;
  std::vector<Field> fields = {}; // of a message
};

// Throws protozero::exception where the bytes are no message.
Field readMessage(std::string_view bytes, MessageKind kind);
std::string bytesOf(const Field &message);

// Those with this number, and the first of them; null if there is none.
std::vector<Field *> fieldsOf(Field &message, uint32_t number);
Field *fieldOf(Field &message, uint32_t number);
// "" if there is none.
std::string textOf(Field &message, uint32_t number);
Field bytesField(uint32_t number, std::string bytes);

} // namespace tokamak::fuzz
#endif
