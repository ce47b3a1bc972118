#include "pipeline/CarryDoubles.h"

#include "ir/tok/TokDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
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

// What is known of a number.
enum class Kind : uint8_t {
  Other,      // nothing: it may be a text
  Integer,    // of any size
  LikeDouble, // a double, or an integer so small that nothing can tell it from one
  Double,
};

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
    while (lowerOnce())
      ;
  }

  void change() {
    llvm::SmallVector<Value> changed;
    for (Value value : values_)
      if (kindOf(value) != Kind::Other)
        changed.push_back(value);
    for (Value value : changed)
      value.setType(Float64Type::get(value.getContext()));
    for (Value value : changed) {
      adaptUses(value);
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

  Kind kindOf(Value value) const {
    if (value.getType().isF64())
      return Kind::Double;
    if (value.getType().isInteger(64))
      return smallConstant(value) ? Kind::LikeDouble : Kind::Integer;
    if (!isa<tok::ScalarType>(value.getType()))
      return Kind::Other;
    auto lowered = lowered_.find(groupOf(value));
    return lowered == lowered_.end() ? Kind::Double : lowered->second;
  }

  // Whether each group still is what it was taken for: on a group others may depend.
  bool lowerOnce() {
    bool isChanged = false;
    for (Value value : values_) {
      Kind before = kindOf(value), kind = std::min(before, kindMade(value));
      auto isUsed = [&](OpOperand &use) { return isUsedAsDouble(use); };
      if (kind == Kind::Integer ||
          (kind == Kind::LikeDouble && !llvm::all_of(value.getUses(), isUsed)))
        kind = Kind::Other;
      if (kind == before)
        continue;
      lowered_[groupOf(value)] = kind;
      isChanged = true;
    }
    return isChanged;
  }

  Kind kindMade(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentRegion()->getParentOp();
    if (auto conversion = dyn_cast<tok::CastOp>(op))
      return kindOf(conversion.getOperand());
    if (auto binary = dyn_cast<tok::BinaryOp>(op))
      return kindMade(binary);
    if (auto unary = dyn_cast<tok::UnaryOp>(op))
      return kindMade(unary);
    if (auto choice = dyn_cast<tok::IfElseOp>(op))
      return std::min(kindOf(choice.getThen()), kindOf(choice.getOtherwise()));
    return isa<tok::IfOp, tok::ForOp, tok::WhileOp>(op) ? Kind::Double : Kind::Other;
  }

  Kind kindMade(tok::BinaryOp op) const {
    auto [least, most] = std::minmax({kindOf(op.getLhs()), kindOf(op.getRhs())});
    if (least == Kind::Other)
      return Kind::Other;
    switch (op.getKind()) {
    case BinaryOperator::Div:
    case BinaryOperator::Pow:
      return Kind::Double;
    case BinaryOperator::Add:
    case BinaryOperator::Sub:
    case BinaryOperator::Mul:
    case BinaryOperator::IntDiv:
      return most == Kind::Double ? most : Kind::Other;
    // Between integers, too, no larger than the dividend. A quotient may be -0 for doubles only.
    case BinaryOperator::Mod:
      return most == Kind::Double                          ? most
             : smallConstant(op.getRhs()).value_or(0) != 0 ? least
                                                           : Kind::Other;
    case BinaryOperator::Min:
    case BinaryOperator::Max:
      return most == Kind::Double ? most : least;
    default:
      return Kind::Other;
    }
  }

  // An integer that is negated may become 0, a double -0.
  Kind kindMade(tok::UnaryOp op) const {
    Kind kind = kindOf(op.getOperand());
    return kind == Kind::Double || op.getKind() == UnaryOperator::Abs ? kind : Kind::Other;
  }

  // Whether an integer instead of the double would change nothing. What then is an integer, too, must be used alike.
  bool isUsedAsDouble(OpOperand &use) const {
    Operation *user = use.getOwner();
    if (isCarried(use))
      return true;
    if (auto conversion = dyn_cast<tok::CastOp>(user))
      return tok::isNumber(conversion.getType());
    if (auto binary = dyn_cast<tok::BinaryOp>(user)) {
      if (isComparison(binary.getKind()))
        return kindOf(use.getOperandNumber() == 0 ? binary.getRhs() : binary.getLhs()) !=
               Kind::Other;
      Kind made = kindMade(binary);
      return made == Kind::Double || (made == Kind::LikeDouble && kindOf(binary) != Kind::Other);
    }
    if (auto unary = dyn_cast<tok::UnaryOp>(user))
      return resultOf(unary.getKind()) != CellResult::Number ||
             (unary.getKind() == UnaryOperator::Abs && kindOf(unary) != Kind::Other);
    return isa<tok::IfElseOp>(user) && use.getOperandNumber() > 0 &&
           kindOf(user->getResult(0)) != Kind::Other;
  }

  // As the same number at another time.
  static bool isCarried(OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<tok::ForOp, tok::WhileOp, tok::ConditionOp>(user) ||
           (isa<tok::YieldOp>(user) &&
            isa<tok::IfOp, tok::ForOp, tok::WhileOp>(user->getParentOp()));
  }

  // The type that a result has now that an operand is a double; null if there is no such operator.
  static Type resultType(Operation *op) {
    if (auto binary = dyn_cast<tok::BinaryOp>(op))
      return tok::binaryResultType(binary.getKind(), binary.getLhs().getType(),
                                   binary.getRhs().getType());
    if (auto unary = dyn_cast<tok::UnaryOp>(op))
      return tok::unaryResultType(unary.getKind(), unary.getOperand().getType());
    // Of an integer and a double, the one chosen stays what it is.
    return isa<tok::IfElseOp>(op) && op->getResult(0).getType().isF64() ? op->getResult(0).getType()
                                                                        : Type();
  }

  // A refused group takes results that are doubles as the numbers that they were, and so do other users the value.
  void adaptUses(Value value) {
    Type number = tok::ScalarType::get(value.getContext());
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      Operation *user = use.getOwner();
      if (isCarried(use) || isa<tok::CastOp>(user))
        continue;
      OpBuilder builder(user);
      Type type = resultType(user);
      if (!type) {
        use.set(builder.create<tok::CastOp>(user->getLoc(), number, value));
      } else if (isa<tok::ScalarType>(user->getResult(0).getType()) && type.isF64()) {
        Value result = user->getResult(0);
        result.setType(type);
        builder.setInsertionPointAfter(user);
        auto converted = builder.create<tok::CastOp>(user->getLoc(), number, result);
        result.replaceAllUsesExcept(converted, converted);
      }
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
      replaced_.insert(made);
    }
    for (Operation *user : value.getUsers())
      if (isa<tok::CastOp>(user) && user->getResult(0).getType().isF64()) {
        user->replaceAllUsesWith(ValueRange(number));
        replaced_.insert(user);
      }
    if (number != value)
      value.replaceUsesWithIf(number,
                              [&](OpOperand &use) { return !replaced_.contains(use.getOwner()); });
  }

  llvm::SmallVector<Value> values_;
  llvm::EquivalenceClasses<const void *> groups_;
  llvm::DenseMap<const void *, Kind> lowered_;
  llvm::SmallSetVector<Operation *, 8> replaced_;
};

} // namespace

void pipeline::carryDoubles(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    CarriedNumbers(function).change();
}
