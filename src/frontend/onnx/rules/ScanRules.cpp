// Scan: a graph for each place along an axis of arrays, with states that go from one to the next.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"
#include "frontend/onnx/LoopValues.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

struct ScanInput {
  Value array;
  int64_t axis;
  bool isBackwards;
};

struct ScanResults {
  ImportedValues states;
  Values outputs; // with a dimension in front, for `capacity` places
};

// `count` iterations of the body; outputs have `capacity` places, which may be more. `directions` are of the outputs.
ScanResults writeScan(NodeImporter &node, const ImportedValues &states, ArrayRef<ScanInput> inputs,
                      Value count, Value capacity, ArrayRef<int64_t> directions) {
  GraphBuilder &graph = node.graph();
  Value last = graph.scalar(Binary::Sub, count, graph.integer(1));
  LoopWriter loop(graph);
  Value backwards = graph.scalar(Binary::Sub, last, loop.counter());
  std::vector<CarriedTensor> carried;
  ImportedValues arguments;
  for (const ImportedValue &state : states)
    arguments.push_back(carried.emplace_back(node, loop, state).value());
  for (const ScanInput &input : inputs)
    arguments.push_back(ImportedValue::ofArray(
        graph.part(input.array, input.axis, input.isBackwards ? backwards : loop.counter())));
  ImportedValues results = node.importGraph("body", std::move(arguments));
  if (results.size() < carried.size())
    throw Error("its body gives fewer values than it has states");
  for (auto [tensor, next] : llvm::zip(carried, results))
    tensor.setNext(next);
  std::vector<IterationCollector> collectors;
  for (size_t i = carried.size(); i < results.size(); ++i) {
    size_t output = i - carried.size();
    bool isBackwards = output < directions.size() && directions[output] != 0;
    collectors
        .emplace_back(graph, loop, capacity,
                      sizesWithoutIterations(node.innerGraph("body").outputs[i]))
        .add(arrayOf(results[i], graph), isBackwards ? backwards : loop.counter());
  }
  Values ends = loop.finishCounted(count);
  ScanResults all;
  for (const CarriedTensor &tensor : carried)
    all.states.push_back(tensor.result(ends));
  for (IterationCollector &collector : collectors)
    all.outputs.push_back(collector.collected(ends, capacity));
  return all;
}

int64_t at(ArrayRef<int64_t> numbers, size_t place) {
  return place < numbers.size() ? numbers[place] : 0;
}

// How many of the node's operands, of which `leading` are something else, are states.
size_t stateCount(NodeImporter &node, size_t leading) {
  int64_t inputs = node.integer("num_scan_inputs", 0);
  auto most = static_cast<int64_t>(node.operandCount() - std::min(node.operandCount(), leading));
  if (inputs < 1 || inputs > most)
    throw Error(fmt::format("num_scan_inputs is {} of {} operands", inputs, most));
  return static_cast<size_t>(most - inputs);
}

void importScan(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  size_t first = stateCount(node, 0);
  ImportedValues states;
  for (size_t i = 0; i < first; ++i)
    states.push_back(node.value(i));
  Numbers axes = node.integers("scan_input_axes"),
          directions = node.integers("scan_input_directions"),
          outputAxes = node.integers("scan_output_axes");
  SmallVector<ScanInput> inputs;
  for (size_t i = first; i < node.operandCount(); ++i)
    inputs.push_back({node.operand(i), node.axis(at(axes, i - first), node.rank(i)),
                      at(directions, i - first) != 0});
  Value count = graph.size(inputs.front().array, inputs.front().axis);
  ScanResults results =
      writeScan(node, states, inputs, count, count, node.integers("scan_output_directions"));
  for (auto [number, output] : llvm::enumerate(results.outputs)) {
    int64_t rank = GraphBuilder::rankOf(output), axis = node.axis(at(outputAxes, number), rank);
    // The dimension in front becomes that of the axis.
    Numbers order = numbersFrom(1, rank);
    order.insert(order.begin() + axis, 0);
    results.states.push_back(ImportedValue::ofArray(graph.permute(output, order)));
  }
  node.setValues(std::move(results.states));
}

// Of version 8: the same for each case of a batch, the first dimension of all operands; the next is scanned, of
// each case as far as its length.
void importBatchedScan(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  size_t first = 1 + stateCount(node, 1);
  Values operands;
  for (size_t i = 1; i < node.operandCount(); ++i)
    operands.push_back(node.operand(i));
  Numbers directions = node.integers("directions");
  Value lengths = node.hasOperand(0) ? graph.cast(node.operand(0), ElementType::I64) : Value();
  Value cases = graph.size(operands[first - 1], 0), longest = graph.size(operands[first - 1], 1);

  LoopWriter loop(graph);
  ImportedValues states;
  SmallVector<ScanInput> inputs;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Value one = graph.part(operand, 0, loop.counter());
    if (number + 1 < first)
      states.push_back(ImportedValue::ofArray(one));
    else
      inputs.push_back({one, 0, at(directions, number + 1 - first) != 0});
  }
  Value count = lengths ? graph.scalarOf(graph.part(lengths, 0, loop.counter())) : longest;
  ScanResults results = writeScan(node, states, inputs, count, longest, {});
  for (Value output : results.outputs)
    results.states.push_back(ImportedValue::ofArray(output));
  std::vector<IterationCollector> collectors;
  for (ImportedValue &value : results.states)
    collectors.emplace_back(graph, loop, cases, Numbers())
        .add(arrayOf(value, graph), loop.counter());
  Values ends = loop.finishCounted(cases);
  for (auto [number, collector] : llvm::enumerate(collectors))
    node.setResult(number, collector.collected(ends, cases));
}

constexpr ImportRule rules[] = {
    {"Scan", 8, importBatchedScan},
    {"Scan", 9, importScan},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::scanRules() { return rules; }
