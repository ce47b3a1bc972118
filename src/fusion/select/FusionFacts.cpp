#include "fusion/select/FusionFacts.h"

#include "fusion/explore/Notation.h"
#include "fusion/select/PlanDescription.h"
#include "support/SourceLocations.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;
using Json = nlohmann::ordered_json;

static const char *textOf(NodeKind kind) {
  static constexpr const char *names[] = {"other",   "elementwise", "aggregate", "product",
                                          "product", "slice",       "columns",   "scan"};
  return names[static_cast<int>(kind)];
}

// Literals stand in the texts of operations, not in operations of their own.
static bool isLiteral(Operation *operation) { return isa<tok::ConstantOp>(operation); }

static Json operandsOf(const BlockGraph &graph, const PlanDescription &words, int index) {
  Json operands = Json::array();
  for (auto [value, producer] : llvm::zip(graph[index].operands, graph[index].producers)) {
    if (producer >= 0 && !isLiteral(graph[producer].operation)) {
      operands.push_back({{"operation", producer}});
    } else if (producer < 0) {
      Json operand = {{"value", notation(value)}};
      if (tok::isArray(value.getType()))
        operand["size"] = words.arrayText(value);
      operands.push_back(std::move(operand));
    }
  }
  return operands;
}

static Json operationOf(const OperatorPool &pool, const Plan &plan, const PlanDescription &words,
                        int index) {
  const Node &node = pool.graph()[index];
  Json operation = {{"index", index}, {"text", words.named(index)}, {"kind", textOf(node.kind)}};
  if (node.operation->getNumResults() > 0) {
    operation["definition"] = definition(node.result());
    if (tok::isArray(node.result().getType()))
      operation["size"] = words.arrayText(node.result());
  }
  SourcePlace place = support::placeOf(node.operation->getLoc());
  if (place.isKnown()) {
    operation["file"] = place.file;
    operation["line"] = place.line;
    operation["column"] = place.column;
  }
  operation["operands"] = operandsOf(pool.graph(), words, index);
  operation["ways"] = Json::array();
  for (const MemoGroup &group : pool.memo().groups[index])
    if (group.natural || group.fusable)
      operation["ways"].push_back(words.wayText(index, group));
  operation["refusals"] = Json::array();
  for (const Refusal &refusal : pool.memo().refusals)
    if (refusal.operation == index)
      operation["refusals"].push_back(refusal.reason);
  for (const Partition &partition : plan.partitions)
    if (llvm::is_contained(partition.points, index))
      operation["outcome"] = words.outcome(index).str();
  if (plan.shared[index])
    operation["outcome"] = "several operators use it; stored, so that it has one value";
  return operation;
}

static Json operatorOf(const OperatorPool &pool, const PlanDescription &words, int number,
                       const BuiltOperator &built) {
  const FusedOperator &op = pool[built.id];
  bool isNative = !isa<plan::OperatorOp>(built.operation);
  Json json = {{"number", number}, {"loops", words.loopsText(built)}, {"native", isNative}};
  json["members"] = Json::array();
  for (int member : op.members.set_bits())
    json["members"].push_back(member);
  json["results"] = std::vector<int>(op.roots.begin(), op.roots.end());
  json["reads"] = words.inputsText(op);
  json["writes"] = words.outputsText(op);
  json["predicted_ns"] = op.nanoseconds;
  json["separate_ns"] = words.separateNanoseconds(op);
  return json;
}

std::string fusion::fusionFacts(StringRef block, const OperatorPool &pool, const Plan &plan,
                                ArrayRef<BuiltOperator> built) {
  PlanDescription words(pool, plan, built);
  const BlockGraph &graph = pool.graph();
  Json facts = {{"block", block.str()},
                {"selector", name(pool.selector()).str()},
                {"summary", words.summary()}};
  facts["operations"] = Json::array();
  for (int index = 0; index < graph.size(); ++index)
    if (graph[index].live && !isLiteral(graph[index].operation))
      facts["operations"].push_back(operationOf(pool, plan, words, index));
  facts["operators"] = Json::array();
  for (auto [number, each] : llvm::enumerate(built)) {
    facts["operators"].push_back(operatorOf(pool, words, number, each));
    each.operation->setAttr(
        operatorNumberAttributeName,
        IntegerAttr::get(IntegerType::get(each.operation->getContext(), 64), number));
  }
  facts["search"] = Json::array();
  for (auto [number, partition] : llvm::enumerate(plan.partitions))
    facts["search"].push_back("partition " + std::to_string(number + 1) + ": " +
                              words.searchText(partition));
  facts["refused_merges"] = words.refusedMerges();
  // Names in scripts may be no valid UTF-8, which JSON can't hold.
  return facts.dump(-1, ' ', false, Json::error_handler_t::replace);
}
