#include "tokamak-fuzz/SyntaxTree.h"

#include <utility>

namespace tokamak::fuzz {
namespace {

void renderInto(std::string &out, const Node &node, int indent) {
  if (node.kind == Node::Kind::Size) {
    out += std::to_string(node.rows);
    return;
  }
  if (node.kind == Node::Kind::Sequence) {
    for (const Node &child : node.children) {
      out.append(2 * indent, ' ');
      renderInto(out, child, indent);
      out += '\n';
    }
    return;
  }
  size_t next = 0;
  for (size_t i = 0; i < node.pattern.size(); ++i) {
    char c = node.pattern[i];
    bool twice = c == '@' && i + 1 < node.pattern.size() && node.pattern[i + 1] == '@';
    if (c != '@' || twice) {
      out += c;
      i += twice;
      continue;
    }
    const Node &child = node.children[next++];
    bool nested = child.kind == Node::Kind::Sequence;
    renderInto(out, child, nested ? indent + 1 : indent);
    if (nested)
      out.append(2 * indent, ' ');
  }
}

void collect(Node &node, std::vector<Node *> &into) {
  into.push_back(&node);
  for (Node &child : node.children)
    collect(child, into);
}

} // namespace

Node matrix(std::string pattern, int64_t rows, int64_t columns, std::vector<Node> children) {
  return {Node::Kind::Matrix, std::move(pattern), std::move(children), rows, columns};
}
Node scalar(std::string pattern, std::vector<Node> children) {
  return {Node::Kind::Scalar, std::move(pattern), std::move(children)};
}
Node size(int64_t value) { return {Node::Kind::Size, "", {}, value, 0}; }
Node text(std::string pattern, std::vector<Node> children) {
  return {Node::Kind::Text, std::move(pattern), std::move(children)};
}
Node statement(std::string pattern, std::vector<Node> children) {
  return {Node::Kind::Statement, std::move(pattern), std::move(children)};
}
Node sequence(std::vector<Node> statements) {
  return {Node::Kind::Sequence, "", std::move(statements)};
}

std::string render(const Node &node) {
  std::string out;
  renderInto(out, node, 0);
  return out;
}

std::vector<Node *> nodesOf(Node &root) {
  std::vector<Node *> nodes;
  collect(root, nodes);
  return nodes;
}

} // namespace tokamak::fuzz
