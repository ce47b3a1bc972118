#include "reference/ListMeaning.h"

#include "base/Error.h"
#include "runtime/values/IndexRange.h"

#include <fmt/format.h>
#include <memory>
#include <string>

namespace tokamak::reference {
namespace {

using runtime::List;
using runtime::Value;

const List &listOf(const Value &value, std::string_view operation) {
  if (!value.isList())
    throw Error(fmt::format("{}: expected a list, got {}", operation, value.describe()));
  return *value.list();
}

Value newList(List list) { return std::make_shared<const List>(std::move(list)); }

// The position of an element, from 0.
int64_t positionOf(const List &list, const Value &index) {
  auto size = static_cast<int64_t>(list.elements.size());
  if (index.isString()) {
    for (size_t i = 0; i < list.names.size(); ++i)
      if (list.names[i] == index.text())
        return static_cast<int64_t>(i);
    throw Error(fmt::format("the list has no element \"{}\"", index.text()));
  }
  int64_t position = index.asInteger();
  if (position < 1 || position > size)
    throw runtime::badIndexRange("element", position, position, size,
                                 fmt::format("list of {}", size));
  return position - 1;
}

// Positions from 0; `last` is inclusive.
struct ListRange {
  int64_t first, last;
};

ListRange rangeOf(const List &list, const Value &from, const Value &to) {
  int64_t first = positionOf(list, from), last = to.isNothing() ? first : positionOf(list, to);
  if (last < first)
    throw Error(fmt::format("invalid range: list elements {}:{} end before they begin", first + 1,
                            last + 1));
  return {first, last};
}

} // namespace

Value list(std::span<const Value> operands) {
  List result;
  result.elements.assign(operands.begin() + 1, operands.end());
  if (operands[0].isString() && !result.elements.empty()) {
    result.names.emplace_back();
    for (char c : operands[0].text()) {
      if (c == ',')
        result.names.emplace_back();
      else
        result.names.back() += c;
    }
  }
  return newList(std::move(result));
}

Value sliceList(const Value &operand, const Value &from, const Value &to) {
  const List &source = listOf(operand, "indexing");
  ListRange range = rangeOf(source, from, to);
  List result;
  for (int64_t i = range.first; i <= range.last; ++i) {
    result.elements.push_back(source.elements[i]);
    if (!source.names.empty())
      result.names.push_back(source.names[i]);
  }
  return newList(std::move(result));
}

Value insertIntoList(const Value &operand, const Value &value, const Value &from, const Value &to) {
  List result = listOf(operand, "left indexing");
  ListRange range = rangeOf(result, from, to);
  // A list of one element assigns its element, and its name if it has one.
  bool isSingle = value.isList() && value.list()->elements.size() == 1;
  if (to.isNothing() && !isSingle) {
    result.elements[range.first] = value;
    return newList(std::move(result));
  }
  const List &values = listOf(value, "left indexing");
  int64_t count = range.last - range.first + 1;
  if (static_cast<int64_t>(values.elements.size()) != count)
    throw Error(fmt::format("left indexing: {} values cannot replace {} elements of a list",
                            values.elements.size(), count));
  bool renames = !result.names.empty() && !values.names.empty();
  for (int64_t i = 0; i < count; ++i) {
    result.elements[range.first + i] = values.elements[i];
    if (renames)
      result.names[range.first + i] = values.names[i];
  }
  return newList(std::move(result));
}

Value appendToList(std::span<const Value> inputs) {
  List result;
  bool named = false;
  for (const Value &input : inputs) {
    bool isFirst = &input == inputs.data();
    // After the first input, only lists of one element are spliced in.
    if (!input.isList() || (!isFirst && input.list()->elements.size() != 1)) {
      result.elements.push_back(input);
      result.names.emplace_back();
      continue;
    }
    const List &more = *input.list();
    for (size_t i = 0; i < more.elements.size(); ++i) {
      result.elements.push_back(more.elements[i]);
      result.names.push_back(more.names.empty() ? std::string() : more.names[i]);
    }
    named |= !more.names.empty();
  }
  if (!named)
    result.names.clear();
  return newList(std::move(result));
}

} // namespace tokamak::reference
