#include "fusion/select/ExplainFusion.h"

#include "fusion/explore/Notation.h"
#include "fusion/select/PlanDescription.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

namespace {

class Explanation {
public:
  Explanation(const OperatorPool &pool, const Plan &plan, ArrayRef<BuiltOperator> built)
      : pool_(pool), graph_(pool.graph()), plan_(plan), built_(built), words_(pool, plan, built),
        out_(text_) {}

  std::string write(StringRef block) {
    out_ << "fusion of block " << block << ", selector " << name(pool_.selector()) << ": "
         << countText(graph_.size(), "operation") << ", " << graph_.nodes().size()
         << " of them generated as " << countText(built_.size(), "operator") << "\n";
    out_ << "  in short\n";
    for (const std::string &sentence : words_.summary())
      out_ << "    " << sentence << "\n";
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
  std::string place(int index) const {
    std::string text = words_.place(index);
    return text.empty() ? "" : " at " + text;
  }

  // Writes each operation, followed by its frames in brackets, with the fusable operands.
  void writeCandidates() {
    out_ << "  candidates (" << pool_.memo().entryCount()
         << (pool_.memo().entryCount() == 1 ? " entry)\n" : " entries)\n");
    for (int index : graph_.nodes()) {
      out_ << "    " << words_.named(index) << place(index) << "\n     ";
      for (const MemoGroup &group : pool_.memo().groups[index])
        if (group.natural || group.fusable)
          out_ << " [" << words_.wayText(index, group) << "]";
      out_ << "\n";
    }
  }

  void writeRefusals() {
    if (pool_.memo().refusals.empty() && plan_.refusedMerges.empty())
      return;
    out_ << "  refused\n";
    for (const Refusal &refusal : pool_.memo().refusals)
      out_ << "    " << words_.named(refusal.operation) << place(refusal.operation) << ": "
           << refusal.reason << "\n";
    for (const std::string &sentence : words_.refusedMerges())
      out_ << "    " << sentence << "\n";
  }

  void writePartition(const Partition &partition) {
    out_ << words_.searchText(partition) << "\n";
    for (int point : partition.points)
      out_ << "    " << words_.named(point) << ": result has "
           << countText(graph_.consumers(point), "consumer") << ", "
           << words_.shapeText(graph_[point].result()) << ": " << words_.outcome(point) << "\n";
    for (int node : partition.nodes)
      if (plan_.shared[node])
        out_ << "    " << words_.named(node)
             << ": several operators use it; stored, so that it has one value\n";
  }

  void writeOperators() {
    out_ << "  operators\n";
    for (auto [number, built] : llvm::enumerate(built_)) {
      const FusedOperator &op = pool_[built.id];
      out_ << "    " << number + 1 << ". " << words_.loopsText(built) << ", "
           << countText(op.members.count(), "operation") << ", " << microseconds(op.nanoseconds)
           << "\n";
      for (int member : op.members.set_bits())
        if (op.isRoot(member) || !variableOf(graph_[member].result()).empty())
          out_ << "         " << definition(graph_[member].result()) << place(member) << "\n";
      out_ << "         reads " << words_.inputsText(op) << "; writes " << words_.outputsText(op)
           << "\n";
    }
    out_ << "  predicted " << microseconds(words_.nanoseconds()) << "\n";
  }

  const OperatorPool &pool_;
  const BlockGraph &graph_;
  const Plan &plan_;
  ArrayRef<BuiltOperator> built_;
  const PlanDescription words_;
  std::string text_;
  llvm::raw_string_ostream out_;
};

} // namespace

std::string fusion::explainFusion(StringRef block, const OperatorPool &pool, const Plan &plan,
                                  ArrayRef<BuiltOperator> built) {
  return Explanation(pool, plan, built).write(block);
}
