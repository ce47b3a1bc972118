#include "runtime/natives/CellSort.h"

#include "base/BundledLibrary.h"
#include "runtime/natives/NativeOperands.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>

namespace tokamak::runtime {
namespace {

bool isLess(uint64_t a, uint64_t b) { return a < b; }
bool isLess(const RowKey &a, const RowKey &b) {
  return a.key != b.key ? a.key < b.key : a.row < b.row;
}

// Null where the library can't be loaded.
struct SortLibrary {
  decltype(&tokamakSortKeys) keys = nullptr;
  decltype(&tokamakSortRowKeys) rowKeys = nullptr;

  SortLibrary() {
    BundledLibrary library = openBundledLibrary("libtokamak-sort.so");
    library.bind("tokamakSortKeys", keys);
    library.bind("tokamakSortRowKeys", rowKeys);
  }

  auto sorterOf(const uint64_t *) const { return keys; }
  auto sorterOf(const RowKey *) const { return rowKeys; }
};

// On one thread.
template <typename Element> void sortAlone(Element *begin, Element *end) {
  constexpr int64_t few = 500; // for which loading the library isn't worthwhile
  if (end - begin >= few) {
    static const SortLibrary library;
    if (auto sort = library.sorterOf(begin))
      return sort(begin, static_cast<size_t>(end - begin));
  }
  std::sort(begin, end, [](const Element &a, const Element &b) { return isLess(a, b); });
}

// Elements that divide all others into parts of about the same size, from a sample.
template <typename Element, typename ElementAt>
std::vector<Element> dividers(int64_t count, int64_t parts, const ElementAt &at) {
  constexpr int64_t samplesOfPart = 256;
  std::vector<Element> sample;
  for (int64_t i = 0; i < parts * samplesOfPart; ++i)
    sample.push_back(at(count / (parts * samplesOfPart) * i));
  sortAlone(sample.data(), sample.data() + sample.size());
  std::vector<Element> chosen;
  for (int64_t part = 1; part < parts; ++part)
    chosen.push_back(sample[part * samplesOfPart]);
  return chosen;
}

constexpr int64_t leastSorted = int64_t{1} << 16; // cells that a thread sorts

// Writes the elements at(0), ..., at(count - 1) to `to`, sorted. Every thread sorts the elements between two dividers, to
// which it has moved those of its range of places.
template <typename Element, typename ElementAt>
void sortInParts(ExecutionContext &context, int64_t count, const ElementAt &at, Element *to) {
  int64_t parts = partsOf(context, count, leastSorted), size = (count + parts - 1) / parts;
  if (parts == 1) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = at(i);
    return sortAlone(to, to + count);
  }
  std::vector<Element> divider = dividers<Element>(count, parts, at);
  auto partOf = [&](const Element &element) {
    size_t part = 0;
    for (const Element &first : divider)
      part += !isLess(element, first);
    return part;
  };
  // By range of places and part: how many elements there are, then where the next one is moved to.
  std::vector<std::vector<int64_t>> next(parts, std::vector<int64_t>(parts));
  auto forEachRangeOfPlaces = [&](const auto &body) {
    forEachRange(context, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t range = begin; range < end; ++range)
        body(next[range], range * size, std::min(count, (range + 1) * size));
    });
  };
  forEachRangeOfPlaces([&](std::vector<int64_t> &counts, int64_t begin, int64_t end) {
    // Those behind each divider, for few elements at a time, which stay in the cache.
    constexpr int64_t few = 1024;
    int64_t all = end - begin;
    std::vector<int64_t> behind(divider.size());
    for (; begin < end; begin += few)
      for (size_t i = 0; i < divider.size(); ++i) {
        const Element first = divider[i];
        int64_t found = 0;
        for (int64_t k = begin; k < std::min(end, begin + few); ++k)
          found += !isLess(at(k), first);
        behind[i] += found;
      }
    counts[0] = all;
    for (size_t i = 0; i < divider.size(); ++i) {
      counts[i] -= behind[i];
      counts[i + 1] = behind[i];
    }
  });
  std::vector<int64_t> begins;
  int64_t place = 0;
  for (int64_t part = 0; part < parts; ++part) {
    begins.push_back(place);
    for (std::vector<int64_t> &counts : next)
      place += std::exchange(counts[part], place);
  }
  begins.push_back(count);
  forEachRangeOfPlaces([&](std::vector<int64_t> &places, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Element element = at(i);
      to[places[partOf(element)]++] = element;
    }
  });
  forEachRange(context, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part)
      sortAlone(to + begins[part], to + begins[part + 1]);
  });
}

// Histograms of the leading bits of keys.
constexpr int leadingBits = 16;
uint64_t leadingOf(uint64_t key) { return key >> (64 - leadingBits); }

} // namespace

// The bits of all cells, or-ed. Copies the cells, too, if there is a place for them.
static uint64_t joinedBits(ExecutionContext &context, const double *cells, int64_t count,
                           double *copy) {
  std::atomic<uint64_t> joined = 0;
  forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
    uint64_t bits = 0;
    for (int64_t i = begin; i < end; ++i)
      bits |= std::bit_cast<uint64_t>(cells[i]);
    joined |= bits;
    if (copy)
      std::copy(cells + begin, cells + end, copy + begin);
  });
  return joined;
}

static bool hasNegativeZero(ExecutionContext &context, const double *cells, int64_t count) {
  std::atomic<bool> found = false;
  forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
    bool isHere = false;
    for (int64_t i = begin; i < end; ++i)
      isHere |= std::bit_cast<uint64_t>(cells[i]) == uint64_t{1} << 63;
    if (isHere)
      found = true;
  });
  return found;
}

bool sortCells(ExecutionContext &context, const double *cells, int64_t count, bool decreasing,
               double *to) {
  // Keys have the size of cells: they are sorted where the cells will stand.
  static_assert(sizeof(uint64_t) == sizeof(double));
  auto *keys = reinterpret_cast<uint64_t *>(to);
  // Without a sign, bits are in the order of the cells.
  bool isAlone = partsOf(context, count, leastSorted) == 1;
  bool hasSigns = decreasing || joinedBits(context, cells, count, isAlone ? to : nullptr) >> 63;
  if (!hasSigns && isAlone) {
    sortAlone(keys, keys + count);
    return true;
  }
  if (!hasSigns) {
    sortInParts<uint64_t>(
        context, count, [&](int64_t i) { return std::bit_cast<uint64_t>(cells[i]); }, keys);
    return true;
  }
  if (hasNegativeZero(context, cells, count))
    return false;
  sortInParts<uint64_t>(
      context, count, [&](int64_t i) { return keyOfCell(cells[i], decreasing); }, keys);
  forEachRange(context, count, parallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint64_t key = 0;
      std::memcpy(&key, to + i, sizeof key);
      to[i] = cellOfKey(key, decreasing);
    }
  });
  return true;
}

RowKeys rowsInOrder(ExecutionContext &context, const double *cells, int64_t stride, int64_t count,
                    bool decreasing) {
  RowKeys sorted(static_cast<size_t>(count));
  auto at = [&](int64_t i) {
    return RowKey{static_cast<uint64_t>(i), keyOfCell(cells[i * stride], decreasing)};
  };
  sortInParts<RowKey>(context, count, at, sorted.data());
  return sorted;
}

void sortRowKeys(ExecutionContext &context, RowKeys &keys) {
  RowKeys sorted(keys.size());
  sortInParts<RowKey>(context, std::ssize(keys), [&](int64_t i) { return keys[i]; }, sorted.data());
  keys.swap(sorted);
}

// Keys are counted by their leading bits. Only those that share these bits with a key that is looked for are sorted.
std::vector<double> selectCells(ExecutionContext &context, const double *cells, int64_t count,
                                std::span<const int64_t> places) {
  constexpr int64_t few = int64_t{1} << 14; // for which histograms cost more than sorting
  std::vector<double> selected;
  if (count < few) {
    BudgetedVector<uint64_t> keys(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      keys[i] = keyOfCell(cells[i], /*decreasing=*/false);
    sortAlone(keys.data(), keys.data() + count);
    for (int64_t place : places)
      selected.push_back(cellOfKey(keys[place], /*decreasing=*/false));
    return selected;
  }
  constexpr int64_t leastOfPart = int64_t{1} << 20;
  constexpr size_t buckets = size_t{1} << leadingBits;
  int64_t parts = partsOf(context, count, leastOfPart), size = (count + parts - 1) / parts;
  auto forEachPart = [&](const auto &body) {
    forEachRange(context, parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        for (int64_t i = part * size; i < std::min(count, (part + 1) * size); ++i)
          body(part, keyOfCell(cells[i], /*decreasing=*/false));
    });
  };
  std::vector<std::vector<int64_t>> counts(parts, std::vector<int64_t>(buckets));
  forEachPart([&](int64_t part, uint64_t key) { ++counts[part][leadingOf(key)]; });

  struct Bucket {
    int64_t before = 0; // how many keys are in smaller buckets
    BudgetedVector<uint64_t> keys = {};
  };
  std::map<uint64_t, Bucket> wanted;
  std::vector<uint64_t> bucketOf(places.size());
  std::vector<size_t> ascending(places.size());
  for (size_t i = 0; i < places.size(); ++i)
    ascending[i] = i;
  std::ranges::sort(ascending, {}, [&](size_t i) { return places[i]; });
  uint64_t bucket = 0;
  int64_t before = 0;
  auto inBucket = [&] {
    int64_t sum = 0;
    for (const std::vector<int64_t> &part : counts)
      sum += part[bucket];
    return sum;
  };
  for (size_t i : ascending) {
    for (int64_t here = inBucket(); before + here <= places[i]; here = inBucket()) {
      before += here;
      ++bucket;
    }
    bucketOf[i] = bucket;
    wanted.try_emplace(bucket, Bucket{before});
  }

  std::vector<Bucket *> found(buckets);
  for (auto &[number, kept] : wanted) {
    found[number] = &kept;
    int64_t place = 0;
    for (std::vector<int64_t> &part : counts)
      place += std::exchange(part[number], place);
    kept.keys.resize(static_cast<size_t>(place));
  }
  forEachPart([&](int64_t part, uint64_t key) {
    if (Bucket *kept = found[leadingOf(key)])
      kept->keys[counts[part][leadingOf(key)]++] = key;
  });
  for (auto &[number, kept] : wanted)
    sortAlone(kept.keys.data(), kept.keys.data() + kept.keys.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const Bucket &kept = wanted.at(bucketOf[i]);
    selected.push_back(cellOfKey(kept.keys[places[i] - kept.before], /*decreasing=*/false));
  }
  return selected;
}

} // namespace tokamak::runtime
