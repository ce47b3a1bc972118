#include "fusion/explore/BlockFacts.h"

#include "ir/tok/CellFacts.h"
#include "ir/tok/InferFacts.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

// Estimates for sizes without an estimate, and for the density of sparse arrays without one.
static constexpr int64_t guessedSize = 1000;
static constexpr double guessedDensity = 0.1;
// The entries of several arrays are united for at most this many arrays, and only if they fill less
// than this share of the cells: denser matrices are stored dense by the runtime (runtime/values/Array.h).
static constexpr size_t mostUnited = 4;
static constexpr double densestUnion = 0.25;

bool fusion::isRealArray(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().isF64() || type.getElementType().isF32());
}

static bool isElementwise(Operation &operation) {
  return isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp>(operation);
}

BlockFacts::BlockFacts(Block &block, FactsFunction facts) {
  auto note = [&](Value value) {
    const tok::Facts &given = values_[value].facts = facts(value);
    for (const Size &size : given.dims)
      size.everySymbol([&](int64_t id) {
        nextSymbol_ = std::max(nextSymbol_, id + 1);
        return true;
      });
  };
  llvm::for_each(block.getArguments(), note);
  for (Operation &operation : block)
    llvm::for_each(operation.getResults(), note);

  for (BlockArgument argument : block.getArguments()) {
    complete(argument, {});
    noteCells(argument, {});
    noteLayout(argument);
  }
  for (Operation &operation : block) {
    SmallVector<tok::Facts> inferred(operation.getNumResults()), operands;
    for (Value operand : operation.getOperands())
      operands.push_back(known(operand).facts);
    tok::inferFacts(&operation, operands, inferred);
    for (auto [result, facts] : llvm::zip(operation.getResults(), inferred)) {
      complete(result, facts);
      noteCells(result, operands);
      noteZeros(operation);
      noteLayout(result);
    }
  }
}

double BlockFacts::estimate(const Size &size) {
  return static_cast<double>(size.estimate(guessedSize));
}

// What the given facts leave open is inferred from the operands; other sizes get new symbols.
void BlockFacts::complete(Value value, const tok::Facts &inferred) {
  tok::Facts &given = known(value).facts;
  if (inferred.isSparse() && !given.isSparse()) {
    given.layout = inferred.layout;
    given.density = inferred.density;
  }
  if (given.density < 0)
    given.density = inferred.density;
  if (!given.value)
    given.value = inferred.value;
  if (given.integer.isUnknown())
    given.integer = inferred.integer;
  if (!tok::isArray(value.getType()))
    return;
  auto orNew = [&](const Size &size) {
    return size.isUnknown() ? Size::symbol(nextSymbol_++) : size;
  };
  size_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (given.dims.size() != rank)
    given.dims.assign(rank, Size::unknown());
  for (size_t i = 0; i < rank; ++i) {
    if (given.dims[i].isUnknown() && inferred.dims.size() == rank)
      given.dims[i] = inferred.dims[i];
    given.dims[i] = orNew(given.dims[i]);
  }
  Shape &shape = known(value).shape = Shape::of(given.dims);
  shape.rows = orNew(shape.rows);
}

//===- layouts and zeros ---------------------------------------------------------------------===//

// Assumes that the entries of different arrays are statistically independent.
double BlockFacts::densityOf(const EntryPattern &pattern) const {
  double empty = 1;
  for (Value array : pattern.arrays)
    empty *= 1 - densityOf(array);
  return 1 - empty;
}

bool BlockFacts::hasSparseArrayOf(const Shape &shape) const {
  return llvm::any_of(patterns_,
                      [&](const EntryPattern &pattern) { return shapeOf(pattern) == shape; });
}

// A cell outside a union of patterns is outside each of them, so facts of contained patterns hold.
CellFact BlockFacts::whereZero(const EntryPattern &pattern, Value value) const {
  if (pattern.contains(value))
    return CellFact::withoutEntry();
  CellFact fact = everywhere(value);
  for (auto [number, part] : llvm::enumerate(patterns_))
    if (!fact.constant() && part.isWithin(pattern))
      fact = bothOf(fact, whereZero_.lookup({number, value}));
  return fact;
}

// `operands`: what is known of those of the operation that has the result `value`. Integer cells are
// not analysed: facts are doubles, which round large integers.
void BlockFacts::noteCells(Value value, ArrayRef<tok::Facts> operands) {
  auto &[facts, shape, cells, isSparse] = known(value);
  Operation *operation = value.getDefiningOp();
  auto factOf = [&](Value operand) { return everywhere(operand); };
  if (CellFact number = tok::numberOf(facts); number.constant())
    cells = number;
  else if (!facts.integer.isUnknown() && value.getType().isInteger(64))
    cells = CellFact::within(static_cast<double>(facts.integer.range().low),
                             static_cast<double>(facts.integer.range().high));
  else if (!operation)
    cells = tok::statedCellsOf(cast<BlockArgument>(value));
  else if (isElementwise(*operation) && isa<FloatType>(getElementTypeOrSelf(value.getType())))
    cells = tok::cellOf(*operation, [&](OpOperand &operand) { return factOf(operand.get()); });
  else if (operation->getNumResults() == 1)
    cells = tok::allCellsOf(*operation, operands, factOf);
}

// The union of patterns outside which the operation's result is zero; empty if there is none or it
// is not worthwhile. For this, each operand must have a known value outside some pattern. `stored`:
// for sparse operands take their own pattern, not those of the arrays they are computed from.
EntryPattern BlockFacts::unionFor(Operation &operation, bool stored) const {
  const Shape &shape = shapeOf(operation.getResult(0));
  EntryPattern all, united; // united: in program order
  for (Value operand : operation.getOperands()) {
    if (isConstant(operand))
      continue;
    const EntryPattern *beside = llvm::find_if(patterns_, [&](const EntryPattern &pattern) {
      if (shapeOf(pattern) != shape) // as of a vector that is broadcast
        return false;
      return stored && isSparse(operand) ? pattern == operand
                                         : whereZero(pattern, operand).constant().has_value();
    });
    if (beside == patterns_.end())
      return {};
    all.arrays.append(beside->arrays);
  }
  for (const EntryPattern &single : patterns_)
    if (single.arrays.size() == 1 && single.isWithin(all))
      united.arrays.append(single.arrays);
  bool isZeroBeside = tok::cellOf(operation, [&](OpOperand &operand) {
                        return whereZero(united, operand.get());
                      }).isZero();
  bool isWorthwhile = united.arrays.size() > 1 && united.arrays.size() <= mostUnited &&
                      densityOf(united) < densestUnion && !llvm::is_contained(patterns_, united);
  return isZeroBeside && isWorthwhile ? united : EntryPattern();
}

// Infers the value of an elementwise operation outside each pattern of its shape, and unites
// patterns if it is zero outside none of them.
void BlockFacts::noteZeros(Operation &operation) {
  if (!isElementwise(operation) || !isRealArray(operation.getResult(0)))
    return;
  Value result = operation.getResult(0);
  if (isConstant(result))
    return;
  auto isZeroBeside = [&](unsigned number) {
    const EntryPattern &pattern = patterns_[number];
    if (shapeOf(pattern) != shapeOf(result))
      return false;
    CellFact fact = tok::cellOf(
        operation, [&](OpOperand &operand) { return whereZero(pattern, operand.get()); });
    whereZero_[{number, result}] = fact;
    return fact.isZero();
  };
  bool isZeroSomewhere = false;
  for (unsigned number = 0; number < patterns_.size(); ++number)
    isZeroSomewhere |= isZeroBeside(number);
  if (isZeroSomewhere)
    return;
  for (bool stored : {false, true})
    if (EntryPattern united = unionFor(operation, stored)) {
      patterns_.push_back(std::move(united));
      isZeroBeside(patterns_.size() - 1);
    }
}

// A result that is zero outside a pattern is sparse, with the density of the sparsest such pattern.
void BlockFacts::noteLayout(Value value) {
  auto &[facts, shape, cells, isSparse] = known(value);
  if (!isRealArray(value) || facts.dims.size() != 2)
    return;
  if (facts.isSparse() && facts.density < 0)
    facts.density = guessedDensity;
  for (auto [number, pattern] : llvm::enumerate(patterns_)) {
    if (!whereZero_.lookup({number, value}).isZero())
      continue;
    double density = densityOf(pattern);
    facts.density = facts.isSparse() ? std::min(facts.density, density) : density;
    facts.layout = tok::Layout::Sparse;
  }
  isSparse = facts.isSparse() && !shape.columns.isConstant(0) && !shape.hasOneColumn();
  if (isSparse)
    patterns_.push_back(value);
}
