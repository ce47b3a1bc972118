// The fields of a TensorProto that hold cells as numbers or strings: float_data, int32_data …. They
// stay in the file until they are asked for; a field may stand there many times, with one number or
// with many each time.
//
//   if (countTyped(tensor) == 3)
//     visitTyped(tensor, [&](uint64_t bits) { numbers.push_back(bits); });
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_TYPEDFIELDS_H
#define TOKAMAK_FRONTEND_ONNX_FILE_TYPEDFIELDS_H

#include "frontend/onnx/file/Model.h"

#include <protozero/pbf_reader.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tokamak::onnx {

// The numbers of these fields.
constexpr uint32_t floatData = 4, int32Data = 5, stringData = 6, int64Data = 7, doubleData = 10,
                   uint64Data = 11;

// The field in which cells of a known type stand, and its name.
uint32_t typedFieldOf(DataType type);
const char *nameOfField(uint32_t field);

// How many cells a number of the field holds: two of four bits, four of two bits, else one.
int cellsPerNumber(DataType type);

// How many numbers or strings the field has that is right for the tensor's type; nothing if its
// bytes are no protobuf. The functions below need a tensor for which there is an answer.
std::optional<int64_t> countTyped(const Tensor &tensor);

// The first number of the field that no cell of the tensor's type can be.
std::optional<int64_t> misfitOf(const Tensor &tensor);

std::vector<std::string_view> stringsOf(const Tensor &tensor);

// Calls visit(bits) for each number of the field, widened to 64 bits: integers keep their sign,
// floats and doubles are as IEEE 754 writes them.
template <typename Visit> void visitTyped(const Tensor &tensor, const Visit &visit) {
  uint32_t field = typedFieldOf(tensor.dataType);
  protozero::pbf_reader reader(tensor.message.data(), tensor.message.size());
  while (reader.next(field)) {
    bool isPacked = reader.wire_type() == protozero::pbf_wire_type::length_delimited;
    auto visitAll = [&](auto numbers) {
      for (auto number : numbers)
        visit(static_cast<uint64_t>(number));
    };
    if (field == floatData)
      isPacked ? visitAll(reader.get_packed_fixed32()) : visit(uint64_t{reader.get_fixed32()});
    else if (field == doubleData)
      isPacked ? visitAll(reader.get_packed_fixed64()) : visit(uint64_t{reader.get_fixed64()});
    else
      isPacked ? visitAll(reader.get_packed_uint64()) : visit(uint64_t{reader.get_uint64()});
  }
}

} // namespace tokamak::onnx
#endif
