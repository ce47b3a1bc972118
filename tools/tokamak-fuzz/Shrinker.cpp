#include "tokamak-fuzz/Shrinker.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tokamak::fuzz {
namespace {

constexpr size_t mostLiteralCells = 24;

bool isExpression(const Node &node) {
  return node.kind == Node::Kind::Matrix || node.kind == Node::Kind::Scalar;
}

class Shrinker {
public:
  Shrinker(Node program, const std::function<bool(const std::string &)> &fails,
           const ShrinkLimits &limits)
      : program_(std::move(program)), fails_(fails), limits_(limits),
        end_(std::chrono::steady_clock::now() + limits.time) {}

  Node run() {
    bool changed = true;
    while (changed && !isOver()) {
      changed = removeStatements();
      changed |= unwrapStatements();
      changed |= simplifyExpressions();
      changed |= reduceSizes();
      changed |= writeCells();
    }
    return std::move(program_);
  }

private:
  bool isOver() const { return std::chrono::steady_clock::now() > end_; }

  // Accepts the candidate if it still fails.
  bool accept(Node candidate) {
    if (isOver() || !fails_(render(candidate)))
      return false;
    program_ = std::move(candidate);
    return true;
  }

  // Tries the program with node number `index` changed.
  template <typename Change> bool tryChange(size_t index, Change change) {
    Node candidate = program_;
    if (!change(*nodesOf(candidate)[index]))
      return false;
    return accept(std::move(candidate));
  }

  bool removeStatements() {
    bool changed = false;
    for (size_t i = 0; i < nodesOf(program_).size(); ++i) {
      if (nodesOf(program_)[i]->kind != Node::Kind::Sequence)
        continue;
      for (size_t length = nodesOf(program_)[i]->children.size(); length > 0; length /= 2) {
        // From the end, because later definitions have fewer uses.
        size_t at = nodesOf(program_)[i]->children.size();
        while (at > 0) {
          size_t begin = at > length ? at - length : 0;
          changed |= tryChange(i, [&](Node &sequence) {
            auto first = sequence.children.begin();
            sequence.children.erase(first + begin, first + std::min(at, sequence.children.size()));
            return true;
          });
          at = begin;
        }
      }
    }
    return changed;
  }

  // Replaces an `if` or a loop by the statements of one of its bodies.
  bool unwrapStatements() {
    bool changed = false;
    for (size_t i = 0; i < nodesOf(program_).size(); ++i) {
      Node *sequence = nodesOf(program_)[i];
      if (sequence->kind != Node::Kind::Sequence)
        continue;
      for (size_t k = 0; k < nodesOf(program_)[i]->children.size(); ++k) {
        Node statement = nodesOf(program_)[i]->children[k];
        for (const Node &body : statement.children) {
          if (body.kind != Node::Kind::Sequence)
            continue;
          bool done = tryChange(i, [&](Node &outer) {
            outer.children.erase(outer.children.begin() + k);
            outer.children.insert(outer.children.begin() + k, body.children.begin(),
                                  body.children.end());
            return true;
          });
          changed |= done;
          if (done)
            break;
        }
      }
    }
    return changed;
  }

  bool simplifyExpressions() {
    bool changed = false;
    for (size_t i = 0; i < nodesOf(program_).size(); ++i)
      while (isExpression(*nodesOf(program_)[i]) && simplifyExpression(i))
        changed = true;
    return changed;
  }

  bool simplifyExpression(size_t index) {
    Node original = *nodesOf(program_)[index];
    std::vector<Node> replacements = simpleForms(original);
    std::vector<Node *> inside = nodesOf(original);
    for (size_t k = 1; k < inside.size(); ++k)
      if (inside[k]->kind == original.kind)
        replacements.push_back(*inside[k]);
    for (const Node &replacement : replacements) {
      if (render(replacement).size() >= render(original).size())
        continue;
      if (tryChange(index, [&](Node &node) {
            node = replacement;
            return true;
          }))
        return true;
    }
    return false;
  }

  static std::vector<Node> simpleForms(const Node &node) {
    if (node.kind == Node::Kind::Scalar)
      return {scalar("0"), scalar("1"), scalar("2")};
    if (node.rows < 0 || node.columns < 0)
      return {};
    std::vector<Node> forms;
    for (const char *cell : {"0", "1", "2"})
      forms.push_back(matrix(fmt::format("matrix({}, @, @)", cell), node.rows, node.columns,
                             {size(node.rows), size(node.columns)}));
    return forms;
  }

  // Reduces all sizes of the same value together.
  bool reduceSizes() {
    bool changed = false;
    std::set<int64_t, std::greater<>> values;
    for (Node *node : nodesOf(program_))
      if (node->kind == Node::Kind::Size && node->rows > 1)
        values.insert(node->rows);
    for (int64_t value : values) {
      for (int64_t smaller : {int64_t{1}, int64_t{2}, int64_t{3}, value / 2, value - 1}) {
        if (smaller >= value)
          continue;
        Node candidate = program_;
        for (Node *node : nodesOf(candidate)) {
          bool sized = node->kind == Node::Kind::Size || node->kind == Node::Kind::Matrix;
          if (sized && node->rows == value)
            node->rows = smaller;
          if (sized && node->columns == value)
            node->columns = smaller;
        }
        if (accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  // Replaces a small random matrix by its cells, as numbers that can be simplified.
  bool writeCells() {
    bool changed = false;
    for (size_t i = 0; i < nodesOf(program_).size(); ++i) {
      Node node = *nodesOf(program_)[i];
      if (node.kind != Node::Kind::Matrix || node.pattern.find("rand(") == std::string::npos)
        continue;
      std::optional<std::vector<double>> cells;
      if (limits_.cellsOf && !isOver())
        cells = limits_.cellsOf(render(node));
      if (!cells || cells->empty() || cells->size() > mostLiteralCells)
        continue;
      Node literal = matrix("matrix(\"", node.rows, node.columns);
      for (double cell : *cells) {
        literal.pattern += literal.children.empty() ? "@" : " @";
        literal.children.push_back(scalar(fmt::format("{}", cell)));
      }
      literal.pattern += "\", @, @)";
      literal.children.push_back(size(node.rows));
      literal.children.push_back(size(node.columns));
      changed |= tryChange(i, [&](Node &place) {
        place = literal;
        return true;
      });
    }
    return changed;
  }

  Node program_;
  const std::function<bool(const std::string &)> &fails_;
  const ShrinkLimits &limits_;
  std::chrono::steady_clock::time_point end_;
};

} // namespace

Node shrink(Node program, const std::function<bool(const std::string &)> &fails,
            const ShrinkLimits &limits) {
  return Shrinker(std::move(program), fails, limits).run();
}

} // namespace tokamak::fuzz
