#include "frontend/onnx/file/ModelErrors.h"

#include "base/Error.h"
#include "frontend/onnx/file/QuotedName.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::onnx {

std::string placeOf(const Node &node, std::optional<int64_t> version) {
  std::string place = fmt::format("node {}", node.number);
  if (!node.name.empty())
    place += " " + quotedName(node.name);
  std::string operation = printableName(node.opType);
  if (!node.domain.empty())
    operation = printableName(node.domain) + "." + operation;
  return version ? fmt::format("{} ({}, opset {})", place, operation, *version)
                 : fmt::format("{} ({})", place, operation);
}

void ModelErrors::add(const std::string &place, const std::string &message,
                      const std::vector<std::string> &candidates) {
  if (areEnough())
    return;
  std::string text = path_ + ": ";
  if (!place.empty())
    text += place + ": ";
  text += message;
  if (!candidates.empty()) {
    std::vector<std::string> names;
    for (const std::string &candidate : candidates)
      names.push_back(quotedName(candidate));
    text += fmt::format("; did you mean {}?", fmt::join(names, " or "));
  }
  messages_.push_back(std::move(text));
}

void ModelErrors::throwIfAny() const {
  if (empty())
    return;
  std::string text = fmt::to_string(fmt::join(messages_, "\n"));
  if (areEnough())
    text += fmt::format("\n{}: there may be more mistakes than these {}", path_, most);
  throw Error(text);
}

} // namespace tokamak::onnx
