#include "pipeline/PrepareWeights.h"

#include "ir/tok/SizesAttribute.h"
#include "ir/tok/TokDialect.h"
#include "pipeline/WeightValues.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

namespace {

class WeightPreparation {
public:
  WeightPreparation(func::FuncOp main, analysis::FactsAnalysis &facts)
      : main_(main), facts_(facts), inputs_(main.getNumArguments() - weightsOf(main).size()),
        known_(valuesOfWeights(main, facts)) {}

  bool run() {
    findResults();
    if (results_.empty())
      return false;
    func::FuncOp preparation = makePreparation();
    eraseWhatMoved();
    takeResults(preparation);
    return true;
  }

private:
  static bool isLiteral(Operation *op) { return isa<tok::ConstantOp, tok::LiteralOp>(op); }

  // What reads transpositions absorbs them, and integers tell facts.
  bool isMoved(Value value) {
    Operation *op = value.getDefiningOp();
    return op && known_.contains(value) && tok::isArray(value.getType()) && !isLiteral(op) &&
           !isa<tok::TransposeOp>(op);
  }

  // Whether an operation that stays in `main` reads one of the results.
  bool isReadByWhatStays(Operation &op) {
    return llvm::any_of(op.getUsers(), [&](Operation *user) {
      return user->getBlock() != &main_.front() || stays_.contains(user);
    });
  }

  void findResults() {
    for (Operation &op : llvm::reverse(main_.front()))
      if (op.getNumResults() == 0 || !known_.contains(op.getResult(0)) ||
          (!llvm::any_of(op.getResults(), [&](Value v) { return isMoved(v); }) &&
           isReadByWhatStays(op)))
        stays_.insert(&op);
    for (Operation &op : main_.front())
      if (!stays_.contains(&op) && isReadByWhatStays(op))
        results_.insert(op.result_begin(), op.result_end());
  }

  func::FuncOp makePreparation() {
    OpBuilder builder(main_);
    auto type = builder.getFunctionType(main_.getArgumentTypes().drop_front(inputs_), {});
    auto preparation = builder.create<func::FuncOp>(main_.getLoc(), preparationName, type);
    preparation.setPrivate();
    Block *body = preparation.addEntryBlock();
    IRMapping mapping;
    for (auto [weight, argument] : llvm::zip_equal(weightsOf(main_), preparation.getArguments())) {
      mapping.map(weight, argument);
      if (auto attributes = main_.getArgAttrDict(weight.getArgNumber()))
        preparation.setArgAttrs(argument.getArgNumber(), attributes);
    }
    llvm::SmallPtrSet<Operation *, 32> needed;
    SmallVector<Value> open(results_.begin(), results_.end());
    while (!open.empty())
      if (Operation *op = open.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
        llvm::append_range(open, op->getOperands());
    builder.setInsertionPointToEnd(body);
    for (Operation &op : main_.front())
      if (needed.contains(&op))
        builder.clone(op, mapping);
    prepared_ = llvm::map_to_vector(results_, [&](Value value) { return mapping.lookup(value); });
    return preparation;
  }

  // The results become arguments of `main`, behind its weights; what nothing reads any more is erased.
  void eraseWhatMoved() {
    Builder builder(main_.getContext());
    for (Value result : results_) {
      NamedAttribute sizes(builder.getStringAttr(tok::sizesAttributeName),
                           tok::sizesAttribute(main_.getContext(), facts_.factsOf(result).dims));
      unsigned last = main_.getNumArguments();
      main_.insertArgument(last, result.getType(), builder.getDictionaryAttr(sizes),
                           result.getLoc());
      result.replaceAllUsesWith(main_.getArgument(last));
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main_.front())))
      if (op.use_empty() && !stays_.contains(&op))
        op.erase();
  }

  void takeResults(func::FuncOp preparation) {
    SmallVector<Value> returned;
    llvm::BitVector unused(main_.getNumArguments());
    for (auto [i, weight] : llvm::enumerate(preparation.getArguments()))
      if (main_.getArgument(inputs_ + i).use_empty())
        unused.set(inputs_ + i);
      else
        returned.push_back(weight);
    llvm::append_range(returned, prepared_);
    OpBuilder builder(main_.getContext());
    builder.setInsertionPointToEnd(&preparation.front());
    builder.create<func::ReturnOp>(main_.getLoc(), returned);
    preparation.setFunctionType(
        builder.getFunctionType(preparation.getArgumentTypes(), TypeRange(ValueRange(returned))));
    main_.eraseArguments(unused);
    main_->setAttr(tok::weightsAttributeName, builder.getI64IntegerAttr(returned.size()));
  }

  func::FuncOp main_;
  analysis::FactsAnalysis &facts_;
  const size_t inputs_;               // arguments that are no weights
  const llvm::DenseSet<Value> known_; // what depends on weights alone
  llvm::DenseSet<Operation *> stays_;
  llvm::SetVector<Value> results_; // of what moves, for what stays
  SmallVector<Value> prepared_;    // the same in the new function
};

} // namespace

bool pipeline::prepareWeights(ModuleOp module, analysis::FactsAnalysis &facts) {
  func::FuncOp main = functionOfWeights(module);
  return main && !module.lookupSymbol(preparationName) && WeightPreparation(main, facts).run();
}
