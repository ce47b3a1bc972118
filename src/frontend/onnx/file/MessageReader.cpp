#include "frontend/onnx/file/MessageReader.h"

#include "base/Error.h"

#include <fmt/format.h>

using protozero::pbf_wire_type;

namespace tokamak::onnx {

MessageReader::MessageReader(const Source &source, std::string_view bytes, const char *name)
    : source_(source), name_(name), reader_(bytes.data(), bytes.size()), start_(bytes.data()) {}

void MessageReader::fail(const std::string &problem) const {
  throw Error(
      fmt::format("{}: broken protobuf: field {} of {} {}", place(), field(), name_, problem));
}

std::string MessageReader::place() const {
  return fmt::format("{}: byte {}", source_.path, start_ - source_.bytes.data());
}

template <typename Read> auto MessageReader::guarded(const Read &read) const {
  try {
    return read();
  } catch (const protozero::end_of_buffer_exception &) {
    fail("ends after its message");
  } catch (const protozero::varint_too_long_exception &) {
    fail("has a number of more than 10 bytes");
  } catch (const protozero::invalid_length_exception &) {
    fail("has a length that is no multiple of its numbers' size");
  }
}

bool MessageReader::next() {
  start_ = reader_.data().data();
  try {
    bool isThere = reader_.next();
    field_ = reader_.tag();
    return isThere;
  } catch (const protozero::invalid_tag_exception &) {
    field_ = reader_.tag();
    fail("has a number that no field may have");
  } catch (const protozero::unknown_pbf_wire_type_exception &) {
    field_ = reader_.tag();
    fail("has a wire type that there isn't");
  } catch (const protozero::exception &) {
    throw Error(
        fmt::format("{}: broken protobuf: {} ends within the number of a field", place(), name_));
  }
}

void MessageReader::expect(pbf_wire_type type) const {
  if (reader_.wire_type() != type)
    fail(fmt::format("has wire type {}, not {}", static_cast<int>(reader_.wire_type()),
                     static_cast<int>(type)));
}

// protozero keeps the lower 32 bits of a length.
void MessageReader::checkLength() const {
  guarded([&] {
    const char *at = reader_.data().data(), *end = at + reader_.length();
    uint64_t length = protozero::decode_varint(&at, end);
    if (length > static_cast<uint64_t>(end - at))
      throw protozero::end_of_buffer_exception();
    if (length > UINT32_MAX)
      fail("is longer than 4 GiB, the most that protobuf allows");
  });
}

void MessageReader::skip() {
  if (isPacked())
    checkLength();
  guarded([&] { reader_.skip(); });
}

int64_t MessageReader::integer() {
  expect(pbf_wire_type::varint);
  return guarded([&] { return reader_.get_int64(); });
}

float MessageReader::single() {
  expect(pbf_wire_type::fixed32);
  return guarded([&] { return reader_.get_float(); });
}

std::string_view MessageReader::bytes() {
  expect(pbf_wire_type::length_delimited);
  checkLength();
  protozero::data_view view = reader_.get_view();
  return {view.data(), view.size()};
}

void MessageReader::checkOnly(bool stoodBefore) const {
  if (stoodBefore)
    fail("stands a second time");
}

std::string_view MessageReader::onlyBytes(bool stoodBefore) {
  checkOnly(stoodBefore);
  return bytes();
}

void MessageReader::append(std::vector<int64_t> &to) {
  if (!isPacked()) {
    to.push_back(integer());
    return;
  }
  checkLength();
  guarded([&] {
    for (int64_t value : reader_.get_packed_int64())
      to.push_back(value);
  });
}

void MessageReader::append(std::vector<float> &to) {
  if (!isPacked()) {
    to.push_back(single());
    return;
  }
  checkLength();
  guarded([&] {
    for (float value : reader_.get_packed_float())
      to.push_back(value);
  });
}

} // namespace tokamak::onnx
