#include "reference/NamedMeaning.h"

#include "reference/AggregateMeaning.h"
#include "reference/CellMeaning.h"
#include "reference/ConstructionMeaning.h"
#include "reference/IndexMeaning.h"
#include "reference/ListMeaning.h"
#include "reference/MatrixMeaning.h"
#include "reference/SelectionMeaning.h"
#include "reference/StatisticMeaning.h"
#include "reference/TensorMeaning.h"

namespace tokamak::reference {
namespace {

using Operands = std::span<const runtime::Value>;

// The four indices of slice and insert, which begin at operands[first].
IndexRange rangeAt(Operands o, size_t first) {
  return {o[first].asInteger(), o[first + 1].asInteger(), o[first + 2].asInteger(),
          o[first + 3].asInteger()};
}

// A trailing operand that may be absent.
runtime::Value operandAt(Operands o, size_t index) {
  return index < o.size() ? o[index] : runtime::Value();
}

struct NamedMeaning {
  std::string_view name;
  Meaning *meaning;
};

constexpr NamedMeaning namedMeanings[] = {
    {"matmul", [](Operands o) { return matmul(o[0], o[1]); }},
    {"transpose", [](Operands o) { return transpose(o[0]); }},
    {"view", [](Operands o) { return view(o[0], o.subspan(1)); }},
    {"expand", [](Operands o) { return expand(o[0], o.subspan(1)); }},
    {"diag", [](Operands o) { return diag(o[0]); }},
    {"trace", [](Operands o) { return trace(o[0]); }},
    {"rev", [](Operands o) { return reverse(o[0]); }},
    {"roll", [](Operands o) { return roll(o[0], o[1]); }},
    {"lower_tri", [](Operands o) { return lowerTriangle(o[0], o[1], o[2]); }},
    {"upper_tri", [](Operands o) { return upperTriangle(o[0], o[1], o[2]); }},
    {"reshape", [](Operands o) { return reshape(o[0], o[1], o[2], o[3]); }},
    {"cbind", [](Operands o) { return cbind(o); }},
    {"rbind", [](Operands o) { return rbind(o); }},
    {"slice", [](Operands o) { return slice(o[0], rangeAt(o, 1)); }},
    {"insert", [](Operands o) { return insert(o[0], o[1], rangeAt(o, 2)); }},
    {"fill", [](Operands o) { return fill(o[0], o[1], o[2]); }},
    {"parse_matrix", [](Operands o) { return parseMatrix(o[0], o[1], o[2]); }},
    {"seq", [](Operands o) { return seq(o[0], o[1], o[2]); }},
    {"table", [](Operands o) { return table(o[0], o[1], o[2], o[3], o[4]); }},
    {"list", [](Operands o) { return list(o); }},
    {"list_slice", [](Operands o) { return sliceList(o[0], o[1], operandAt(o, 2)); }},
    {"list_insert", [](Operands o) { return insertIntoList(o[0], o[1], o[2], operandAt(o, 3)); }},
    {"list_element", [](Operands o) { return elementOfList(o[0]); }},
    {"remove_empty", [](Operands o) { return removeEmpty(o[0], o[1], o[2], o[3]); }},
    {"order", [](Operands o) { return order(o[0], o[1], o[2], o[3]); }},
    {"outer", [](Operands o) { return outer(o[0], o[1], o[2]); }},
    {"replace", [](Operands o) { return replace(o[0], o[1], o[2]); }},
    {"quantile", [](Operands o) { return quantile(o[0], o[1], o[2]); }},
    {"median", [](Operands o) { return median(o[0], o[1]); }},
    {"inter_quartile_mean", [](Operands o) { return interQuartileMean(o[0], o[1]); }},
    {"moment", [](Operands o) { return moment(o[0], o[1], o[2]); }},
    {"cov", [](Operands o) { return covariance(o[0], o[1], o[2]); }},
    {"unique", [](Operands o) { return unique(o[0], o[1]); }},
    {"count_distinct", [](Operands o) { return countDistinct(o[0], o[1]); }},
    {"contains", [](Operands o) { return contains(o[0], o[1]); }},
    {"aggregate", [](Operands o) { return aggregateGroups(o[0], o[1], o[2], o[3], o[4], o[5]); }},
    {"cumsum", [](Operands o) { return cumulate(AggregateKind::Sum, o[0]); }},
    {"cumprod", [](Operands o) { return cumulate(AggregateKind::Prod, o[0]); }},
    {"cummin", [](Operands o) { return cumulate(AggregateKind::Min, o[0]); }},
    {"cummax", [](Operands o) { return cumulate(AggregateKind::Max, o[0]); }},
    {"rowcumsum", [](Operands o) { return cumulateRows(AggregateKind::Sum, o[0]); }},
    {"cumsumprod", [](Operands o) { return cumulateSumProduct(o[0]); }},
};

} // namespace

Meaning *findMeaning(std::string_view name) {
  for (const NamedMeaning &named : namedMeanings)
    if (named.name == name)
      return named.meaning;
  return nullptr;
}

} // namespace tokamak::reference
