// Which part of a model defines a name, in graphs within graphs: a name that an inner graph defines
// hides the same name of an outer one until the inner graph ends.
//
//   NameTable names;
//   names.enterGraph();
//   names.define("x", {.kind = Definition::Kind::Input});
//   names.find("x")->kind == Definition::Kind::Input
//   names.leaveGraph();
//
// It is an ordered map and not a hash table: a file can be made so that all its names collide.
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_NAMETABLE_H
#define TOKAMAK_FRONTEND_ONNX_FILE_NAMETABLE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

namespace tokamak::onnx {

struct Definition {
  enum class Kind : uint8_t { None, Input, Initializer, Node };
  Kind kind = Kind::None;
  int depth = 0;    // of the graph, from 1: set by NameTable
  size_t index = 0; // of the node among those of its graph
};

class NameTable {
public:
  void enterGraph() { undo_.emplace_back(); }
  // Takes back what the innermost graph defined.
  void leaveGraph();
  int depth() const { return static_cast<int>(undo_.size()); }

  // Null if no graph around defines the name. Valid until the table changes.
  const Definition *find(std::string_view name) const;
  // What the name means from now on, until the innermost graph ends.
  void define(std::string_view name, Definition definition);

  // All names that can be seen.
  auto names() const { return std::views::keys(names_); }

private:
  using Names = std::map<std::string_view, Definition>;
  Names names_;
  // By graph, outermost first: what its definitions replaced.
  std::vector<std::vector<std::pair<Names::iterator, Definition>>> undo_;
};

} // namespace tokamak::onnx
#endif
