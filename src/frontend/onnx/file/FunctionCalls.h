// Which of a model's functions call which: found by (domain, name, overload), as nodes name them.
//
//   FunctionCalls calls(model.functions);
//   calls.add(function, calls.find(node));
//   calls.verify(errors);
//
#ifndef TOKAMAK_FRONTEND_ONNX_FILE_FUNCTIONCALLS_H
#define TOKAMAK_FRONTEND_ONNX_FILE_FUNCTIONCALLS_H

#include "frontend/onnx/file/Model.h"
#include "frontend/onnx/file/ModelErrors.h"

#include <map>
#include <set>
#include <tuple>

namespace tokamak::onnx {

// How messages name a function: "function 'local.Swish'", with its overload if it has one.
std::string placeOf(const Function &function);

class FunctionCalls {
public:
  // Of functions that are called the same the first counts.
  explicit FunctionCalls(const std::vector<Function> &functions);

  // The function that a node calls; null if its operator is no function of the model.
  const Function *find(const Node &node) const;

  // The attributes that nodes which call it may have, with defaults and without.
  const std::set<std::string_view> &attributesOf(const Function &function) const {
    return attributes_[numberOf(function)];
  }

  // Notes a node that stands in `caller` (null: in the model's graph), and which function it calls,
  // if any.
  void add(const Function *caller, const Function *callee);

  // Adds the mistakes: functions that are called the same; calls that lead back to their caller, are
  // nested too deep or stand for too many nodes when each call is replaced by what is called.
  void verify(ModelErrors &errors) const;

private:
  class Expansion;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

  size_t numberOf(const Function &function) const {
    return static_cast<size_t>(&function - functions_.data());
  }
  std::string placeOfCaller(size_t number) const; // "" for the model's graph

  const std::vector<Function> &functions_;
  std::map<Key, size_t> byKey_;
  std::vector<std::set<std::string_view>> attributes_;
  struct Caller {
    int64_t nodes = 0;                 // in it, those of inner graphs included
    std::map<size_t, int64_t> callees; // the functions called, and how often
  };
  std::vector<Caller> callers_; // the functions and, last, the model's graph
};

} // namespace tokamak::onnx
#endif
