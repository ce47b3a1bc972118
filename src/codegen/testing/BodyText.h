// For the tests of loops: writes an operator in the text of the plan dialect. Types of cells, the axes
// that they run over and the kinds of axes follow from what is called.
//
//   BodyText body({"s0", "s1"});                                        // sizes of d0 and d1
//   BodyCell x = body.read(body.array("f32", {"s0", "s1"}), "d0, d1");
//   BodyCell sum = body.reduce("sum", x, {1}, "f64");
//   body.write(sum, body.result("f32", {"s0"}), "d0");
//   std::string text = body.text();                                     // func.func @body(...) { ... }
#ifndef TOKAMAK_CODEGEN_TESTING_BODYTEXT_H
#define TOKAMAK_CODEGEN_TESTING_BODYTEXT_H

#include <set>
#include <string>
#include <vector>

namespace tokamak::codegen {

struct BodyCell {
  std::string name;
  std::set<unsigned> axes;
  std::string element;
  std::string type() const;
};

class BodyText {
public:
  using Sizes = std::vector<std::string>;
  using Axes = std::vector<unsigned>;
  explicit BodyText(Sizes axes) : axes_(std::move(axes)), kinds_(axes_.size()) {}

  // The number of the operand or result.
  unsigned array(const std::string &element, const Sizes &sizes);
  unsigned scalar(const std::string &type);
  unsigned result(const std::string &element, const Sizes &sizes);

  // Maps are lists of places: "d0, d1 + d4 - 1, 0"; "s0" is the first of the indices.
  BodyCell read(unsigned operand, const std::string &map, const std::string &outside = "",
                const std::vector<BodyCell> &indices = {});
  BodyCell constant(const std::string &number, const std::string &element);
  BodyCell size(const std::string &size);
  BodyCell unary(const std::string &name, const BodyCell &x);
  // Of comparisons, `element` is the result's type.
  BodyCell binary(const std::string &name, const BodyCell &a, const BodyCell &b,
                  const std::string &element = "");
  BodyCell ifElse(const BodyCell &condition, const BodyCell &then, const BodyCell &otherwise);
  BodyCell cast(const BodyCell &x, const std::string &element);
  BodyCell reindex(const BodyCell &x, const std::string &map);
  BodyCell reduce(const std::string &kind, const BodyCell &x, const Axes &over,
                  const std::string &accumulator, const std::string &element = "");
  BodyCell scan(const std::string &kind, const BodyCell &x, unsigned axis,
                const std::string &accumulator);
  void write(const BodyCell &x, unsigned result, const std::string &map,
             const std::vector<BodyCell> &indices = {});

  std::string text() const;

private:
  struct Array {
    std::string type;
    std::string element;
    std::string sizes; // in brackets; empty for scalars
  };
  BodyCell define(const std::string &operation, std::set<unsigned> axes, std::string element,
                  const std::string &types);
  std::string mapOf(const std::string &places, size_t symbols) const;
  static Array arrayOf(const std::string &element, const Sizes &sizes);

  Sizes axes_;
  std::vector<std::string> kinds_;
  std::vector<Array> operands_, results_;
  std::string body_;
  int cells_ = 0;
};

} // namespace tokamak::codegen
#endif
