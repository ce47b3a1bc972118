#include "frontend/onnx/file/NameTable.h"

namespace tokamak::onnx {

void NameTable::leaveGraph() {
  std::vector<std::pair<Names::iterator, Definition>> replaced = std::move(undo_.back());
  undo_.pop_back();
  if (undo_.empty())
    return names_.clear(); // faster than name by name
  for (size_t i = replaced.size(); i-- > 0;) {
    auto [position, before] = replaced[i];
    if (before.kind == Definition::Kind::None)
      names_.erase(position);
    else
      position->second = before;
  }
}

const Definition *NameTable::find(std::string_view name) const {
  auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

void NameTable::define(std::string_view name, Definition definition) {
  definition.depth = depth();
  auto [position, isNew] = names_.try_emplace(name);
  undo_.back().emplace_back(position, std::exchange(position->second, definition));
}

} // namespace tokamak::onnx
