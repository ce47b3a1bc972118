#include "reference/NamedMeaning.h"

#include "reference/AggregateMeaning.h"
#include "reference/BoxMeaning.h"
#include "reference/CellMeaning.h"
#include "reference/ConstructionMeaning.h"
#include "reference/IndexMeaning.h"
#include "reference/ListMeaning.h"
#include "reference/MatrixMeaning.h"
#include "reference/PlaceMeaning.h"
#include "reference/ScalarMeaning.h"
#include "reference/SelectionMeaning.h"
#include "reference/StatisticMeaning.h"
#include "reference/TensorMeaning.h"
#include "reference/TypedMeaning.h"
#include "reference/WindowMeaning.h"

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
  NativeKind kind;
  Meaning *meaning;
};

constexpr NamedMeaning namedMeanings[] = {
    {NativeKind::Matmul, [](Operands o) { return matmul(o[0], o[1]); }},
    {NativeKind::Transpose, [](Operands o) { return transpose(o[0]); }},
    {NativeKind::View, [](Operands o) { return view(o[0], o.subspan(1)); }},
    {NativeKind::Expand, [](Operands o) { return expand(o[0], o.subspan(1)); }},
    {NativeKind::Permute, [](Operands o) { return permute(o[0], o.subspan(1)); }},
    {NativeKind::StridedSlice, [](Operands o) { return stridedSlice(o[0], o.subspan(1)); }},
    {NativeKind::Take, [](Operands o) { return take(o[0], o[1], o[2]); }},
    {NativeKind::Windows, [](Operands o) { return windows(o[0], o[1], o.subspan(2)); }},
    {NativeKind::Convolve, [](Operands o) { return convolve(o[0], o[1], o[2], o.subspan(3)); }},
    {NativeKind::Pool, [](Operands o) { return pool(o[0], o[1], o.subspan(2)); }},
    {NativeKind::Join, [](Operands o) { return join(o[0], o.subspan(1)); }},
    {NativeKind::Bitcast, [](Operands o) { return bitcast(o[0], o[1], o[2]); }},
    {NativeKind::Scatter, [](Operands o) { return scatter(o[0], o[1], o[2]); }},
    {NativeKind::ScatterReduce, [](Operands o) { return scatterReduce(o[0], o[1], o[2], o[3]); }},
    {NativeKind::CheckedIndices, [](Operands o) { return checkedIndices(o[0], o[1], o[2]); }},
    {NativeKind::TopPlaces, [](Operands o) { return topPlaces(o[0], o[1], o[2]); }},
    {NativeKind::NonzeroPlaces, [](Operands o) { return nonzeroPlaces(o[0]); }},
    {NativeKind::RowRanks, [](Operands o) { return rowRanks(o[0]); }},
    {NativeKind::SortedPlaces, [](Operands o) { return sortedPlaces(o[0], o[1], o[2]); }},
    {NativeKind::SeparateBoxes,
     [](Operands o) { return separateBoxes(o[0], o[1], o[2], o[3], o[4], o[5]); }},
    {NativeKind::Determinants, [](Operands o) { return determinants(o[0]); }},
    {NativeKind::Diag, [](Operands o) { return diag(o[0]); }},
    {NativeKind::Trace, [](Operands o) { return trace(o[0]); }},
    {NativeKind::Rev, [](Operands o) { return reverse(o[0]); }},
    {NativeKind::Roll, [](Operands o) { return roll(o[0], o[1]); }},
    {NativeKind::LowerTri, [](Operands o) { return lowerTriangle(o[0], o[1], o[2]); }},
    {NativeKind::UpperTri, [](Operands o) { return upperTriangle(o[0], o[1], o[2]); }},
    {NativeKind::Reshape, [](Operands o) { return reshape(o[0], o[1], o[2], o[3]); }},
    {NativeKind::Cbind, [](Operands o) { return cbind(o); }},
    {NativeKind::Rbind, [](Operands o) { return rbind(o); }},
    {NativeKind::Slice, [](Operands o) { return slice(o[0], rangeAt(o, 1)); }},
    {NativeKind::Insert, [](Operands o) { return insert(o[0], o[1], rangeAt(o, 2)); }},
    {NativeKind::Fill, [](Operands o) { return fill(o[0], o[1], o[2]); }},
    {NativeKind::ParseMatrix, [](Operands o) { return parseMatrix(o[0], o[1], o[2]); }},
    {NativeKind::Seq, [](Operands o) { return seq(o[0], o[1], o[2]); }},
    {NativeKind::Table, [](Operands o) { return table(o[0], o[1], o[2], o[3], o[4]); }},
    {NativeKind::List, [](Operands o) { return list(o); }},
    {NativeKind::ListSlice, [](Operands o) { return sliceList(o[0], o[1], operandAt(o, 2)); }},
    {NativeKind::ListInsert,
     [](Operands o) { return insertIntoList(o[0], o[1], o[2], operandAt(o, 3)); }},
    {NativeKind::ListElement, [](Operands o) { return castToList(o[0]); }},
    {NativeKind::RemoveEmpty, [](Operands o) { return removeEmpty(o[0], o[1], o[2], o[3]); }},
    {NativeKind::Order, [](Operands o) { return order(o[0], o[1], o[2], o[3]); }},
    {NativeKind::Outer, [](Operands o) { return outer(o[0], o[1], o[2]); }},
    {NativeKind::Replace, [](Operands o) { return replace(o[0], o[1], o[2]); }},
    {NativeKind::Quantile, [](Operands o) { return quantile(o[0], o[1], o[2]); }},
    {NativeKind::Median, [](Operands o) { return median(o[0], o[1]); }},
    {NativeKind::InterQuartileMean, [](Operands o) { return interQuartileMean(o[0], o[1]); }},
    {NativeKind::Moment, [](Operands o) { return moment(o[0], o[1], o[2]); }},
    {NativeKind::Cov, [](Operands o) { return covariance(o[0], o[1], o[2]); }},
    {NativeKind::Unique, [](Operands o) { return unique(o[0], o[1]); }},
    {NativeKind::CountDistinct, [](Operands o) { return countDistinct(o[0], o[1]); }},
    {NativeKind::Contains, [](Operands o) { return contains(o[0], o[1]); }},
    {NativeKind::Aggregate,
     [](Operands o) { return aggregateGroups(o[0], o[1], o[2], o[3], o[4], o[5]); }},
    {NativeKind::Cumsum, [](Operands o) { return cumulate(AggregateKind::Sum, o[0]); }},
    {NativeKind::Cumprod, [](Operands o) { return cumulate(AggregateKind::Prod, o[0]); }},
    {NativeKind::Cumprodcells, [](Operands o) { return cumulateCells(o[0]); }},
    {NativeKind::Cummin, [](Operands o) { return cumulate(AggregateKind::Min, o[0]); }},
    {NativeKind::Cummax, [](Operands o) { return cumulate(AggregateKind::Max, o[0]); }},
    {NativeKind::Rowcumsum, [](Operands o) { return cumulateRows(AggregateKind::Sum, o[0]); }},
    {NativeKind::Cumsumprod, [](Operands o) { return cumulateSumProduct(o[0]); }},
};

constexpr Meaning *meaningOf(NativeKind kind) {
  for (const NamedMeaning &named : namedMeanings)
    if (named.kind == kind)
      return named.meaning;
  return nullptr;
}

#define TOKAMAK_NATIVE(Name, mnemonic, SIGNATURE, SHAPE, ACCESS, RANKS, EFFECT, PER, FLOPS, ROWS,  \
                       ERRORS, MEANING)                                                            \
  static_assert((meaningOf(NativeKind::Name) != nullptr) ==                                        \
                    (NativeMeaning::MEANING == NativeMeaning::Own),                                \
                #Name " has a meaning here if and only if base/Natives.def says so");
#include "base/Natives.def"

} // namespace

Meaning *findMeaning(NativeKind kind) { return meaningOf(kind); }

} // namespace tokamak::reference
