#include "frontend/onnx/file/TypeText.h"

#include "frontend/onnx/file/QuotedName.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::onnx {

static std::string sizeText(const Dimension &dimension) {
  if (const auto *size = std::get_if<int64_t>(&dimension))
    return *size > 0 ? std::to_string(*size) : "?";
  const auto *name = std::get_if<std::string_view>(&dimension);
  return name ? printableName(*name) : "?";
}

std::string typeText(const Type &type) {
  if (type.kind != Type::Kind::Tensor)
    return "no tensor";
  if (!type.shape)
    return nameOf(type.dataType) + " of unknown rank";
  std::vector<std::string> sizes;
  for (const Dimension &dimension : *type.shape)
    sizes.push_back(sizeText(dimension));
  return fmt::format("{} [{}]", nameOf(type.dataType), fmt::join(sizes, ", "));
}

} // namespace tokamak::onnx
