// Reads the fields of a protobuf message with protozero, which checks bounds, and checks what it
// leaves to its user: that a field has the wire type of its kind, that lengths don't overflow, and
// where in the file a mistake stands.
//
//   MessageReader reader(source, source.bytes, "TensorProto");
//   while (reader.next())
//     if (reader.field() == 8)
//       name = reader.bytes();
//     else
//       reader.skip();
//
// All functions throw Error: "model.onnx: byte 17: broken protobuf: field 8 of TensorProto …".
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_MESSAGEREADER_H
#define TOKAMAK_FRONTEND_ONNX_FILE_MESSAGEREADER_H

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::onnx {

// The bytes of a file and the name under which messages mention it.
struct Source {
  std::string path;
  std::string_view bytes;
};

class MessageReader {
public:
  // `bytes` lie within the source's; `name` is that of the kind of message and outlives the reader.
  MessageReader(const Source &source, std::string_view bytes, const char *name);

  // Goes on to the next field, if there is one. The field before must have been read or skipped.
  bool next();
  uint32_t field() const { return field_; }
  void skip();

  // The value of the field.
  int64_t integer();        // int32, int64 and enumerations
  float single();           // float
  std::string_view bytes(); // bytes, strings and messages
  // For fields with messages, of which protobuf would merge several: fails if one stood before.
  void checkOnly(bool stoodBefore) const;
  std::string_view onlyBytes(bool stoodBefore);
  // The values of a repeated field, one of them or many that are packed.
  void append(std::vector<int64_t> &to);
  void append(std::vector<float> &to);

  // Throws Error: what is wrong with the field.
  [[noreturn]] void fail(const std::string &problem) const;
  // "model.onnx: byte 17": the file and where the field begins in it.
  std::string place() const;

private:
  bool isPacked() const {
    return reader_.wire_type() == protozero::pbf_wire_type::length_delimited;
  }
  void expect(protozero::pbf_wire_type type) const;
  void checkLength() const;
  template <typename Read> auto guarded(const Read &read) const;

  const Source &source_;
  const char *name_;
  protozero::pbf_reader reader_;
  const char *start_; // of the field
  uint32_t field_ =
      0; // where assertions are on, protozero forgets the number of a field that was read
};

} // namespace tokamak::onnx
#endif
