// If and Loop: nodes with graphs, which see the values around them.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"
#include "frontend/onnx/LoopValues.h"

#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

std::optional<bool> truthOf(NodeImporter &node, ImportedValue &tensor) {
  std::optional<Numbers> known = node.constantsOf(tensor);
  return known && known->size() == 1 ? std::optional(known->front() != 0) : std::nullopt;
}

//===- If ------------------------------------------------------------------------------------===//

// What both branches give, in one form: known by as many cells, as arrays of one type, or sequences of such.
class BranchResults {
public:
  BranchResults(NodeImporter &node, Region &then, Region &otherwise)
      : node_(node), regions_{&then, &otherwise} {}

  // Gives the form of the result: `then`, as far as this is known by cells or is a sequence.
  ImportedValue join(ImportedValue then, ImportedValue otherwise) {
    bool isSequence = then.kind == ImportedValue::Kind::Sequence;
    if (then.kind != otherwise.kind ||
        (isSequence && then.elements->size() != otherwise.elements->size()))
      node_.refuse("If whose branches give different kinds of values or lengths of sequences");
    if (isSequence) {
      ImportedValues elements;
      for (auto [element, other] : llvm::zip(*then.elements, *otherwise.elements))
        elements.push_back(join(element, other));
      return ImportedValue::ofElements(std::move(elements));
    }
    if (!then.isTensor())
      return then;
    if (then.hasWholeCells() && otherwise.hasWholeCells() &&
        then.cells->size() == otherwise.cells->size() && then.isScalar == otherwise.isScalar) {
      llvm::append_range(yields_[0], *then.cells);
      llvm::append_range(yields_[1], *otherwise.cells);
      return ImportedValue::ofCells(*then.cells, then.isScalar);
    }
    Value arrays[] = {arrayIn(0, then), arrayIn(1, otherwise)};
    if (arrays[0].getType() != arrays[1].getType())
      node_.refuse(fmt::format("If whose branches give {} and {}",
                               describeArray(arrays[0].getType()),
                               describeArray(arrays[1].getType())));
    return ImportedValue::ofArray(arrays[0]);
  }

  ArrayRef<Value> yields(size_t branch) const { return yields_[branch]; }

  // The values of the operation in a form that was joined, in the same order.
  static ImportedValue taken(const ImportedValue &form, ArrayRef<Value> &results,
                             GraphBuilder &graph) {
    auto next = [&] {
      Value first = results.front();
      results = results.drop_front();
      return first;
    };
    if (form.kind == ImportedValue::Kind::Sequence) {
      ImportedValues elements;
      for (const ImportedValue &element : *form.elements)
        elements.push_back(taken(element, results, graph));
      return ImportedValue::ofElements(std::move(elements));
    }
    if (!form.isTensor())
      return form;
    if (!form.cells) {
      Value value = next();
      return ImportedValue::ofArray(tok::isArray(value.getType()) ? value
                                                                  : graph.arrayOfScalar(value));
    }
    Values cells;
    for (size_t i = 0; i < form.cells->size(); ++i)
      cells.push_back(next());
    return ImportedValue::ofCells(std::move(cells), form.isScalar);
  }

private:
  Value arrayIn(size_t branch, ImportedValue &tensor) {
    OpBuilder &builder = node_.graph().builder();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&regions_[branch]->front());
    Value array = arrayOf(tensor, node_.graph());
    bool isOne = GraphBuilder::rankOf(array) == 0 && (GraphBuilder::elementOf(array).isF64() ||
                                                      GraphBuilder::elementOf(array).isInteger(1));
    yields_[branch].push_back(isOne ? node_.graph().scalarOf(array) : array);
    return array;
  }

  NodeImporter &node_;
  Region *regions_[2];
  SmallVector<Value> yields_[2];
};

void importIf(NodeImporter &node) {
  constexpr StringLiteral names[] = {"then_branch", "else_branch"};
  node.ignore({names[0], names[1]}); // one of them where the condition is known
  if (std::optional<bool> isTaken = truthOf(node, node.value(0)))
    return node.setValues(node.importGraph(names[*isTaken ? 0 : 1], {}));
  GraphBuilder &graph = node.graph();
  Value condition = graph.scalarOf(node.operand(0));
  Region regions[2];
  ImportedValues values[2];
  bool isRefused = false;
  for (auto [region, branch, name] : llvm::zip(regions, values, names)) {
    OpBuilder::InsertionGuard guard(graph.builder());
    graph.builder().setInsertionPointToStart(&region.emplaceBlock());
    try {
      branch = node.importGraph(name, {});
    } catch (const AlreadyReported &) {
      isRefused = true; // mistakes in the other branch are reported, too
    }
  }
  if (isRefused)
    throw AlreadyReported();
  if (values[0].size() != values[1].size())
    throw Error(
        fmt::format("its branches give {} and {} values", values[0].size(), values[1].size()));
  BranchResults joined(node, regions[0], regions[1]);
  ImportedValues forms;
  for (auto [then, otherwise] : llvm::zip(values[0], values[1]))
    forms.push_back(joined.join(then, otherwise));
  for (size_t branch : {0, 1}) {
    OpBuilder::InsertionGuard guard(graph.builder());
    graph.builder().setInsertionPointToEnd(&regions[branch].front());
    graph.builder().create<tok::YieldOp>(graph.location(), joined.yields(branch));
  }
  auto operation = graph.builder().create<tok::IfOp>(
      graph.location(), ValueRange(joined.yields(0)).getTypes(), condition);
  operation.getThenRegion().takeBody(regions[0]);
  operation.getElseRegion().takeBody(regions[1]);
  SmallVector<Value> all(operation.getResults());
  ArrayRef<Value> results = all;
  for (ImportedValue &form : forms)
    form = BranchResults::taken(form, results, graph);
  node.setValues(std::move(forms));
}

//===- Loop ----------------------------------------------------------------------------------===//

// One iteration after the other, where sequences or optionals are carried: their forms change.
void writeOutLoop(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  std::optional<bool> goesOn = node.hasOperand(1) ? truthOf(node, node.value(1)) : true;
  std::optional<int64_t> count = std::numeric_limits<int64_t>::max();
  if (node.hasOperand(0)) {
    std::optional<Numbers> known = node.constantsIfKnown(0);
    count = known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
  }
  const Graph &body = node.innerGraph("body");
  ImportedValues carried;
  for (size_t i = 2; i < node.operandCount(); ++i)
    carried.push_back(node.hasOperand(i) ? node.value(i) : ImportedValue::absent());
  std::vector<Values> collected(body.outputs.size() -
                                std::min(body.outputs.size(), carried.size() + 1));
  for (int64_t i = 0; count && goesOn && *goesOn && i < *count; ++i) {
    ImportedValues arguments = {
        ImportedValue::ofCells({graph.integer(i)}, true),
        ImportedValue::ofArray(graph.literal(
            DenseElementsAttr::get(RankedTensorType::get({}, graph.builder().getI1Type()), true)))};
    llvm::append_range(arguments, carried);
    ImportedValues results = node.importGraph("body", std::move(arguments));
    if (results.size() < carried.size() + 1)
      throw Error("its body gives fewer values than it takes");
    goesOn = truthOf(node, results.front());
    for (auto [value, next] : llvm::zip(carried, ArrayRef(results).drop_front()))
      value = next;
    for (auto [values, array] :
         llvm::zip(collected, llvm::MutableArrayRef(results).drop_front(carried.size() + 1)))
      values.push_back(graph.unsqueeze(arrayOf(array, graph), {0}));
  }
  if (!count || !goesOn)
    node.refuse("Loop with sequences whose number of iterations is not a number of the model");
  for (const Values &values : collected) {
    if (values.empty())
      node.refuse("Loop with sequences that gives an array of no iterations");
    carried.push_back(ImportedValue::ofArray(graph.join(values, 0)));
  }
  node.setValues(std::move(carried));
}

bool carriesSequences(NodeImporter &node) {
  for (size_t i = 2; i < node.operandCount(); ++i)
    if (!node.hasOperand(i) || !node.value(i).isTensor())
      return true;
  return false;
}

void importLoop(NodeImporter &node) {
  if (carriesSequences(node))
    return writeOutLoop(node);
  GraphBuilder &graph = node.graph();
  std::optional<bool> begins = node.hasOperand(1) ? truthOf(node, node.value(1)) : true;
  Value first = begins ? graph.builder().create<tok::ConstantOp>(graph.location(), *begins)
                       : graph.scalarOf(node.operand(1));
  Value count;
  if (node.hasOperand(0))
    count = graph.scalar(Binary::Max, graph.inIntegers(node.scalarAt(0)), graph.integer(0));
  ImportedValues inits;
  for (size_t i = 2; i < node.operandCount(); ++i)
    inits.push_back(node.value(i));

  LoopWriter loop(graph);
  Value goesOn = loop.carry([&] { return first; });
  Value goesOnArray = graph.arrayOfScalar(goesOn);
  ImportedValues arguments = {ImportedValue::ofCells({loop.counter()}, true),
                              ImportedValue::ofArray(goesOnArray)};
  std::vector<CarriedTensor> carried;
  for (const ImportedValue &init : inits)
    arguments.push_back(carried.emplace_back(node, loop, init).value());
  ImportedValues results = node.importGraph("body", std::move(arguments));
  if (results.size() < carried.size() + 1)
    throw Error("its body gives fewer values than it takes");
  bool passesOn = results.front().array == goesOnArray || truthOf(node, results.front()) == true;
  bool isCounted = begins == true && passesOn;
  if (isCounted && !count)
    throw Error("the loop never ends: it has neither a number of iterations nor a condition");
  for (auto [tensor, next] : llvm::zip(carried, ArrayRef(results).drop_front()))
    tensor.setNext(next);
  std::vector<IterationCollector> collectors;
  for (size_t i = carried.size() + 1; i < results.size(); ++i)
    collectors
        .emplace_back(graph, loop, isCounted ? count : Value(),
                      sizesWithoutIterations(node.innerGraph("body").outputs[i]))
        .add(arrayOf(results[i], graph), loop.counter());
  Values last;
  if (isCounted) {
    last = loop.finishCounted(count);
  } else {
    if (!passesOn)
      loop.setNext(goesOn, graph.scalarOf(arrayOf(results.front(), graph)));
    last = loop.finishWhile(goesOn, count);
    count = last.back();
  }
  ImportedValues all;
  for (const CarriedTensor &tensor : carried)
    all.push_back(tensor.result(last));
  for (IterationCollector &collector : collectors)
    all.push_back(ImportedValue::ofArray(collector.collected(last, count)));
  node.setValues(std::move(all));
}

constexpr ImportRule rules[] = {
    {"If", 1, importIf},
    {"Loop", 1, importLoop},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::controlFlowRules() { return rules; }
