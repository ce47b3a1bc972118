// The sizes that a user says arguments are going to have: `--shape X=?x100 --shape y=Nx1 --shape k=5`.
//
//   std::vector<std::string> texts = {"X=Nx100", "y=Nx1"}, names = {"X", "y"};
//   ExpectedShapes shapes(texts);
//   std::vector<Size> sizes = shapes.of("X", 2);      // a symbol for N, 100
//   shapes.checkNames(names);                         // throws Error if one of the names is none of these
//
// A size is a number, `?` for any, LOW..HIGH, or a name that stands for the same size wherever it is written. What is not
// given is `?`. Nothing relies on them: a compiled function takes arguments of all sizes, and is fast for those expected.
#ifndef TOKAMAK_AOT_EXPECTEDSHAPES_H
#define TOKAMAK_AOT_EXPECTEDSHAPES_H

#include "base/Size.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tokamak::aot {

class ExpectedShapes {
public:
  // Throws Error that shows what is wrong in which of the texts.
  explicit ExpectedShapes(std::span<const std::string> texts);
  // Symbols are numbered from 0 through all calls.
  std::vector<Size> of(const std::string &parameter, int rank);
  // What a file says of a dimension: its size, a name for it, or, with neither, nothing.
  struct Declared {
    int64_t size = -1;
    std::string name = {};
  };
  // The same where sizes that aren't given are those that are declared. Throws Error if a size that is given is not the one that
  // is declared.
  std::vector<Size> of(const std::string &parameter, std::span<const Declared> declared);
  void checkNames(std::span<const std::string> parameters) const;

private:
  // Of a size that is no number: its symbol, once it has one.
  struct Part {
    std::string name; // empty: none
    Size::Range range;
    bool isConstant() const { return range.low == range.high; }
  };
  Size sizeOf(const Part &part, int64_t usual);
  // Those that are given; null if there are none. Throws Error if they are not as many.
  const std::vector<Part> *given(const std::string &parameter, size_t count,
                                 const std::string &expected);

  std::map<std::string, std::vector<Part>> parts_;
  std::map<std::string, std::string> texts_; // by parameter, as given
  std::map<std::string, Size> named_;
  int64_t symbols_ = 0;
};

} // namespace tokamak::aot
#endif
