// Chooses the order of a chain of matrix products: A %*% B %*% C is parsed as (A %*% B) %*% C, but
// A %*% (B %*% C) may take far fewer operations. Dynamic programming over the chain (T. Cormen,
// C. Leiserson, R. Rivest, C. Stein, "Introduction to Algorithms", section on matrix-chain
// multiplication). The work and the density of products of sparse matrices are estimated from the
// densities of the factors.
#include "rewrite/BlockRules.h"
#include "rewrite/RuleSupport.h"

#include <cmath>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

// Another order rounds differently, so it must reduce the work at least to this share.
constexpr double worthIt = 0.8;

struct Factor {
  Value value;
  Size rows = Size::unknown(), columns = Size::unknown();
  double density = 1;
};

class Chain {
public:
  Chain(tok::MatmulOp root, analysis::FactsAnalysis &facts) : root_(root), facts_(facts) {
    collect(root);
  }

  // The product in a better order, or null.
  Value reordered() {
    if (factors_.size() < 3 || !mayBeReordered())
      return {};
    double asWritten = workOf(root_).work;
    planOrders();
    if (!(best(0, factors_.size() - 1).work < worthIt * asWritten))
      return {};
    OpBuilder builder(root_);
    return build(builder, 0, factors_.size() - 1);
  }

private:
  struct Plan {
    double work = 0; // number of multiplications plus number of cells written
    double density = 1;
    size_t split = 0;
  };

  // Collects the factors of the chain. An operand that is a product without
  // other users is part of it.
  void collect(tok::MatmulOp op) {
    for (Value operand : op->getOperands()) {
      auto inner = operand.getDefiningOp<tok::MatmulOp>();
      if (inner && inner->hasOneUse() && inner->getBlock() == op->getBlock()) {
        collect(inner);
        continue;
      }
      tok::Facts facts = facts_.factsOf(operand);
      factors_.push_back({operand, facts.rows(), facts.columns(),
                          facts.isSparse() && facts.density >= 0 ? facts.density : 1});
    }
  }

  static double estimate(const Size &size) {
    return size.isConstant() ? double(size.constantValue()) : double(size.estimate(-1));
  }

  // Also false for mismatched sizes: the error must be reported at the product as written. And where sums may be of
  // nothing: they are 0, which becomes NaN if it is multiplied by NaN afterwards.
  bool mayBeReordered() const {
    for (size_t i = 0; i < factors_.size(); ++i) {
      if (estimate(factors_[i].rows) < 0 || estimate(factors_[i].columns) < 0)
        return false;
      if (i > 0 && (!factors_[i - 1].columns.provedEqual(factors_[i].rows) ||
                    factors_[i].rows.range().low < 1))
        return false;
    }
    return true;
  }

  // The plan that multiplies the products of factors i...k and of factors k+1...j.
  Plan join(const Plan &left, const Plan &right, size_t i, size_t k, size_t j) const {
    double rows = estimate(factors_[i].rows), inner = estimate(factors_[k].columns),
           columns = estimate(factors_[j].columns);
    Plan plan;
    // A cell is the sum of `inner` products; it is zero if all of them are.
    plan.density = 1 - std::pow(1 - left.density * right.density, inner);
    plan.work = left.work + right.work + rows * inner * columns * left.density * right.density +
                rows * columns * plan.density;
    plan.split = k;
    return plan;
  }

  const Plan &best(size_t i, size_t j) const { return plans_[i * factors_.size() + j]; }

  void planOrders() {
    size_t count = factors_.size();
    plans_.resize(count * count);
    for (size_t i = 0; i < count; ++i)
      plans_[i * count + i].density = factors_[i].density;
    for (size_t length = 2; length <= count; ++length)
      for (size_t i = 0; i + length <= count; ++i) {
        size_t j = i + length - 1;
        Plan &chosen = plans_[i * count + j];
        for (size_t k = i; k < j; ++k) {
          Plan plan = join(best(i, k), best(k + 1, j), i, k, j);
          if (k == i || plan.work < chosen.work)
            chosen = plan;
        }
      }
  }

  // The plan as the program has it; factors are numbered in order.
  Plan workOf(tok::MatmulOp op) {
    next_ = 0;
    return workInOrder(op);
  }
  Plan workInOrder(tok::MatmulOp op) {
    size_t i = next_;
    Plan left = workOfOperand(op.getLhs());
    size_t k = next_ - 1;
    Plan right = workOfOperand(op.getRhs());
    return join(left, right, i, k, next_ - 1);
  }
  Plan workOfOperand(Value operand) {
    if (factors_[next_].value != operand)
      return workInOrder(operand.getDefiningOp<tok::MatmulOp>());
    return {0, factors_[next_++].density, 0};
  }

  Value build(OpBuilder &builder, size_t i, size_t j) {
    if (i == j)
      return factors_[i].value;
    size_t k = best(i, j).split;
    Value left = build(builder, i, k), right = build(builder, k + 1, j);
    return builder.create<tok::MatmulOp>(root_.getLoc(), root_.getType(), left, right);
  }

  tok::MatmulOp root_;
  analysis::FactsAnalysis &facts_;
  SmallVector<Factor> factors_;
  std::vector<Plan> plans_;
  size_t next_ = 0;
};

bool isInnerProduct(tok::MatmulOp op) {
  return op->hasOneUse() && isa<tok::MatmulOp>(*op->user_begin());
}

} // namespace

bool rewrite::orderProducts(func::FuncOp block, analysis::FactsAnalysis &facts) {
  bool fired = false;
  for (auto op : llvm::make_early_inc_range(block.getBody().front().getOps<tok::MatmulOp>())) {
    if (isInnerProduct(op) || !isOfRealNumbers(op) ||
        cast<RankedTensorType>(op.getType()).getRank() != 2)
      continue;
    Value product = Chain(op, facts).reordered();
    if (!product)
      continue;
    op.getResult().replaceAllUsesWith(product);
    op->erase();
    fired = true;
  }
  return fired;
}
