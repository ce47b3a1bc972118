// A program's text as a tree: what the generator makes, and what the shrinker cuts pieces out of.
//
//   Node sum = matrix("(@ + @)", rows, columns, {x, y});   // each @ stands for a child, in order
//   Node assignment = statement("x3 = @", {sum});
//   render(sequence({assignment})) == "x3 = (x1 + x2)\n"
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_SYNTAXTREE_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_SYNTAXTREE_H

#include <cstdint>
#include <string>
#include <vector>

namespace tokamak::fuzz {

struct Node {
  enum class Kind : uint8_t {
    Matrix,
    Scalar,
    Size,      // a literal that is a number of rows or columns
    Text,      // a part of no type
    Statement, // on lines of its own
    Sequence,  // of statements
  };
  Kind kind = Kind::Text;
  std::string pattern;
  std::vector<Node> children;
  // In a pattern `@` stands for the next child and `@@` for itself.
  // Of a matrix: its sizes, negative where only the run tells; of a size: its value.
  int64_t rows = 0, columns = 0;
};

Node matrix(std::string pattern, int64_t rows, int64_t columns, std::vector<Node> children = {});
Node scalar(std::string pattern, std::vector<Node> children = {});
Node size(int64_t value);
Node text(std::string pattern, std::vector<Node> children = {});
Node statement(std::string pattern, std::vector<Node> children = {});
Node sequence(std::vector<Node> statements);

// Sequences put each statement on a line; those inside of a statement are indented.
std::string render(const Node &node);

// Every node of the tree, outer ones first.
std::vector<Node *> nodesOf(Node &root);

} // namespace tokamak::fuzz
#endif
