#include "runtime/natives/KeySort.h"

#include "runtime/natives/NativeOperands.h"

#include <array>
#include <numeric>

namespace tokamak::runtime {
namespace {

constexpr int digitBits = 11, digits = 6; // of 64 bits
constexpr size_t buckets = size_t{1} << digitBits;
using Histogram = std::array<int64_t, buckets>;

size_t digitOf(uint64_t key, int digit) { return key >> (digit * digitBits) & (buckets - 1); }

struct NoRows {};

// What is sorted: keys, and perhaps a row for each.
template <typename Row> struct Columns {
  static constexpr bool hasRows = !std::is_same_v<Row, NoRows>;
  uint64_t *keys;
  Row *rows;
};

template <typename Row>
void scatter(const Columns<Row> &from, const Columns<Row> &to, int64_t begin, int64_t end,
             int digit, Histogram &next) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t place = next[digitOf(from.keys[i], digit)]++;
    to.keys[place] = from.keys[i];
    if constexpr (Columns<Row>::hasRows)
      to.rows[place] = from.rows[i];
  }
}

// Parts of the keys are counted and moved by one thread each: those of an earlier part come first among equal ones.
template <typename Row>
void sortColumns(ExecutionContext &context, Columns<Row> from, Columns<Row> spare, int64_t count,
                 bool &isInSpare) {
  constexpr int64_t leastOfPart = int64_t{1} << 18;
  int64_t threads = context.scheduler ? context.scheduler->threads() : 1,
          parts = std::clamp<int64_t>(count / leastOfPart, 1, threads),
          size = (count + parts - 1) / parts;
  std::vector<Histogram> next(static_cast<size_t>(parts));
  auto forEachPart = [&](const auto &body) {
    forEachRange(context, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        body(part, part * size, std::min(count, (part + 1) * size));
    });
  };
  for (int digit = 0; digit < digits; ++digit) {
    forEachPart([&](int64_t part, int64_t begin, int64_t end) {
      next[part].fill(0);
      for (int64_t i = begin; i < end; ++i)
        ++next[part][digitOf(from.keys[i], digit)];
    });
    int64_t place = 0, largest = 0;
    for (size_t bucket = 0; bucket < buckets; ++bucket) {
      int64_t before = place;
      for (Histogram &histogram : next)
        place += std::exchange(histogram[bucket], place);
      largest = std::max(largest, place - before);
    }
    if (largest == count)
      continue; // all have the same digit
    forEachPart([&](int64_t part, int64_t begin, int64_t end) {
      scatter(from, spare, begin, end, digit, next[part]);
    });
    std::swap(from, spare);
    isInSpare = !isInSpare;
  }
}

} // namespace

SortKeys sortKeys(ExecutionContext &context, const double *cells, int64_t stride, int64_t count,
                  bool decreasing) {
  SortKeys keys(static_cast<size_t>(count));
  forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      keys[i] = keyOfCell(cells[i * stride], decreasing);
  });
  return keys;
}

// Histograms cost more than few keys.
constexpr int64_t fewKeys = 1024;

void sortKeysAlone(ExecutionContext &context, SortKeys &keys) {
  if (std::ssize(keys) < fewKeys)
    return std::sort(keys.begin(), keys.end());
  SortKeys spare(keys.size());
  bool isInSpare = false;
  sortColumns<NoRows>(context, {keys.data(), nullptr}, {spare.data(), nullptr}, std::ssize(keys),
                      isInSpare);
  if (isInSpare)
    keys.swap(spare);
}

template <typename Row>
void sortKeysWithRows(ExecutionContext &context, SortKeys &keys, BudgetedVector<Row> &rows) {
  SortKeys spareKeys(keys.size());
  BudgetedVector<Row> spareRows(rows.size());
  bool isInSpare = false;
  if (std::ssize(keys) < fewKeys) {
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    for (size_t i = 0; i < order.size(); ++i) {
      spareKeys[i] = keys[order[i]];
      spareRows[i] = rows[order[i]];
    }
    isInSpare = true;
  } else {
    sortColumns<Row>(context, {keys.data(), rows.data()}, {spareKeys.data(), spareRows.data()},
                     std::ssize(keys), isInSpare);
  }
  if (isInSpare) {
    keys.swap(spareKeys);
    rows.swap(spareRows);
  }
}

template void sortKeysWithRows<uint32_t>(ExecutionContext &, SortKeys &,
                                         BudgetedVector<uint32_t> &);
template void sortKeysWithRows<int64_t>(ExecutionContext &, SortKeys &, BudgetedVector<int64_t> &);

} // namespace tokamak::runtime
