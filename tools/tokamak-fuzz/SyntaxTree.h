// A program's text as a tree: the generator builds it, the shrinker removes parts of it.
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
    Text,      // text without a type
    Statement, // on separate lines
    Sequence,  // of statements
  };
  Kind kind = Kind::Text;
  // In the pattern, `@` stands for the next child and `@@` for a literal `@`.
  std::string pattern;
  std::vector<Node> children;
  // For a matrix, its sizes, negative if known only at run time; for a size, its value in `rows`.
  int64_t rows = 0, columns = 0;
};

Node matrix(std::string pattern, int64_t rows, int64_t columns, std::vector<Node> children = {});
Node scalar(std::string pattern, std::vector<Node> children = {});
Node size(int64_t value);
Node text(std::string pattern, std::vector<Node> children = {});
Node statement(std::string pattern, std::vector<Node> children = {});
Node sequence(std::vector<Node> statements);

// Renders the text: each statement of a sequence is on its own line; nested statements are
// indented.
std::string render(const Node &node);

// All nodes of the tree in pre-order (parents first).
std::vector<Node *> nodesOf(Node &root);

} // namespace tokamak::fuzz
#endif
