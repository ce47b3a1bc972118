#include "frontend/onnx/file/DataType.h"

#include <fmt/format.h>

namespace tokamak::onnx {
namespace {

struct Row {
  const char *name;
  int bits;
  std::optional<ElementType> same, widened;
};

constexpr auto none = std::nullopt;

// In the order of the enumeration.
constexpr Row rows[] = {
    {"no type", 0, none, none},
    {"float", 32, ElementType::F32, ElementType::F32},
    {"uint8", 8, ElementType::U8, ElementType::U8},
    {"int8", 8, ElementType::I8, ElementType::I8},
    {"uint16", 16, ElementType::U16, ElementType::U16},
    {"int16", 16, ElementType::I16, ElementType::I16},
    {"int32", 32, ElementType::I32, ElementType::I32},
    {"int64", 64, ElementType::I64, ElementType::I64},
    {"string", 0, none, none},
    {"bool", 8, ElementType::Bool, ElementType::Bool},
    {"float16", 16, ElementType::F16, ElementType::F16},
    {"double", 64, ElementType::F64, ElementType::F64},
    {"uint32", 32, ElementType::U32, ElementType::U32},
    {"uint64", 64, ElementType::U64, ElementType::U64},
    {"complex64", 64, none, ElementType::F32},
    {"complex128", 128, none, ElementType::F64},
    {"bfloat16", 16, ElementType::BF16, ElementType::BF16},
    {"float8e4m3fn", 8, none, ElementType::F16},
    {"float8e4m3fnuz", 8, none, ElementType::F16},
    {"float8e5m2", 8, none, ElementType::F16},
    {"float8e5m2fnuz", 8, none, ElementType::F16},
    {"uint4", 4, none, ElementType::U8},
    {"int4", 4, none, ElementType::I8},
    {"float4e2m1", 4, none, ElementType::F16},
    {"float8e8m0", 8, none, ElementType::BF16},
    {"uint2", 2, none, ElementType::U8},
    {"int2", 2, none, ElementType::I8},
    {"float6e2m3", 6, none, ElementType::F16},
    {"float6e3m2", 6, none, ElementType::F16},
};

const Row &rowOf(DataType type) { return rows[isKnown(type) ? static_cast<int>(type) : 0]; }

} // namespace

std::string nameOf(DataType type) {
  return isKnown(type) || type == DataType::Undefined
             ? rowOf(type).name
             : fmt::format("type {}", static_cast<int>(type));
}

int bitsOf(DataType type) { return rowOf(type).bits; }

std::optional<ElementType> elementTypeOf(DataType type) { return rowOf(type).same; }

std::optional<ElementType> widenedElementTypeOf(DataType type) { return rowOf(type).widened; }

bool isNarrow(DataType type) {
  return widenedElementTypeOf(type) && !elementTypeOf(type) && !isComplex(type);
}

std::optional<ElementType> heldElementTypeOf(DataType type) {
  return isComplex(type) ? std::nullopt : widenedElementTypeOf(type);
}

} // namespace tokamak::onnx
