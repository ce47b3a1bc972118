// The natives lineage and affine_operands, which take traces: lists that the program makes beside its values
// (frontend/dml/TraceLineage.h). A trace begins with its text; then come the traces of the operands, and of some operations
// the operands themselves.
#include "runtime/natives/NativeOperands.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace tokamak::runtime {
namespace {

const List &traceOperand(const Value &value, std::string_view native) {
  if (!value.isList() || value.list()->elements.empty() || !value.list()->elements[0].isString())
    throw Error(fmt::format("{}: this value has no trace", native));
  return *value.list();
}

const std::string &textOf(const List &trace) { return trace.elements[0].text(); }

// Calls body(trace) for each trace once, operands before what is computed of them. Traces may be nested deeper than calls of
// functions can be.
template <typename Body> void forEachTrace(const List &root, const Body &body) {
  struct Step {
    const List *trace;
    size_t next = 1;
  };
  std::unordered_set<const List *> known = {&root};
  std::vector<Step> path = {{&root}};
  while (!path.empty()) {
    Step &step = path.back();
    if (step.next == step.trace->elements.size()) {
      const List &done = *step.trace;
      path.pop_back();
      body(done);
      continue;
    }
    const Value &operand = step.trace->elements[step.next++];
    if (operand.isList() && known.insert(operand.list().get()).second)
      path.push_back({operand.list().get()});
  }
}

[[noreturn]] void failToDifferentiate(std::string_view what) {
  throw Error(fmt::format("autoDiff: only X %*% W and X %*% W + b, where b is a row, can be "
                          "differentiated, and this is the trace of {}",
                          what));
}

} // namespace

// lineage(trace): a line for each item, with numbers in the order of the lines. Items that say the same are one.
void runLineage(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const List &root = traceOperand(operands[0], "lineage");
  std::unordered_map<const List *, int64_t> numbers;
  std::map<std::string, int64_t> lines;
  std::string text;
  MemoryCharge charge;
  forEachTrace(root, [&](const List &trace) {
    std::string line = textOf(trace);
    for (const Value &operand : std::span(trace.elements).subspan(1))
      if (operand.isList())
        line += fmt::format(" ({})", numbers.at(operand.list().get()));
    auto [known, isNew] = lines.try_emplace(line, std::ssize(lines));
    numbers[&trace] = known->second;
    if (!isNew)
      return;
    text += fmt::format("({}) {}\n", known->second, line);
    charge.atLeast(2 * static_cast<int64_t>(text.capacity()));
  });
  results[0] = Value(std::move(text));
}

// affine_operands(trace): X, W and, if there is one, b of the value X %*% W + b whose lineage the traced value holds.
void runAffineOperands(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const List *found = nullptr;
  forEachTrace(traceOperand(operands[0], "autoDiff"), [&](const List &trace) {
    if (!found && textOf(trace) == "(I) lineage")
      found = trace.elements[1].list().get();
  });
  if (!found)
    throw Error("autoDiff: 'lineage' is not the lineage of a value: expected list(lineage(Y))");
  // The traces of both operands, then the operands.
  auto isProduct = [](const List &trace) {
    return textOf(trace) == "(I) ba+*" && trace.elements.size() == 5;
  };
  auto affine = std::make_shared<List>();
  const List *product = found;
  Value bias;
  if (textOf(*found) == "(I) +" && found->elements.size() == 5) {
    bool isLeft = isProduct(*found->elements[1].list());
    product = found->elements[isLeft ? 1 : 2].list().get();
    bias = found->elements[isLeft ? 4 : 3];
  }
  if (!isProduct(*product))
    failToDifferentiate(fmt::format("\"{}\"", textOf(*found).substr(4)));
  affine->elements = {product->elements[3], product->elements[4]};
  if (!bias.isNothing()) {
    if (bias.array()->shape()[0] != 1)
      failToDifferentiate(fmt::format("a sum with a {} matrix", bias.array()->shape().text()));
    affine->elements.push_back(bias);
  }
  results[0] = Value(std::move(affine));
}

} // namespace tokamak::runtime
