#include "frontend/onnx/file/FunctionCalls.h"

#include "frontend/onnx/file/QuotedName.h"
#include "frontend/onnx/file/TensorReader.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokamak::onnx {
std::string placeOf(const Function &function) {
  std::string name = printableName(function.name);
  if (!function.domain.empty())
    name = printableName(function.domain) + "." + name;
  if (!function.overload.empty())
    name += ":" + printableName(function.overload);
  return fmt::format("function '{}'", name);
}

FunctionCalls::FunctionCalls(const std::vector<Function> &functions)
    : functions_(functions), callers_(functions.size() + 1) {
  for (size_t i = 0; i < functions.size(); ++i) {
    const Function &function = functions[i];
    byKey_.try_emplace(Key(function.domain, function.name, function.overload), i);
    attributes_.emplace_back(function.attributes.begin(), function.attributes.end());
    for (const Attribute &attribute : function.defaults)
      attributes_.back().insert(attribute.name);
  }
}

const Function *FunctionCalls::find(const Node &node) const {
  auto found = byKey_.find(Key(node.domain, node.opType, node.overload));
  return found == byKey_.end() ? nullptr : &functions_[found->second];
}

void FunctionCalls::add(const Function *caller, const Function *callee) {
  Caller &from = callers_[caller ? numberOf(*caller) : functions_.size()];
  ++from.nodes;
  if (callee)
    ++from.callees[numberOf(*callee)];
}

std::string FunctionCalls::placeOfCaller(size_t number) const {
  return number == functions_.size() ? "" : placeOf(functions_[number]);
}

// Replaces calls by what is called, in numbers: how many nodes result, and how deep calls are nested.
class FunctionCalls::Expansion {
public:
  Expansion(const FunctionCalls &calls, ModelErrors &errors)
      : calls_(calls), errors_(errors), sizes_(calls.callers_.size()) {}

  // False after a mistake, which ends the search.
  bool visit(size_t caller) {
    Size &size = sizes_[caller];
    if (size.isDone)
      return true;
    if (size.isOpen)
      return fail(caller, "calls itself: " + path(caller));
    if (static_cast<int>(stack_.size()) > mostNested)
      return fail(stack_.front(), tooDeep());
    size.isOpen = true;
    stack_.push_back(caller);
    size.nodes = calls_.callers_[caller].nodes;
    size.depth = caller == calls_.functions_.size() ? 0 : 1; // functions, not the graph
    for (auto [callee, times] : calls_.callers_[caller].callees) {
      if (!visit(callee))
        return false;
      // Both factors are at most mostParts.
      size.nodes = std::min(size.nodes + times * sizes_[callee].nodes, mostParts + 1);
      size.depth = std::max(size.depth, sizes_[callee].depth + 1);
    }
    stack_.pop_back();
    if (size.depth > mostNested)
      return fail(caller, tooDeep());
    if (size.nodes > mostParts)
      return fail(caller, fmt::format("its nodes are more than {}, when functions are replaced by "
                                      "their nodes",
                                      mostParts));
    size.isDone = true;
    return true;
  }

private:
  struct Size {
    bool isOpen = false, isDone = false;
    int depth = 0;
    int64_t nodes = 0;
  };

  bool fail(size_t caller, const std::string &message) {
    errors_.add(calls_.placeOfCaller(caller), message);
    return false;
  }
  static std::string tooDeep() {
    return fmt::format("calls of functions are nested more than {} deep", mostNested);
  }
  // "function 'a', function 'b'": from the caller to itself.
  std::string path(size_t caller) const {
    std::vector<std::string> places;
    for (auto at = std::find(stack_.begin(), stack_.end(), caller); at != stack_.end(); ++at)
      places.push_back(calls_.placeOfCaller(*at));
    places.push_back(calls_.placeOfCaller(caller));
    return fmt::format("{}", fmt::join(places, " calls "));
  }

  const FunctionCalls &calls_;
  ModelErrors &errors_;
  std::vector<Size> sizes_;
  std::vector<size_t> stack_;
};

void FunctionCalls::verify(ModelErrors &errors) const {
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Function &function = functions_[i];
    if (byKey_.at(Key(function.domain, function.name, function.overload)) != i)
      errors.add(placeOf(function), "the model has another function of this name");
  }
  Expansion expansion(*this, errors);
  for (size_t caller = 0; caller <= functions_.size(); ++caller)
    if (!expansion.visit(caller))
      return;
}

} // namespace tokamak::onnx
