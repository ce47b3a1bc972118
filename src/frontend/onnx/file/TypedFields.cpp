#include "frontend/onnx/file/TypedFields.h"

#include "base/Error.h"

using protozero::pbf_wire_type;

namespace tokamak::onnx {
namespace {

pbf_wire_type wireTypeOf(uint32_t field) {
  switch (field) {
  case floatData:
    return pbf_wire_type::fixed32;
  case doubleData:
    return pbf_wire_type::fixed64;
  case stringData:
    return pbf_wire_type::length_delimited;
  default:
    return pbf_wire_type::varint;
  }
}

int64_t countPacked(uint32_t field, protozero::pbf_reader &reader) {
  switch (field) {
  case floatData:
    return static_cast<int64_t>(reader.get_packed_fixed32().size());
  case doubleData:
    return static_cast<int64_t>(reader.get_packed_fixed64().size());
  default:
    int64_t count = 0;
    for ([[maybe_unused]] uint64_t number : reader.get_packed_uint64())
      ++count; // looks at each number, unlike size()
    return count;
  }
}

} // namespace

uint32_t typedFieldOf(DataType type) {
  switch (type) {
  case DataType::Float:
  case DataType::Complex64:
    return floatData;
  case DataType::Double:
  case DataType::Complex128:
    return doubleData;
  case DataType::String:
    return stringData;
  case DataType::Int64:
    return int64Data;
  case DataType::UInt32:
  case DataType::UInt64:
    return uint64Data;
  default:
    return int32Data;
  }
}

const char *nameOfField(uint32_t field) {
  switch (field) {
  case floatData:
    return "float_data";
  case int32Data:
    return "int32_data";
  case stringData:
    return "string_data";
  case int64Data:
    return "int64_data";
  case doubleData:
    return "double_data";
  case uint64Data:
    return "uint64_data";
  default:
    internalError("there are no cells in this field");
  }
}

int cellsPerNumber(DataType type) {
  switch (type) {
  case DataType::Int4:
  case DataType::UInt4:
  case DataType::Float4E2M1:
    return 2;
  case DataType::Int2:
  case DataType::UInt2:
    return 4;
  default:
    return 1;
  }
}

std::optional<int64_t> countTyped(const Tensor &tensor) {
  uint32_t field = typedFieldOf(tensor.dataType);
  protozero::pbf_reader reader(tensor.message.data(), tensor.message.size());
  int64_t count = 0;
  try {
    while (reader.next(field)) {
      bool isPacked = field != stringData && reader.wire_type() == pbf_wire_type::length_delimited;
      if (!isPacked && reader.wire_type() != wireTypeOf(field))
        return std::nullopt;
      if (!isPacked)
        reader.skip();
      count += isPacked ? countPacked(field, reader) : 1;
    }
  } catch (const protozero::exception &) {
    return std::nullopt;
  }
  return count;
}

std::optional<int64_t> misfitOf(const Tensor &tensor) {
  DataType type = tensor.dataType;
  uint32_t field = typedFieldOf(type);
  bool isBounded = field == int32Data || type == DataType::UInt32;
  if (!isBounded || type == DataType::Int32 || type == DataType::Bool) // of which all but 0 is true
    return std::nullopt;
  std::optional<ElementType> element = elementTypeOf(type);
  // Other types than integers stand there as bits, which some writers extend by the sign.
  int bits = cellsPerNumber(type) == 1 ? bitsOf(type) : 8;
  bool mayBeNegative = !element || !isUnsignedInteger(*element);
  bool mayBeLarge = !element || !isSignedInteger(*element);
  int64_t least = mayBeNegative ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t largest = (int64_t{1} << (mayBeLarge ? bits : bits - 1)) - 1;
  std::optional<int64_t> misfit;
  visitTyped(tensor, [&](uint64_t number) {
    auto integer = static_cast<int64_t>(number);
    if (!misfit && (integer < least || integer > largest))
      misfit = integer;
  });
  return misfit;
}

std::vector<std::string_view> stringsOf(const Tensor &tensor) {
  std::vector<std::string_view> strings;
  protozero::pbf_reader reader(tensor.message.data(), tensor.message.size());
  while (reader.next(stringData)) {
    protozero::data_view view = reader.get_view();
    strings.emplace_back(view.data(), view.size());
  }
  return strings;
}

} // namespace tokamak::onnx
