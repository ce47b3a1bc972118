// Natives on lists: construction, sub-lists by position or name, replacement, removal. A range is
// given by two positions or two names; for a single element the second one is Nothing.
#include "runtime/natives/NativeOperands.h"
#include "runtime/values/IndexRange.h"

#include <algorithm>
#include <iterator>

namespace tokamak::runtime {
namespace {

const List &listOperand(const Value &value, std::string_view native) {
  if (!value.isList())
    throw Error(fmt::format("{}: expected a list, got {}", native, value.describe()));
  return *value.list();
}

Value makeList(List list) { return Value(std::make_shared<List>(std::move(list))); }

// The position, from 0, of an index or a name.
int64_t positionOf(const List &list, const Value &index) {
  auto size = static_cast<int64_t>(list.elements.size());
  if (index.isString()) {
    auto found = std::find(list.names.begin(), list.names.end(), index.text());
    if (found == list.names.end())
      throw Error(fmt::format("the list has no element \"{}\"", index.text()));
    return found - list.names.begin();
  }
  int64_t position = index.asInteger();
  if (position < 1 || position > size)
    throw badIndexRange("element", position, position, size, fmt::format("list of {}", size));
  return position - 1;
}

struct ListRange {
  int64_t begin, end;
};

ListRange rangeOf(const List &list, const Value &from, const Value &to) {
  int64_t begin = positionOf(list, from), last = to.isNothing() ? begin : positionOf(list, to);
  if (last < begin)
    throw Error(fmt::format("invalid range: list elements {}:{} end before they begin", begin + 1,
                            last + 1));
  return {begin, last + 1};
}

} // namespace

// list(names, elements...): `names` is a string of names joined by commas, or Nothing.
void runList(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  List list;
  list.elements.assign(std::make_move_iterator(operands.begin() + 1),
                       std::make_move_iterator(operands.end())); // lists of few elements are many
  if (operands[0].isString() && !list.elements.empty()) {
    std::string_view names = operands[0].text();
    for (size_t begin = 0; begin <= names.size();) {
      size_t end = std::min(names.find(',', begin), names.size());
      list.names.emplace_back(names.substr(begin, end - begin));
      begin = end + 1;
    }
    list.names.resize(list.elements.size());
  }
  context.touchedBytes = 0;
  results[0] = makeList(std::move(list));
}

// L[from] and L[from:to]: both give a list.
void runListSlice(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const List &source = listOperand(operands[0], "indexing");
  ListRange range = rangeOf(source, operands[1], operands.size() > 2 ? operands[2] : Value());
  List result;
  result.elements.assign(source.elements.begin() + range.begin,
                         source.elements.begin() + range.end);
  if (!source.names.empty())
    result.names.assign(source.names.begin() + range.begin, source.names.begin() + range.end);
  results[0] = makeList(std::move(result));
}

// The list that is the only element, without a copy, or the list itself.
void runListElement(ExecutionContext &context, std::span<Value> operands,
                    std::span<Value> results) {
  const List &source = listOperand(operands[0], "as.list");
  context.touchedBytes = 0;
  bool holdsList = source.elements.size() == 1 && source.elements.front().isList();
  results[0] = holdsList ? Value(source.elements.front()) : operands[0];
}

// L[from] = any value, L[from:to] = list of as many elements. A list of one element is replaced by
// its element; if both lists have names, its name is taken, too.
void runListInsert(ExecutionContext &context, std::span<Value> operands, std::span<Value> results) {
  const Value &to = operands.size() > 3 ? operands[3] : Value();
  ListRange range = rangeOf(listOperand(operands[0], "left indexing"), operands[2], to);
  bool isSingle = operands[1].isList() && operands[1].list()->elements.size() == 1;
  std::shared_ptr<List> result = takeOrCopyList(operands[0]);
  if (to.isNothing() && !isSingle) {
    result->elements[range.begin] = std::move(operands[1]);
  } else {
    const List &values = listOperand(operands[1], "left indexing");
    if (static_cast<int64_t>(values.elements.size()) != range.end - range.begin)
      throw Error(fmt::format("left indexing: {} values cannot replace {} elements of a list",
                              values.elements.size(), range.end - range.begin));
    std::copy(values.elements.begin(), values.elements.end(),
              result->elements.begin() + range.begin);
    if (!result->names.empty() && !values.names.empty())
      std::copy(values.names.begin(), values.names.end(), result->names.begin() + range.begin);
  }
  context.touchedBytes = 0;
  results[0] = Value(std::shared_ptr<const List>(std::move(result)));
}

// [rest, element] = remove(L, index): `element` is a list of one element.
void runListRemove(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  List rest = listOperand(operands[0], "remove"), removed;
  int64_t position = positionOf(rest, operands[1]);
  removed.elements.push_back(rest.elements[position]);
  rest.elements.erase(rest.elements.begin() + position);
  if (!rest.names.empty()) {
    removed.names.push_back(rest.names[position]);
    rest.names.erase(rest.names.begin() + position);
  }
  results[0] = makeList(std::move(rest));
  if (results.size() > 1)
    results[1] = makeList(std::move(removed));
}

} // namespace tokamak::runtime
