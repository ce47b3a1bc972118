#include "exec/SizeHistory.h"

#include <algorithm>
#include <map>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::Value;

static std::vector<int64_t> sizesOf(std::span<const Value> inputs) {
  std::vector<int64_t> sizes;
  for (const Value &input : inputs)
    if (input.isArray())
      for (int64_t size : input.array()->shape().sizes())
        sizes.push_back(size);
    else if (input.isInteger())
      sizes.push_back(input.asInteger());
  return sizes;
}

void SizeHistory::add(std::span<const Value> inputs) {
  std::vector<int64_t> sizes = sizesOf(inputs);
  if (sizes_.size() != sizes.size()) // nothing was added, or arrays have other ranks than before
    sizes_.assign(sizes.size(), {});
  std::map<std::pair<size_t, int64_t>, size_t> groups; // by group so far and size
  for (size_t place = 0; place < sizes.size(); ++place) {
    Known &known = sizes_[place];
    known.varies |= known.last && known.last != sizes[place];
    known.hasBeenSmall |= sizes[place] <= 1;
    known.last = sizes[place];
    known.group = groups.try_emplace({known.group, sizes[place]}, groups.size()).first->second;
  }
}

void SizeHistory::expectChanges() {
  for (Known &known : sizes_)
    known.varies = true;
}

void SizeHistory::expect(std::span<const Size> sizes) {
  std::vector<Size> groups; // by number
  for (const Size &size : sizes) {
    size_t group = std::ranges::find(groups, size) - groups.begin();
    if (group == groups.size())
      groups.push_back(size);
    sizes_.push_back({std::nullopt, group, !size.isConstant(), size.range().low <= 1});
  }
}

bool SizeHistory::hasChanges() const {
  return std::ranges::any_of(sizes_, [](const Known &known) { return known.varies; });
}
