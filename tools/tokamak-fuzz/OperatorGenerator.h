// Random operators of the dialect's text: a plan.operator (docs/plan-ir.md) with one to four axes, whose
// body reads arrays at permuted, shifted and strided places, computes cells of any element type,
// reduces and scans, and writes up to two results.
//
//   auto drawn = [](const std::vector<int64_t> &) { return std::string("%v3"); };
//   GeneratedOperator made =
//       generateOperator(random, ElementType::BF16, {1, 2, 3, 17}, drawn, "o");
//   render(made.statement)           // "%o_0, %o_1 = plan.operator (%p0 = %v3 [17, s1]) axes [...]"
//
// What is added up are whole numbers, so that the results are exact: every plan and every engine must
// compute the same bits.
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_OPERATORGENERATOR_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_OPERATORGENERATOR_H

#include "base/ElementType.h"
#include "tokamak-fuzz/Expressions.h"

#include <functional>

namespace tokamak::fuzz {

struct GeneratedOperator {
  Node statement;
  struct Result {
    std::string name;
    std::vector<int64_t> sizes;
    double most; // bound on the magnitude of cells, unless integers wrapped
  };
  std::vector<Result> results;
};

// `drawn` gives the name of an array of these sizes and of the element type, with exact cells between
// -3 and 3 or, of integers, any; `prefix` makes names of results unique. Not of booleans.
GeneratedOperator
generateOperator(Random &random, ElementType cells, const std::vector<int64_t> &sizes,
                 const std::function<std::string(const std::vector<int64_t> &)> &drawn,
                 const std::string &prefix);

} // namespace tokamak::fuzz
#endif
