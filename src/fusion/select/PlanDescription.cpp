#include "fusion/select/PlanDescription.h"

#include "fusion/explore/Notation.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>
#include <set>
#include <tuple>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

std::string fusion::countText(int64_t number, StringRef what) {
  return std::to_string(number) + " " + what.str() + (number == 1 ? "" : "s");
}

std::string fusion::microseconds(double nanoseconds) {
  return llvm::formatv("{0:f2} us", nanoseconds / 1000);
}

static std::string textOf(const Size &size) {
  return (size.isConstant() ? "" : "~") +
         std::to_string(static_cast<int64_t>(BlockFacts::estimate(size)));
}
static std::string textOf(const Shape &shape) {
  return textOf(shape.rows) + "x" + textOf(shape.columns);
}

static StringRef nativeName(Operation *operation) {
  if (auto native = dyn_cast<tok::CallNativeOp>(operation))
    return native.getNative();
  return isa<tok::MatmulOp>(operation) ? "product" : operation->getName().stripDialect();
}

PlanDescription::PlanDescription(const OperatorPool &pool, const Plan &plan,
                                 ArrayRef<BuiltOperator> built)
    : pool_(pool), graph_(pool.graph()), plan_(plan), built_(built), separate_(graph_.size(), 0.0) {
  MemoTable memo = explore(graph_, Drivers::All);
  OperatorPool separate(graph_, memo, pool.machine(), Selector::None);
  for (int id : searchPlan(separate).operators)
    for (int root : separate[id].roots)
      separate_[root] += separate[id].nanoseconds / separate[id].roots.size();
}

//===- operations ----------------------------------------------------------------------------===//

std::string PlanDescription::named(int index) const {
  std::string text = graph_[index].operation->getNumResults() == 0
                         ? graph_[index].operation->getName().stripDialect().str()
                         : notation(graph_[index].result());
  constexpr size_t longest = 60;
  return text.size() > longest ? text.substr(0, longest - 3) + "..." : text;
}

std::string PlanDescription::place(int index) const {
  return placeOf(graph_[index].operation->getLoc());
}

std::string PlanDescription::shapeText(Value array) const { return textOf(graph_.shapeOf(array)); }

std::string PlanDescription::arrayText(Value array) const {
  return shapeText(array) + (graph_.facts().isSparse(array) ? " sparse" : "");
}

// A frame as "row 1000x10", "sparse 1000x10 at the entries of S" or "native".
static std::string frameText(const Frame &frame) {
  static constexpr const char *loops[] = {"cell ", "row ", "axes beside ", "scan "};
  if (frame.isNative)
    return "native";
  if (frame.driver)
    return "sparse " + textOf(frame.space) + " at the entries of " + notation(frame.driver);
  return loops[static_cast<int>(frame.loops)] +
         (frame.loops == Loops::AnyAxes ? textOf(frame.space.rows) : textOf(frame.space));
}

std::string PlanDescription::wayText(int index, const MemoGroup &group) const {
  std::string text = frameText(pool_.memo().frames[group.frame]);
  for (int operand = 0, end = graph_[index].operands.size(); operand < end; ++operand)
    if (group.fusable >> operand & 1)
      text += " +" + named(graph_[index].producers[operand]);
  return text + (group.open ? "" : ", closed");
}

StringRef PlanDescription::outcome(int point) const {
  int computed = 0;
  bool isStored = false, isRead = false;
  for (BuiltOperator built : built_) {
    const FusedOperator &op = pool_[built.id];
    computed += op.members[point];
    isStored |= op.isRoot(point);
    isRead |= op.doesRead(point);
  }
  if (!isStored)
    return computed == 1 ? "computed once, not stored" : "computed in each consumer";
  if (computed > 1)
    return "stored, and computed again in a consumer";
  return isRead ? "stored, then read" : "stored while it is used";
}

//===- operators and partitions --------------------------------------------------------------===//

std::string PlanDescription::loopsText(const BuiltOperator &built) const {
  const Frame &frame = pool_.frameOf(built.id);
  std::string text;
  if (auto fused = dyn_cast<plan::OperatorOp>(built.operation))
    text = plan::nameOfBody(fused).str() + " " + textOf(frame.space);
  else
    text = "native " + nativeName(built.operation).str();
  if (frame.driver)
    llvm::raw_string_ostream(text)
        << " at the entries of " << notation(frame.driver)
        << llvm::format(" (density %.3g)", graph_.facts().densityOf(frame.driver));
  return text;
}

std::string PlanDescription::inputsText(const FusedOperator &op) const {
  llvm::SmallPtrSet<Value, 16> seen;
  std::string text;
  op.forEachInput(graph_, [&](Use use) {
    Value value = graph_[use.user].operands[use.operand];
    int producer = graph_[use.user].producers[use.operand];
    if (value.getDefiningOp<tok::ConstantOp>() || !seen.insert(value).second)
      return;
    text += (text.empty() ? "" : ", ") + (producer >= 0 ? named(producer) : notation(value));
    if (tok::isArray(value.getType()))
      text += " " + arrayText(value);
  });
  return text.empty() ? "nothing" : text;
}

std::string PlanDescription::outputsText(const FusedOperator &op) const {
  const Frame &frame = pool_.memo().frames[op.frame];
  std::string text;
  for (int root : op.roots) {
    Value result = graph_[root].result();
    bool sparse = frame.driver && graph_.shapeOf(result) == frame.space;
    text += text.empty() ? "" : ", ";
    text +=
        tok::isArray(result.getType()) ? shapeText(result) + (sparse ? " sparse" : "") : "a scalar";
  }
  return text;
}

std::string PlanDescription::searchText(const Partition &partition) const {
  std::string text = countText(partition.nodes.size(), "operation") + ", " +
                     countText(partition.points.size(), "interesting point");
  if (pool_.selector() != Selector::Cost)
    return text;
  text += "; " + countText(partition.evaluated, "plan") + " priced";
  if (partition.visited)
    text += ", " + countText(partition.visited, "cover") + " begun";
  if (partition.isExact())
    return text + "; none is cheaper";
  text +=
      llvm::formatv("; not all were looked at, since that would take longer than they may save; "
                    "none saves more than {0:F1} %",
                    100 * (1 - partition.least / partition.nanoseconds));
  return text;
}

std::vector<std::string> PlanDescription::refusedMerges() const {
  std::vector<std::string> sentences;
  std::set<std::string> seen;
  for (const RefusedMerge &merge : plan_.refusedMerges) {
    std::string sentence = named(pool_[merge.first].roots.back()) + " with " +
                           named(pool_[merge.second].roots.back()) + ": " + named(merge.between) +
                           " has to be executed between them";
    if (seen.insert(sentence).second)
      sentences.push_back(sentence);
  }
  return sentences;
}

//===- costs ---------------------------------------------------------------------------------===//

double PlanDescription::separateNanoseconds(const FusedOperator &op) const {
  double sum = 0;
  for (int member : op.members.set_bits())
    sum += separate_[member];
  return sum;
}

double PlanDescription::nanoseconds() const {
  double sum = 0;
  for (BuiltOperator built : built_)
    sum += pool_[built.id].nanoseconds;
  return sum;
}

double PlanDescription::separateNanoseconds() const {
  double sum = 0;
  for (int node : graph_.nodes())
    sum += separate_[node];
  return sum;
}

// `together`: the operators of several operations. What was fused, those first that save most.
void PlanDescription::describeFused(SmallVector<BuiltOperator> &together,
                                    std::vector<std::string> &sentences) const {
  double fused = nanoseconds(), separate = separateNanoseconds();
  sentences.push_back(llvm::formatv(
      "{0} run as {1}: predicted {2}, as operators of their own {3}, so that fusion {4} {5:F1} %",
      countText(graph_.nodes().size(), "operation"), countText(built_.size(), "operator"),
      microseconds(fused), microseconds(separate), fused <= separate ? "saves" : "costs",
      separate > 0 ? 100 * std::abs(separate - fused) / separate : 0.0));
  auto saved = [&](BuiltOperator built) {
    return separateNanoseconds(pool_[built.id]) - pool_[built.id].nanoseconds;
  };
  llvm::sort(together, [&](BuiltOperator a, BuiltOperator b) {
    return std::tuple(saved(b), a.id) < std::tuple(saved(a), b.id);
  });
  constexpr size_t mostNamed = 3;
  for (BuiltOperator built : ArrayRef(together).take_front(mostNamed)) {
    const FusedOperator &op = pool_[built.id];
    SmallVector<std::string> roots;
    for (int root : op.roots)
      roots.push_back(named(root));
    sentences.push_back(
        llvm::formatv("{0}: {1} in one operator, {2} instead of {3}", llvm::join(roots, ", "),
                      countText(op.members.count(), "operation"), microseconds(op.nanoseconds),
                      microseconds(separateNanoseconds(op))));
  }
  if (together.size() > mostNamed)
    sentences.push_back("and " + countText(together.size() - mostNamed, "more operator") +
                        " of several operations");
}

std::vector<std::string> PlanDescription::summary() const {
  std::vector<std::string> sentences;
  if (built_.empty())
    return {"nothing in this block can be generated as a kernel"};
  SmallVector<BuiltOperator> together;
  for (BuiltOperator built : built_)
    if (pool_[built.id].members.count() > 1)
      together.push_back(built);
  if (together.empty())
    sentences.push_back(llvm::formatv("nothing is fused: {0} {1}, predicted {2}",
                                      countText(graph_.nodes().size(), "operation"),
                                      graph_.nodes().size() == 1 ? "runs as an operator of its own"
                                                                 : "run as operators of their own",
                                      microseconds(nanoseconds())));
  else
    describeFused(together, sentences);
  if (std::string sentence = runnerUpText(); !sentence.empty())
    sentences.push_back(std::move(sentence));
  return sentences;
}

// Empty where nothing can be said.
std::string PlanDescription::runnerUpText() const {
  if (pool_.selector() != Selector::Cost)
    return "the selector " + name(pool_.selector()).str() + " compares no plans";
  // Partitions are independent, so the second-best plan differs in one of them.
  std::optional<double> more;
  bool hasChoice = false, hasPriced = false; // other plans than the chosen one
  for (const Partition &partition : plan_.partitions) {
    hasChoice |= !partition.points.empty();
    hasPriced |= partition.evaluated > 1;
    double difference = std::max(partition.runnerUp - partition.nanoseconds, 0.0);
    if (partition.runnerUp > 0 && (!more || difference < *more))
      more = difference;
  }
  if (more)
    return llvm::formatv("the second-best plan would take {0} more ({1:F1} %)", microseconds(*more),
                         100 * *more / nanoseconds());
  if (!hasChoice)
    return "there is one plan only, since no result could be stored or computed again";
  return hasPriced ? "" : "every other plan was excluded by a bound before it was priced";
}
