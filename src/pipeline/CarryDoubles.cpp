#include "pipeline/CarryDoubles.h"

#include "ir/tok/TokDialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <cstdlib>
#include <optional>

using namespace mlir;
using namespace tokamak;

namespace {

// Integers up to here are doubles, too, and so are their sums with doubles either way.
constexpr int64_t largestConstant = int64_t(1) << 52;

std::optional<int64_t> smallConstant(Value value) {
  auto constant = value.getDefiningOp<tok::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  if (!number || !number.getType().isInteger(64) || std::abs(number.getInt()) > largestConstant)
    return std::nullopt;
  return number.getInt();
}

bool isArithmetic(BinaryOperator op) {
  return op == BinaryOperator::Add || op == BinaryOperator::Sub || op == BinaryOperator::Mul ||
         op == BinaryOperator::Div;
}

// The numbers of a function that pass through its loops and branches. Those that are one variable at different times form
// a group, which changes its type as a whole.
class CarriedNumbers {
public:
  explicit CarriedNumbers(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        add(result);
      for (Region &region : op->getRegions())
        for (Value argument : region.getArguments())
          add(argument);
    });
    function.walk([&](Operation *op) { joinFlows(op); });
    while (refuseOnce())
      ;
  }

  void change() {
    llvm::SmallVector<Value> changed;
    for (Value value : values_)
      if (mayBeDouble(value))
        changed.push_back(value);
    for (Value value : changed)
      value.setType(Float64Type::get(value.getContext()));
    for (Value value : changed) {
      convertResults(value);
      useDirectly(value);
    }
    // Last come the conversions of what others have made.
    for (Operation *op : llvm::reverse(replaced_))
      op->erase();
  }

private:
  void add(Value value) {
    if (!isa<tok::ScalarType>(value.getType()))
      return;
    values_.push_back(value);
    groups_.insert(value.getAsOpaquePointer());
  }

  void join(Value a, Value b) {
    if (isa<tok::ScalarType>(a.getType()) && isa<tok::ScalarType>(b.getType()))
      groups_.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }

  void joinAll(ValueRange some, ValueRange others) {
    for (auto [a, b] : llvm::zip_equal(some, others))
      join(a, b);
  }

  void joinFlows(Operation *op) {
    if (auto branch = dyn_cast<tok::IfOp>(op)) {
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
        joinAll(region->front().getTerminator()->getOperands(), branch.getResults());
    } else if (auto loop = dyn_cast<tok::ForOp>(op)) {
      Block &body = loop.getBodyRegion().front();
      joinAll(loop.getInits(), loop.getResults());
      joinAll(body.getArguments().drop_front(), loop.getResults());
      joinAll(body.getTerminator()->getOperands(), loop.getResults());
    } else if (auto loop = dyn_cast<tok::WhileOp>(op)) {
      Block &condition = loop.getConditionRegion().front(), &body = loop.getBodyRegion().front();
      joinAll(loop.getInits(), loop.getResults());
      joinAll(condition.getArguments(), loop.getResults());
      joinAll(body.getArguments(), loop.getResults());
      joinAll(cast<tok::ConditionOp>(condition.getTerminator()).getInputs(), loop.getResults());
      joinAll(body.getTerminator()->getOperands(), loop.getResults());
    }
  }

  const void *groupOf(Value value) const { return *groups_.findLeader(value.getAsOpaquePointer()); }

  bool mayBeDouble(Value value) const {
    return isa<tok::ScalarType>(value.getType()) && !refused_.contains(groupOf(value));
  }

  // Whether each group still is what it was taken for: of a refused group another one may depend.
  bool refuseOnce() {
    size_t before = refused_.size();
    for (Value value : values_)
      if (mayBeDouble(value) &&
          !(isMadeAsDouble(value) &&
            llvm::all_of(value.getUses(), [&](OpOperand &use) { return isUsedAsDouble(use); })))
        refused_.insert(groupOf(value));
    return refused_.size() > before;
  }

  bool isDouble(Value value) const { return value.getType().isF64() || mayBeDouble(value); }

  // A double whatever the number of a group is: one operand is sure to be one.
  bool isDoubleArithmetic(tok::BinaryOp op) const {
    return isArithmetic(op.getKind()) && isDouble(op.getLhs()) && isDouble(op.getRhs()) &&
           (op.getLhs().getType().isF64() || op.getRhs().getType().isF64());
  }

  bool isMadeAsDouble(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentRegion()->getParentOp();
    if (auto conversion = dyn_cast<tok::CastOp>(op))
      return conversion.getOperand().getType().isF64() || smallConstant(conversion.getOperand());
    if (auto binary = dyn_cast<tok::BinaryOp>(op))
      return isDoubleArithmetic(binary);
    return isa<tok::IfOp, tok::ForOp, tok::WhileOp>(op);
  }

  bool isUsedAsDouble(OpOperand &use) const {
    Operation *user = use.getOwner();
    if (auto conversion = dyn_cast<tok::CastOp>(user))
      return conversion.getType().isF64();
    if (auto binary = dyn_cast<tok::BinaryOp>(user)) {
      Value other = use.getOperandNumber() == 0 ? binary.getRhs() : binary.getLhs();
      if (isComparison(binary.getKind()))
        return isDouble(other) || smallConstant(other);
      return isDoubleArithmetic(binary);
    }
    return isa<tok::IfOp, tok::ForOp, tok::WhileOp, tok::ConditionOp>(user) ||
           (isa<tok::YieldOp>(user) &&
            isa<tok::IfOp, tok::ForOp, tok::WhileOp>(user->getParentOp()));
  }

  // Arithmetic with the value gives a double, which a refused group takes as the number that it was.
  void convertResults(Value value) {
    for (Operation *user : value.getUsers()) {
      auto binary = dyn_cast<tok::BinaryOp>(user);
      if (!binary || !isa<tok::ScalarType>(binary.getType()))
        continue;
      Type number = binary.getType();
      binary.getResult().setType(value.getType());
      OpBuilder builder(binary->getContext());
      builder.setInsertionPointAfter(binary);
      auto converted = builder.create<tok::CastOp>(binary.getLoc(), number, binary.getResult());
      binary.getResult().replaceAllUsesExcept(converted, converted);
    }
  }

  // Without the conversions from and to !tok.scalar.
  void useDirectly(Value value) {
    Value number = value;
    if (auto made = value.getDefiningOp<tok::CastOp>()) {
      OpBuilder builder(made);
      number = made.getOperand();
      if (std::optional<int64_t> constant = smallConstant(number))
        number = builder.create<tok::ConstantOp>(made.getLoc(), static_cast<double>(*constant));
      replaced_.push_back(made);
    }
    for (Operation *user : value.getUsers())
      if (auto conversion = dyn_cast<tok::CastOp>(user)) {
        conversion.replaceAllUsesWith(number);
        replaced_.push_back(conversion);
      }
    if (number != value)
      value.replaceUsesWithIf(number,
                              [](OpOperand &use) { return !isa<tok::CastOp>(use.getOwner()); });
  }

  llvm::SmallVector<Value> values_;
  llvm::EquivalenceClasses<const void *> groups_;
  llvm::DenseSet<const void *> refused_;
  llvm::SmallVector<Operation *> replaced_;
};

} // namespace

void pipeline::carryDoubles(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    CarriedNumbers(function).change();
}
