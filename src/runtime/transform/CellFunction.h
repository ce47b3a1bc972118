// The functions that `map` applies to the cells of a frame, written as lambda expressions of Java, as SystemDS has them:
//
//   CellFunction lower("x -> x.toLowerCase()");
//   CellFunctionValue word = std::string("AbC");
//   lower.call({&word, 1})                         // "abc"
//
// Values are texts, integers, doubles, booleans, characters, arrays of texts, and null for a missing cell. There are the operators
// ?: || && == != < <= > >= + - * / % !, indices of arrays, `new String[]{...}`, methods of String, and some static
// functions (String.valueOf, Integer.parseInt, Math.abs, UtilFunctions.jaccardSim ...): the tables of CellFunctionLibrary.h.
#ifndef TOKAMAK_RUNTIME_TRANSFORM_CELLFUNCTION_H
#define TOKAMAK_RUNTIME_TRANSFORM_CELLFUNCTION_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tokamak::runtime {

struct CellExpression; // the tree, in CellExpression.h

using CellTextArray = std::vector<std::string>;
// monostate: null.
using CellFunctionValue =
    std::variant<std::monostate, std::string, int64_t, double, bool, char32_t, CellTextArray>;

class CellFunction {
public:
  // Throws Error with the place in the text: for what is no lambda expression, and for unknown names.
  explicit CellFunction(std::string_view text);
  CellFunction(CellFunction &&) noexcept;
  CellFunction &operator=(CellFunction &&) noexcept;
  ~CellFunction();

  size_t parameters() const { return parameters_.size(); }
  // Throws Error, for values of the wrong type, too. Thread-safe.
  CellFunctionValue call(std::span<const CellFunctionValue> arguments) const;

private:
  std::vector<std::string> parameters_;
  std::unique_ptr<const CellExpression> body_;
};

// As Java's String.valueOf prints it.
std::string textOfCell(const CellFunctionValue &value);

} // namespace tokamak::runtime
#endif
