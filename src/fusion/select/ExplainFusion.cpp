#include "fusion/select/ExplainFusion.h"

#include "fusion/explore/Notation.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

namespace {

class Explanation {
public:
  Explanation(const OperatorPool &pool, const Plan &plan, ArrayRef<BuiltOperator> built)
      : pool_(pool), graph_(pool.graph()), plan_(plan), built_(built), out_(text_) {}

  std::string write(StringRef block) {
    out_ << "fusion of block " << block << ", selector " << name(pool_.selector()) << ": "
         << count(graph_.size(), "operation") << ", " << graph_.nodes().size()
         << " of them generated as " << count(built_.size(), "operator") << "\n";
    writeCandidates();
    writeRefusals();
    for (auto [number, partition] : llvm::enumerate(plan_.partitions)) {
      out_ << "  partition " << number + 1 << ": ";
      writePartition(partition);
    }
    writeOperators();
    return text_;
  }

private:
  std::string named(int index) const {
    std::string text = graph_[index].operation->getNumResults() == 0
                           ? graph_[index].operation->getName().stripDialect().str()
                           : notation(graph_[index].result());
    constexpr size_t longest = 60;
    return text.size() > longest ? text.substr(0, longest - 3) + "..." : text;
  }

  // Sizes that are not constant are written as "~" and their estimate.
  static std::string textOf(const Size &size) {
    return (size.isConstant() ? "" : "~") +
           std::to_string(static_cast<int64_t>(BlockFacts::estimate(size)));
  }
  static std::string textOf(const Shape &shape) {
    return textOf(shape.rows) + "x" + textOf(shape.columns);
  }

  std::string arrayText(Value array, bool isSparse) const {
    return textOf(graph_.shapeOf(array)) + (isSparse ? " sparse" : "");
  }

  static std::string count(int64_t number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  }

  std::string place(int index) const {
    std::string text = placeOf(graph_[index].operation->getLoc());
    return text.empty() ? "" : " at " + text;
  }

  static StringRef nativeName(Operation *operation) {
    if (auto native = dyn_cast<tok::CallNativeOp>(operation))
      return native.getNative();
    return isa<tok::MatmulOp>(operation) ? "product" : operation->getName().stripDialect();
  }

  // A frame as "row 1000x10", "sparse 1000x10 at the entries of S" or "native".
  std::string frameText(const Frame &frame) const {
    static constexpr const char *loops[] = {"cell ", "row ", "axes beside ", "scan "};
    if (frame.isNative)
      return "native";
    if (frame.driver)
      return "sparse " + textOf(frame.space) + " at the entries of " + notation(frame.driver);
    return loops[static_cast<int>(frame.loops)] +
           (frame.loops == Loops::AnyAxes ? textOf(frame.space.rows) : textOf(frame.space));
  }

  // Writes each operation, followed by its frames in brackets, with the fusable operands.
  void writeCandidates() {
    out_ << "  candidates (" << pool_.memo().entryCount() << " entries)\n";
    for (int index : graph_.nodes()) {
      out_ << "    " << named(index) << place(index) << "\n     ";
      for (const MemoGroup &group : pool_.memo().groups[index]) {
        if (!group.natural && !group.fusable)
          continue;
        const Frame &frame = pool_.memo().frames[group.frame];
        out_ << " [" << frameText(frame);
        for (auto [operand, value] : llvm::enumerate(graph_[index].operands))
          if (group.fusable >> operand & 1)
            out_ << " +" << named(graph_[index].producers[operand]);
        out_ << (group.open ? "" : ", closed") << "]";
      }
      out_ << "\n";
    }
  }

  void writeRefusals() {
    if (pool_.memo().refusals.empty() && plan_.refusedMerges.empty())
      return;
    out_ << "  refused\n";
    for (const Refusal &refusal : pool_.memo().refusals)
      out_ << "    " << named(refusal.operation) << place(refusal.operation) << ": "
           << refusal.reason << "\n";
    std::set<std::string> lines;
    for (const RefusedMerge &merge : plan_.refusedMerges) {
      std::string line = "    " + named(pool_[merge.first].roots.back()) + " with " +
                         named(pool_[merge.second].roots.back()) + ": " + named(merge.between) +
                         " has to be executed between them\n";
      if (lines.insert(line).second)
        out_ << line;
    }
  }

  void writePartition(const Partition &partition) {
    out_ << count(partition.nodes.size(), "operation") << ", "
         << count(partition.points.size(), "interesting point");
    if (pool_.selector() == Selector::Cost) {
      out_ << "; " << count(partition.evaluated, "plan") << " priced";
      if (partition.visited)
        out_ << ", " << count(partition.visited, "cover") << " begun";
      if (partition.isExact())
        out_ << "; none is cheaper";
      else
        out_ << llvm::formatv(
            "; not all were looked at, since that would take longer than they may "
            "save; none saves more than {0:F1} %",
            100 * (1 - partition.least / partition.nanoseconds));
    }
    out_ << "\n";
    for (int point : partition.points) {
      out_ << "    " << named(point) << ": result has "
           << count(graph_.consumers(point), "consumer") << ", "
           << textOf(graph_.shapeOf(graph_[point].result())) << ": " << outcome(point) << "\n";
    }
    for (int node : partition.nodes)
      if (plan_.shared[node])
        out_ << "    " << named(node)
             << ": several operators use it; stored, so that it has one value\n";
  }

  StringRef outcome(int point) const {
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

  void writeOperators() {
    out_ << "  operators\n";
    double total = 0;
    for (auto [number, built] : llvm::enumerate(built_)) {
      const FusedOperator &op = pool_[built.id];
      total += op.nanoseconds;
      const Frame &frame = pool_.frameOf(built.id);
      out_ << "    " << number + 1 << ". ";
      if (auto fused = dyn_cast<plan::OperatorOp>(built.operation))
        out_ << plan::nameOfBody(fused) << " " << textOf(frame.space);
      else
        out_ << "native " << nativeName(built.operation);
      if (frame.driver)
        out_ << " at the entries of " << notation(frame.driver) << " (density "
             << llvm::format("%.3g", graph_.facts().densityOf(frame.driver)) << ")";
      out_ << ", " << count(op.members.count(), "operation") << ", "
           << llvm::formatv("{0:f2}", op.nanoseconds / 1000) << " us\n";
      for (int member : op.members.set_bits())
        if (op.isRoot(member) || !variableOf(graph_[member].result()).empty())
          out_ << "         " << definition(graph_[member].result()) << place(member) << "\n";
      out_ << "         reads " << inputs(op) << "; writes " << outputs(op) << "\n";
    }
    out_ << "  predicted " << llvm::formatv("{0:f2}", total / 1000) << " us\n";
  }

  std::string inputs(const FusedOperator &op) const {
    llvm::SmallPtrSet<Value, 16> seen;
    std::string text;
    op.forEachInput(graph_, [&](Use use) {
      Value value = graph_[use.user].operands[use.operand];
      int producer = graph_[use.user].producers[use.operand];
      if (value.getDefiningOp<tok::ConstantOp>() || !seen.insert(value).second)
        return;
      text += (text.empty() ? "" : ", ") + (producer >= 0 ? named(producer) : notation(value));
      if (tok::isArray(value.getType()))
        text += " " + arrayText(value, graph_.facts().isSparse(value));
    });
    return text.empty() ? "nothing" : text;
  }

  std::string outputs(const FusedOperator &op) const {
    const Frame &frame = pool_.memo().frames[op.frame];
    std::string text;
    for (int root : op.roots) {
      Value result = graph_[root].result();
      bool sparse = frame.driver && graph_.shapeOf(result) == frame.space;
      text += text.empty() ? "" : ", ";
      text += tok::isArray(result.getType()) ? arrayText(result, sparse) : "a scalar";
    }
    return text;
  }

  const OperatorPool &pool_;
  const BlockGraph &graph_;
  const Plan &plan_;
  ArrayRef<BuiltOperator> built_;
  std::string text_;
  llvm::raw_string_ostream out_;
};

} // namespace

std::string fusion::explainFusion(StringRef block, const OperatorPool &pool, const Plan &plan,
                                  ArrayRef<BuiltOperator> built) {
  return Explanation(pool, plan, built).write(block);
}
