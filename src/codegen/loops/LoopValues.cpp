#include "codegen/loops/LoopValues.h"

#include "codegen/CellEmission.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;
using schedule::runsOver;

Size codegen::roundedUp(const Size &size, int64_t unit) {
  return Size::constant(unit) * floorDivide(size + Size::constant(unit - 1), Size::constant(unit));
}

LoopValues::LoopValues(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
                       abi::KernelPlan &plan)
    : body_(body), vectors_(vectors), tile_(tile), plan_(plan),
      beginning_(vectors.integer(0).getDefiningOp()), nextScratch_(tile.scratch) {
  for (Value kept : body.schedule().kept)
    layOut(kept);
  for (Value packed : llvm::make_first_range(body.schedule().packed))
    layOut(packed);
  for (Value value : body.schedule().windows)
    layOutWindows(value);
  if (body.carriesInMemory())
    for (plan::ScanOp scan : body.passes().front().scans)
      panels_[scan.getCell()].base =
          scratch(roundedUp(body.axes()[body.lastAxis()], vectors.width()));
  for (plan::ReadOp read : body.block().getOps<plan::ReadOp>()) {
    if (!body.entries() || !body.op().isSparseOperand(read.getNumber()) || body.isDriver(read))
      continue;
    lookedUp_.push_back(read);
    panels_[read.getCell()].base = scratch(body.axes()[body.entries()->column]);
  }
  computeUniform();
}

// Each begins behind the one before it.
Value LoopValues::scratch(const Size &doubles) {
  plan_.scratchSizes.push_back(doubles);
  Value begin = nextScratch_;
  nextScratch_ = vectors_.offset(begin, size(roundedUp(doubles, VectorBuilder::lanes)));
  return begin;
}

Value LoopValues::variable(int64_t vectors) {
  return atBeginning([&]() -> Value {
    auto vector = VectorType::get(vectors_.width(), vectors_.doubleType());
    return vectors_.create<LLVM::AllocaOp>(
        vectors_.pointerType(), LLVM::LLVMArrayType::get(vector, vectors), vectors_.integer(1));
  });
}

Value LoopValues::atBeginning(llvm::function_ref<Value()> emit) {
  OpBuilder::InsertionGuard guard(vectors_.builder());
  vectors_.builder().setInsertionPoint(beginning_);
  return emit();
}

Value codegen::loadSize(VectorBuilder &vectors, abi::KernelPlan &plan, Value sizes,
                        const Size &size) {
  if (size.isConstant())
    return vectors.integer(size.constantValue());
  auto number = static_cast<int64_t>(plan.sizes.size());
  plan.sizes.push_back(size);
  return vectors.integerMember(sizes, number * static_cast<int64_t>(sizeof(int64_t)));
}

Value LoopValues::size(const Size &atLaunch) {
  Value &known = sizes_[atLaunch.text()];
  if (!known)
    known = atBeginning([&] { return loadSize(vectors_, plan_, tile_.sizes, atLaunch); });
  return known;
}

//===- loops ---------------------------------------------------------------------------------===//

void LoopValues::inLoop(unsigned axis, Value index, llvm::function_ref<void()> inside) {
  scopes_.emplace_back(axis, index);
  inside();
  scopes_.pop_back();
}

void LoopValues::inLoops(ArrayRef<unsigned> axes, Value index, llvm::function_ref<void()> inside) {
  if (axes.empty())
    return inside();
  inLoop(axes.front(), index, [&] { inLoops(axes.drop_front(), index, inside); });
}

LoopValues::Range LoopValues::rangeOf(unsigned axis) {
  return body_.isOverEntries(axis) ? entries_ : Range(vectors_.integer(0), axisSize(axis));
}

Value LoopValues::endOfWhole(Range range, int64_t unit) {
  Value length = vectors_.subtract(range.second, range.first);
  return vectors_.add(range.first, vectors_.roundDown(length, unit));
}

void LoopValues::forAxes(ArrayRef<unsigned> axes, llvm::function_ref<void()> inside) {
  if (axes.empty())
    return inside();
  forAxis(axes.front(), 1, [&](int64_t) { forAxes(axes.drop_front(), inside); });
}

void LoopValues::forAxis(unsigned axis, int64_t together, llvm::function_ref<void(int64_t)> inside,
                         Value before) {
  auto [begin, end] = rangeOf(axis);
  if (before)
    end = before;
  auto loop = [&](Value first, Value last, int64_t steps) {
    vectors_.forLoop(first, last, steps, [&](Value index) {
      for (int64_t number = 0; number < steps; ++number)
        inLoop(axis, vectors_.add(index, vectors_.integer(number)), [&] { inside(number); });
    });
  };
  std::optional<int64_t> length; // where it is a constant
  if (before)
    length = getConstantIntValue(before);
  else if (!body_.isOverEntries(axis) && body_.axes()[axis].isConstant())
    length = body_.axes()[axis].constantValue();
  bool isSplit = body_.isOverEntries(axis) || (before && body_.axes()[axis].isConstant());
  if (together > 1 && isSplit && !length) {
    Value whole = endOfWhole({begin, end}, together);
    loop(begin, whole, together);
    return loop(whole, end, 1);
  }
  if (together == 1 || !length)
    return loop(begin, end, 1);
  int64_t whole = *length / together * together;
  if (whole > together)
    loop(begin, vectors_.integer(whole), together);
  for (int64_t step = whole > together ? whole : 0; step < *length; ++step)
    inLoop(axis, vectors_.integer(step), [&] { inside(step); });
}

void LoopValues::forVectors(unsigned axis, int64_t together, llvm::function_ref<void()> inside) {
  const Size length = body_.isOverEntries(axis) ? Size::unknown() : body_.axes()[axis];
  forVectors(axis, rangeOf(axis), length, together, inside);
}

void LoopValues::forVectors(unsigned axis, Range range, const Size &length, int64_t together,
                            llvm::function_ref<void()> inside) {
  constexpr int64_t cellsOfSteps = 32;
  auto [begin, end] = range;
  int64_t width = vectors_.width(), step = together * width, mostSteps = cellsOfSteps / width;
  auto at = [&](Value index, int64_t chunks, Value mask) {
    llvm::SaveAndRestore extent(extent_,
                                Extent{extent_.places, axis, static_cast<unsigned>(chunks), mask});
    inLoop(axis, index, inside);
  };
  auto whole = [&](Value index) { at(index, together, {}); };
  auto masked = [&](Value index) {
    at(index, 1, vectors_.maskBelow(vectors_.subtract(end, index)));
  };
  if (together == 0)
    return vectors_.forLoop(begin, end, width, masked);
  if (!length.isConstant()) {
    Value rest = endOfWhole(range, step);
    vectors_.forLoop(begin, rest, step, whole);
    if (together > 1)
      return vectors_.forLoop(rest, end, width, masked);
    State none;
    return vectors_.ifThen(vectors_.less(rest, end), none, [&](State &) { masked(rest); });
  }
  int64_t steps = length.constantValue() / step, rest = length.constantValue() % step;
  auto indexAt = [&](int64_t number) {
    return vectors_.add(begin, vectors_.integer(number * step));
  };
  if (steps > mostSteps)
    vectors_.forLoop(begin, indexAt(steps), step, whole);
  else
    for (int64_t number = 0; number < steps; ++number)
      whole(indexAt(number));
  if (rest != 0)
    at(indexAt(steps), (rest + width - 1) / width,
       rest % width == 0 ? Value() : vectors_.maskBelow(rest % width));
}

void LoopValues::acrossPlaces(llvm::function_ref<void()> inside) {
  llvm::SaveAndRestore extent(extent_);
  if (hasWholeBlock())
    extent_ = {1, body_.lastAxis(), 1, {}};
  inside();
}

//===- values --------------------------------------------------------------------------------===//

unsigned LoopValues::placesOf(Value value) const {
  return runsOver(value, body_.lastAxis()) ? places() : 1;
}

unsigned LoopValues::chunksOf(Value value) const { return runsOverVectors(value) ? chunks() : 1; }

// Distinguishes vectors across the places of a block from values of its first place.
static constexpr unsigned lanesOfPlaces = ~0u;

void LoopValues::set(Value value, unsigned place, unsigned chunk, Value vector) {
  if (isAcross() && runsOver(value, body_.lastAxis()))
    place = lanesOfPlaces;
  scopes_.back().values[{value, place, chunk}] = vector;
}

// Whether there is one cell for each place of a block.
bool LoopValues::isOfPlaces(Value value) const {
  return placesOfBlock_ > 1 && runsOver(value, body_.lastAxis()) &&
         body_.schedule().innerAxes(value).empty();
}

Value LoopValues::across(Value value) {
  Value vector;
  acrossPlaces([&] { vector = get(value, 0, 0); });
  return vector;
}

bool LoopValues::isPacked(Value value) const {
  auto packed = body_.schedule().packed.find(value);
  if (body_.schedule().windows.contains(value))
    return true;
  if (isPacking_ || packed == body_.schedule().packed.end())
    return false;
  return packed->second != body_.schedule().parallel.back() || isAcross();
}

// What is known of the value, in the innermost loop where something is.
template <typename Scopes, typename Known>
static auto findIn(const Scopes &scopes, Known Scopes::value_type::*known, Value value,
                   unsigned place, unsigned chunk) -> typename Known::mapped_type {
  for (const auto &scope : llvm::reverse(scopes)) {
    if (auto found = (scope.*known).find({value, place, chunk}); found != (scope.*known).end())
      return found->second;
    // Outside of the loop are values of another place.
    if (scope.axis && runsOver(value, *scope.axis))
      break;
  }
  return {};
}

Value LoopValues::find(Value value, unsigned place, unsigned chunk) const {
  return findIn(scopes_, &Scope::values, value, place, chunk);
}

// The operation if it divides many vectors of f64 or f32 by each vector of divisors, or null.
static plan::BinaryOp divisionByInvariant(const LoopBody &body, Value value) {
  constexpr int64_t fewVectors = 2;
  auto quotient = value.getDefiningOp<plan::BinaryOp>();
  if (!quotient || quotient.getKind() != BinaryOperator::Div)
    return {};
  ElementType cells = plan::cellsOf(quotient.getLhs());
  if (cells != ElementType::F64 && cells != ElementType::F32)
    return {};
  auto isAlongMany = [&](unsigned axis) {
    const Size &length = body.axes()[axis];
    int64_t width = body.schedule().isVector(axis) ? body.schedule().lanes : 1;
    return runsOver(quotient.getLhs(), axis) && !runsOver(quotient.getRhs(), axis) &&
           (!length.isConstant() || length.constantValue() > fewVectors * width);
  };
  return llvm::any_of(llvm::seq<unsigned>(0, body.axes().size()), isAlongMany) ? quotient
                                                                               : plan::BinaryOp();
}

// A CPU divides beside other instructions: where there are many of them for each vector, they hide
// it. Passes over short rows overlap.
bool LoopValues::isDivisionHidden() const {
  constexpr int instructionsOfDivision = 24;
  constexpr int64_t shortRow = 256;
  int instructions = 0;
  for (auto [number, pass] : llvm::enumerate(body_.passes())) {
    std::optional<unsigned> axis = pass.loops.vector;
    bool isShort = !axis || schedule::isConstantUpTo(body_.axes()[*axis], shortRow);
    if (number == pass_ || isShort)
      instructions += pass.instructions;
  }
  return instructions > instructionsOfDivision;
}

// Places that are lanes of vectors are prepared together.
InvariantDivisor LoopValues::divisorOf(Value value, unsigned place, unsigned chunk) {
  place = std::min(place, placesOf(value) - 1);
  chunk = std::min(chunk, chunksOf(value) - 1);
  unsigned number = isAcross() && runsOver(value, body_.lastAxis()) ? lanesOfPlaces : place;
  InvariantDivisor known = findIn(scopes_, &Scope::divisors, value, number, chunk);
  if (known.divisor)
    return known;
  if (!isAcross() && !placeNumber_ && isPerPlace(value)) {
    acrossPlaces([&] { known = divisorOf(value, 0, 0); });
    known = splatLane(vectors_, known, place);
  } else {
    known = prepareDivision(vectors_, get(value, place, chunk));
  }
  return scopes_.back().divisors[{value, number, chunk}] = known;
}

// Divides some vectors at a time: chunks of a place, or places.
void LoopValues::divide(plan::BinaryOp quotient, unsigned place, unsigned chunk) {
  Value result = quotient.getCell();
  bool isOfChunks = chunksOf(result) > 1;
  unsigned count = isOfChunks ? chunksOf(result) : isAcross() ? 1 : placesOf(result);
  unsigned first = (isOfChunks ? chunk : place) / divisionsTogether * divisionsTogether;
  SmallVector<unsigned> places, chunks;
  State dividends;
  SmallVector<InvariantDivisor> divisors;
  for (unsigned number = first; number < std::min(count, first + divisionsTogether); ++number) {
    places.push_back(isOfChunks ? place : number);
    chunks.push_back(isOfChunks ? number : chunk);
    dividends.push_back(get(quotient.getLhs(), places.back(), chunks.back()));
    divisors.push_back(divisorOf(quotient.getRhs(), places.back(), chunks.back()));
  }
  for (auto [number, vector] : llvm::enumerate(emitQuotients(vectors_, dividends, divisors)))
    set(result, places[number], chunks[number], vector);
}

Value LoopValues::get(Value value, unsigned place, unsigned chunk) {
  place = std::min(place, placesOf(value) - 1);
  chunk = std::min(chunk, chunksOf(value) - 1);
  bool isOfLanes = isAcross() && runsOver(value, body_.lastAxis());
  if (Value known = find(value, isOfLanes ? lanesOfPlaces : place, chunk))
    return known;
  auto reduction = value.getDefiningOp<plan::ReduceOp>();
  Value vector;
  if (auto cells = cellsOfPlaces_.find(value); cells != cellsOfPlaces_.end()) {
    Type type = vectors_.registerType(plan::cellsOf(value));
    Value cell = vectors_.offset(cells->second, placeNumber_, type);
    vector = vectors_.splat(vectors_.loadScalar(cell, type));
  } else if (!isAcross() && !placeNumber_ && isPerPlace(value)) {
    vector = vectors_.splatLane(across(value), place);
  } else if (isLoaded(value) && liesSideBySide(value)) {
    loadSideBySide(value, chunk);
    return get(value, place, chunk);
  } else if (isPacked(value) || isLoaded(value)) {
    vector = load(panelOf(value, place), place, chunk);
  } else if (reduction) {
    reduce(reduction);
    return get(value, place, chunk);
  } else if (plan::BinaryOp quotient = divisionByInvariant(body_, value);
             quotient && !isDivisionHidden()) {
    divide(quotient, place, chunk);
    return get(value, place, chunk);
  } else {
    vector = compute(value, place, chunk);
  }
  set(value, place, chunk, vector);
  return vector;
}

void LoopValues::forPlaces(ArrayRef<Value> uses, bool isUnrolled,
                           llvm::function_ref<void(Value number)> inside) {
  storeCellsOfPlaces(uses);
  unsigned last = body_.lastAxis();
  Value first = index(last);
  llvm::SaveAndRestore places(extent_.places, 1u);
  auto at = [&](Value number) {
    llvm::SaveAndRestore placeNumber(placeNumber_, number);
    inLoop(last, vectors_.add(first, number), [&] { inside(number); });
  };
  if (isUnrolled)
    for (int64_t number = 0; number < placesOfBlock_; ++number)
      at(vectors_.integer(number));
  else
    vectors_.forLoop(vectors_.integer(0), vectors_.integer(placesOfBlock_), 1, at);
  cellsOfPlaces_.clear();
}

// Of what is complete for all places, but not what is read.
void LoopValues::storeCellsOfPlaces(ArrayRef<Value> uses) {
  llvm::DenseSet<Value> visited;
  SmallVector<Value> rest(llvm::reverse(uses));
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    Operation *operation = value.getDefiningOp();
    if (!visited.insert(value).second || isLoaded(value) ||
        isa<plan::ReadOp, plan::ReindexOp>(operation))
      continue;
    if (!isOfPlaces(value)) {
      llvm::append_range(rest, llvm::reverse(operation->getOperands()));
      continue;
    }
    Value variable = this->variable(llvm::divideCeil(placesOfBlock_, vectors_.width()));
    if (isPerPlace(value))
      vectors_.store(across(value), variable, {});
    Type type = vectors_.registerType(plan::cellsOf(value));
    for (unsigned place = 0; !isPerPlace(value) && place < placesOfBlock_; ++place)
      vectors_.storeScalar(vectors_.lane(get(value, place, 0), 0),
                           vectors_.offset(variable, vectors_.integer(place), type));
    cellsOfPlaces_[value] = variable;
  }
}

Value LoopValues::at(unsigned axis, Value index, Value value) {
  llvm::SaveAndRestore extent(extent_, Extent{places(), {}, 1, {}});
  Value cell;
  inLoop(axis, index, [&] { cell = get(value, 0, 0); });
  return cell;
}

// In vectors of eight cells, for which all functions exist. What is reduced comes later: it may
// read what is packed.
void LoopValues::computeUniform() {
  llvm::DenseSet<Operation *> later;
  for (Operation &operation : body_.block()) {
    auto eightCells = vectors_.withWidth(VectorBuilder::lanes);
    bool isNow = !isa<plan::ReduceOp, plan::WriteOp>(operation) &&
                 cast<plan::CellType>(operation.getResult(0).getType()).getAxes().empty() &&
                 llvm::none_of(operation.getOperands(), [&](Value operand) {
                   return later.contains(operand.getDefiningOp());
                 });
    if (isNow)
      get(operation.getResult(0), 0, 0);
    else
      later.insert(&operation);
  }
  if (vectors_.width() != VectorBuilder::lanes)
    for (auto &[key, vector] : scopes_.front().values)
      vector = vectors_.splat(vectors_.lane(vector, 0));
}

Value LoopValues::compute(Value value, unsigned place, unsigned chunk) {
  Operation *operation = value.getDefiningOp();
  if (auto read = dyn_cast<plan::ReadOp>(operation))
    return this->read(read, place, chunk);
  if (auto reindex = dyn_cast<plan::ReindexOp>(operation))
    return this->reindex(reindex, place, chunk);
  if (auto number = dyn_cast<plan::NumberOp>(operation))
    return numbersAlong(number.getAxis(), place, chunk);
  if (auto wanted = dyn_cast<plan::SizeOp>(operation)) {
    Size size = *Size::parse(wanted.getSize().str());
    return vectors_.splat(this->size(sizeAtLaunch(body_.op(), size)));
  }
  SmallVector<Value> operands;
  for (Value operand : operation->getOperands())
    operands.push_back(get(operand, place, chunk));
  return emitCell(vectors_, operation, operands);
}

// Divides by the value's divisor now if that does not run over the axes of loops that follow.
void LoopValues::hoistDivisors(Value value, ArrayRef<unsigned> loops) {
  plan::BinaryOp quotient = divisionByInvariant(body_, value);
  if (!quotient || isDivisionHidden() ||
      llvm::any_of(loops, [&](unsigned axis) { return runsOver(quotient.getRhs(), axis); }))
    return;
  for (unsigned place = 0; place < placesOf(quotient.getRhs()); ++place)
    for (unsigned chunk = 0; chunk < chunksOf(quotient.getRhs()); ++chunk)
      divisorOf(quotient.getRhs(), place, chunk);
}

void LoopValues::hoist(Value needed, ArrayRef<unsigned> loops) {
  llvm::DenseSet<Value> visited;
  SmallVector<Value> rest{needed};
  while (!rest.empty()) {
    Value value = rest.pop_back_val();
    Operation *operation = value.getDefiningOp();
    if (isa<plan::ConstantOp, plan::SizeOp>(operation) || !visited.insert(value).second)
      continue;
    auto reduce = dyn_cast<plan::ReduceOp>(operation);
    if (!llvm::any_of(loops, [&](unsigned axis) { return runsOver(value, axis); })) {
      for (unsigned place = 0; place < placesOf(value); ++place)
        for (unsigned chunk = 0; chunk < chunksOf(value); ++chunk)
          get(value, place, chunk);
    } else if (isLoaded(value) || isa<plan::ReadOp, plan::ScanOp, plan::ReindexOp>(operation)) {
      continue;
    } else if (!reduce) {
      hoistDivisors(value, loops);
      llvm::append_range(rest, llvm::reverse(operation->getOperands()));
    } else if (std::optional<SampledProduct> product = body_.sampledProduct(reduce)) {
      beginSampledProduct(*product);
    } else {
      SmallVector<unsigned> inside(loops);
      inside.append(reduce.getOver().begin(), reduce.getOver().end());
      hoist(reduce.getOperand(), inside);
    }
  }
}
