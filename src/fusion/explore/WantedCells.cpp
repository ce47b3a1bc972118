#include "fusion/explore/WantedCells.h"

#include "ir/tok/CellFacts.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// The search for inputs ends after this many values of an expression.
static constexpr size_t largestExpression = 64;

// The facts that may be wanted of inputs, the weakest first. The bounds are such that sums of
// products of two cells neither overflow nor underflow.
static SmallVector<CellFact, 4> hypotheses(bool single) {
  double large = single ? 1e12 : 1e100;
  return {CellFact::within(-large, large), CellFact::nonZeroNumber(), CellFact::within(0, large),
          CellFact::within(1 / large, large)};
}

namespace {

// An operation that is zero outside the entries of a sparse operand only if the cells of its other
// operand are suitable.
struct Candidate {
  Operation *operation;
  EntryPattern pattern; // of the sparse operand
  Value other;
};

// Pairs of an operand that may be sparse and the other operand.
SmallVector<std::pair<Value, Value>, 2> pairsOf(Operation &operation) {
  if (operation.getNumResults() != 1 || !isRealArray(operation.getResult(0)))
    return {};
  auto binary = dyn_cast<tok::BinaryOp>(operation);
  bool divides = binary && llvm::is_contained(
                               {BinaryOperator::Div, BinaryOperator::Mod, BinaryOperator::IntDiv},
                               binary.getKind());
  bool multiplies =
      binary ? binary.getKind() == BinaryOperator::Mul : isa<tok::MatmulOp>(operation);
  SmallVector<std::pair<Value, Value>, 2> pairs;
  if (divides || (multiplies && tok::zeroRuleOf(operation) == ZeroRule::Strict))
    pairs.push_back({operation.getOperand(0), operation.getOperand(1)});
  if (multiplies && !pairs.empty())
    pairs.push_back({operation.getOperand(1), operation.getOperand(0)});
  return pairs;
}

class Search {
public:
  Search(func::FuncOp block, FactsFunction facts)
      : block_(block), factsOf_(facts), facts_(block.getBody().front(), facts) {}

  WantedCells run() {
    for (Operation &operation : block_.getBody().front())
      for (auto [sparse, other] : pairsOf(operation))
        for (const EntryPattern &pattern : facts_.patterns()) {
          Candidate candidate{&operation, pattern, other};
          if (facts_.shapeOf(pattern) != facts_.shapeOf(sparse) ||
              !facts_.whereZero(pattern, sparse).isZero() || holds(candidate, facts_) ||
              isMultiplied(operation, pattern))
            continue;
          if (!askInputs(candidate))
            askReader(candidate);
          break;
        }
    return std::move(wanted_);
  }

private:
  static bool holds(const Candidate &candidate, const BlockFacts &facts) {
    if (isa<tok::MatmulOp>(candidate.operation))
      return facts.everywhere(candidate.other).isFinite();
    return facts.whereZero(candidate.pattern, candidate.operation->getResult(0)).isZero();
  }

  // Whether all users multiply the result with a value that is zero outside the pattern, as in
  // (S != 0) * (S / D).
  bool isMultiplied(Operation &operation, const EntryPattern &pattern) {
    return tok::zeroRuleOf(operation) == ZeroRule::Sparse && !operation.use_empty() &&
           llvm::all_of(operation.getUsers(), [&](Operation *user) {
             auto product = dyn_cast<tok::BinaryOp>(user);
             return product && product.getKind() == BinaryOperator::Mul &&
                    facts_.whereZero(pattern, user->getResult(0)).isZero();
           });
  }

  // The arguments that the value is computed from and whose cells nothing is known about yet.
  SmallVector<BlockArgument> inputsOf(Value value) {
    llvm::SetVector<Value> reached;
    reached.insert(value);
    SmallVector<BlockArgument> inputs;
    for (size_t i = 0; i < reached.size() && i < largestExpression; ++i) {
      if (auto argument = dyn_cast<BlockArgument>(reached[i])) {
        bool isKnown = !facts_.everywhere(argument).isAnything() ||
                       block_.getArgAttr(argument.getArgNumber(), otherCellsAttributeName);
        if (!isKnown && isa<FloatType>(getElementTypeOrSelf(argument.getType())))
          inputs.push_back(argument);
      } else {
        reached.insert(reached[i].getDefiningOp()->operand_begin(),
                       reached[i].getDefiningOp()->operand_end());
      }
    }
    return inputs;
  }

  bool holdsIf(const Candidate &candidate, ArrayRef<BlockArgument> inputs, const CellFact &cells) {
    for (BlockArgument input : inputs)
      block_.setArgAttr(input.getArgNumber(), tok::cellsAttributeName,
                        tok::cellsAttribute(block_.getContext(), cells));
    bool result = holds(candidate, BlockFacts(block_.getBody().front(), factsOf_));
    for (BlockArgument input : inputs)
      block_.removeArgAttr(input.getArgNumber(), tok::cellsAttributeName);
    return result;
  }

  // Wants the weakest fact that suffices, of as few inputs as necessary.
  bool askInputs(const Candidate &candidate) {
    SmallVector<BlockArgument> all = inputsOf(candidate.other);
    bool single = getElementTypeOrSelf(candidate.operation->getResult(0).getType()).isF32();
    for (const CellFact &cells : hypotheses(single)) {
      // Sparse matrices have zeros, so it is pointless to want them non-zero.
      SmallVector<BlockArgument> inputs = all;
      llvm::erase_if(
          inputs, [&](BlockArgument input) { return !cells.mayBeZero && facts_.isSparse(input); });
      if (inputs.empty() || !holdsIf(candidate, inputs, cells))
        continue;
      for (BlockArgument input : SmallVector<BlockArgument>(inputs)) {
        SmallVector<BlockArgument> fewer(inputs);
        llvm::erase(fewer, input);
        if (holdsIf(candidate, fewer, cells))
          inputs = fewer;
      }
      for (BlockArgument input : inputs) {
        CellFact &known = wanted_.inputs[input.getArgNumber()]; // anything, if it is not wanted yet
        known = bothOf(known, cells);
      }
      return true;
    }
    return false;
  }

  // Records the operation if its other operand is a vector or scalar computed in the block, whose
  // cells are cheap to check once it has been computed.
  void askReader(const Candidate &candidate) {
    Value other = candidate.other;
    bool isSmall = !tok::isArray(other.getType()) ||
                   facts_.shapeOf(other) != facts_.shapeOf(candidate.pattern);
    // A known constant, such as 0, won't become suitable by checking it.
    if (other.getDefiningOp() && !facts_.everywhere(other).constant() && isSmall &&
        isa<FloatType>(getElementTypeOrSelf(other.getType())))
      wanted_.readers.push_back(candidate.operation);
  }

  func::FuncOp block_;
  FactsFunction factsOf_;
  BlockFacts facts_;
  WantedCells wanted_;
};

} // namespace

WantedCells fusion::findWantedCells(func::FuncOp block, FactsFunction facts) {
  bool isNeeded = llvm::any_of(block.getBody().front(),
                               [](Operation &operation) { return !pairsOf(operation).empty(); });
  return isNeeded ? Search(block, facts).run() : WantedCells();
}
