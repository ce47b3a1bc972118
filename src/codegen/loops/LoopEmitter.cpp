#include "codegen/loops/LoopEmitter.h"

#include "codegen/Aggregation.h"
#include "codegen/loops/LoopValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <functional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

class LoopEmitter {
public:
  LoopEmitter(const LoopBody &body, VectorBuilder &vectors, const TileArguments &tile,
              abi::KernelPlan &plan)
      : body_(body), vectors_(vectors), tile_(tile), schedule_(body.schedule()),
        values_(body, vectors, tile, plan), last_(schedule_.parallel.back()) {}

  void emitTile();

private:
  using Range = std::pair<Value, Value>;
  void emitPlaces(Range places);
  void emitPlacesInVectors(Range places);
  using VectorsFunction = llvm::function_ref<void(Value index, State &carried)>;
  void inVectors(unsigned axis, Range range, const Size &length, State &state,
                 VectorsFunction emitInside);
  void alongPlaces(Range places, VectorsFunction emitInside);
  void alongVectors(unsigned axis, State &state, VectorsFunction emitInside);
  void emitScans(Range places);
  void emitBlocks(Range places, llvm::function_ref<void()> emitInside);
  void emitPacked(mlir::Value value);
  void emitPackedVectors(mlir::Value value);
  void emitBlock();
  void emitPass(const LoopPass &pass);
  void emitChunks(const LoopPass &pass, State &state);
  void finishReductions(const LoopPass &pass, ArrayRef<Value> state);
  // Where the reduction's or scan's accumulator stands in a pass's state.
  struct Accumulator {
    Operation *aggregation;
    unsigned place, chunk, index;
  };
  SmallVector<Accumulator> accumulatorsOf(const LoopPass &pass) const;

  Value divide(Value a, Value b) {
    OpBuilder &builder = vectors_.builder();
    return builder.create<arith::DivSIOp>(builder.getUnknownLoc(), a, b);
  }
  Value remainder(Value a, Value b) {
    OpBuilder &builder = vectors_.builder();
    return builder.create<arith::RemSIOp>(builder.getUnknownLoc(), a, b);
  }
  Value roundDown(Value value, int64_t unit) {
    return vectors_.multiply(divide(value, vectors_.integer(unit)), vectors_.integer(unit));
  }
  // The first multiple of `unit` steps behind `begin` from which no whole one fits before `end`.
  Value endOfWhole(Range range, int64_t unit) {
    return vectors_.add(range.first, roundDown(vectors_.subtract(range.second, range.first), unit));
  }

  const LoopBody &body_;
  VectorBuilder &vectors_;
  const TileArguments &tile_;
  const schedule::Schedule &schedule_;
  LoopValues values_;
  unsigned last_; // the axis that blocks are cut from
};

} // namespace

//===- tiles and blocks ----------------------------------------------------------------------===//

void LoopEmitter::emitTile() {
  ArrayRef<unsigned> leading = ArrayRef(schedule_.parallel).drop_back();
  if (leading.empty())
    return emitPlaces({tile_.begin, tile_.end});
  Value one = vectors_.integer(1), zero = vectors_.integer(0);
  Value length = vectors_.maximum(values_.axisSize(last_), one);
  Value first = divide(tile_.begin, length),
        end = divide(vectors_.subtract(vectors_.add(tile_.end, length), one), length);
  vectors_.forLoop(first, end, 1, [&](Value row) {
    Value before = vectors_.multiply(row, length);
    Range places = {vectors_.maximum(vectors_.subtract(tile_.begin, before), zero),
                    vectors_.minimum(vectors_.subtract(tile_.end, before), length)};
    SmallVector<Value> indices;
    for (unsigned axis : llvm::reverse(leading.drop_front())) {
      Value size = vectors_.maximum(values_.axisSize(axis), one);
      indices.push_back(remainder(row, size));
      row = divide(row, size);
    }
    indices.push_back(row);
    std::reverse(indices.begin(), indices.end());
    std::function<void(size_t)> set = [&](size_t number) {
      if (number == leading.size())
        return emitPlaces(places);
      values_.inLoop(leading[number], indices[number], [&] { set(number + 1); });
    };
    set(0);
  });
}

void LoopEmitter::emitPlaces(Range places) {
  if (schedule_.vectorizesBlocks())
    return emitPlacesInVectors(places);
  if (!schedule_.vectorsOutside) {
    for (auto [value, axis] : schedule_.packed)
      emitPacked(value);
    return emitBlocks(places, [&] { emitBlock(); });
  }
  const LoopPass &pass = body_.passes().front();
  State none;
  alongVectors(*pass.vector, none, [&](Value, State &) {
    for (auto [value, axis] : schedule_.packed)
      emitPackedVectors(value);
    emitBlocks(places, [&] {
      values_.beginPass(0);
      emitChunks(pass, none);
    });
  });
}

// Copies all vectors of a value, those of neighbouring places along the other axes behind each other.
void LoopEmitter::emitPacked(Value value) {
  State none;
  alongVectors(schedule_.packed.lookup(value), none,
               [&](Value, State &) { emitPackedVectors(value); });
}

void LoopEmitter::emitPackedVectors(Value value) {
  SmallVector<unsigned> axes = schedule_.innerAxes(value);
  llvm::erase(axes, schedule_.packed.lookup(value));
  State none;
  values_.forAxes(axes, none, [&](State &) { values_.pack(value); });
}

void LoopEmitter::emitBlocks(Range places, llvm::function_ref<void()> emitInside) {
  auto blocks = [&](Range range, int64_t block) {
    vectors_.forLoop(range.first, range.second, block, [&](Value index) {
      values_.inLoop(last_, index, [&] {
        values_.beginBlock(block);
        emitInside();
      });
    });
  };
  if (schedule_.block == 1)
    return blocks(places, 1);
  Value whole = endOfWhole(places, schedule_.block);
  blocks({places.first, whole}, schedule_.block);
  blocks({whole, places.second}, 1);
}

void LoopEmitter::emitPlacesInVectors(Range places) {
  if (body_.carriesInMemory())
    return emitScans(places);
  alongPlaces(places, [&](Value, State &) { emitBlock(); });
}

// Scans all places of the tile together, so that arrays are read and written in the order of memory.
void LoopEmitter::emitScans(Range places) {
  const LoopPass &pass = body_.passes().front();
  auto address = [&](plan::ScanOp scan, Value index, unsigned chunk) {
    Value place = vectors_.subtract(index, places.first);
    return values_.carried(scan, vectors_.add(place, vectors_.integer(chunk * vectors_.width())));
  };
  alongPlaces(places, [&](Value index, State &) {
    for (plan::ScanOp scan : pass.scans)
      for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk)
        vectors_.store(values_.neutral(scan), address(scan, index, chunk), values_.mask());
  });
  State none;
  values_.forAxes(pass.loops, none, [&](State &) {
    alongPlaces(places, [&](Value index, State &) {
      values_.beginPass(0);
      SmallVector<Accumulator> accumulators = accumulatorsOf(pass);
      State state;
      for (const Accumulator &own : accumulators) {
        auto scan = cast<plan::ScanOp>(own.aggregation);
        state.push_back(vectors_.load(address(scan, index, own.chunk), values_.mask(),
                                      vectors_.registerType(accumulatorOf(scan))));
      }
      emitChunks(pass, state);
      for (const Accumulator &own : accumulators)
        vectors_.store(state[own.index],
                       address(cast<plan::ScanOp>(own.aggregation), index, own.chunk),
                       values_.mask());
    });
  });
}

void LoopEmitter::alongPlaces(Range places, VectorsFunction emitInside) {
  State none;
  inVectors(last_, places, Size::unknown(), none, emitInside);
}

void LoopEmitter::emitBlock() {
  for (auto [number, pass] : llvm::enumerate(body_.passes())) {
    values_.beginPass(number);
    emitPass(pass);
  }
  values_.beginPass(body_.passes().size());
  for (plan::WriteOp write : body_.lastWrites())
    for (unsigned place = 0; place < values_.places(); ++place)
      for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk)
        values_.write(write, place, chunk);
}

//===- passes --------------------------------------------------------------------------------===//

SmallVector<LoopEmitter::Accumulator> LoopEmitter::accumulatorsOf(const LoopPass &pass) const {
  SmallVector<Accumulator> accumulators;
  auto add = [&](Operation *aggregation) {
    Value result = aggregation->getResult(0);
    // Chunks of vectors along places have accumulators of their own; those of a pass share one.
    unsigned chunks = schedule_.vectorizesBlocks() ? values_.chunksOf(result) : 1;
    for (unsigned place = 0; place < values_.placesOf(result); ++place)
      for (unsigned chunk = 0; chunk < chunks; ++chunk)
        accumulators.push_back(
            {aggregation, place, chunk, static_cast<unsigned>(accumulators.size())});
  };
  for (plan::ScanOp scan : pass.scans)
    add(scan);
  for (plan::ReduceOp reduce : pass.reductions)
    add(reduce);
  return accumulators;
}

void LoopEmitter::emitPass(const LoopPass &pass) {
  SmallVector<unsigned> axes = pass.loops;
  if (pass.vector)
    axes.push_back(*pass.vector);
  for (plan::ScanOp scan : pass.scans)
    values_.hoist(scan.getOperand(), axes);
  for (Value kept : pass.kept)
    values_.hoist(kept, axes);
  for (plan::ReduceOp reduce : pass.reductions)
    values_.hoist(reduce.getOperand(), axes);
  for (plan::WriteOp write : pass.writes)
    values_.hoist(write.getCell(), axes);
  State state;
  for (const Accumulator &accumulator : accumulatorsOf(pass))
    state.push_back(values_.neutral(accumulator.aggregation));
  values_.forAxes(pass.loops, state, [&](State &carried) {
    if (pass.vector)
      alongVectors(*pass.vector, carried, [&](Value, State &inner) { emitChunks(pass, inner); });
    else
      emitChunks(pass, carried);
  });
  finishReductions(pass, state);
}

void LoopEmitter::alongVectors(unsigned axis, State &state, VectorsFunction emitInside) {
  inVectors(axis, {vectors_.integer(0), values_.axisSize(axis)}, body_.axes()[axis], state,
            emitInside);
}

// A loop over a range of an axis: several vectors at a time, and the rest one by one in masked vectors.
// Loops that have nothing to do for a constant `length` are not emitted.
void LoopEmitter::inVectors(unsigned axis, Range range, const Size &length, State &state,
                            VectorsFunction emitInside) {
  auto emit = [&](Range part, int64_t chunks, bool isMasked) {
    auto inside = [&](Value index, State &carried) {
      values_.inLoop(axis, index, [&] {
        Value left = isMasked ? vectors_.subtract(part.second, index) : Value();
        values_.beginChunks(axis, chunks, isMasked ? vectors_.maskBelow(left) : Value());
        emitInside(index, carried);
        values_.endChunks();
      });
    };
    vectors_.forLoop(part.first, part.second, chunks * vectors_.width(), state, inside);
  };
  int64_t step = schedule_.unroll * vectors_.width();
  bool isKnown = length.isConstant();
  Value whole =
      isKnown ? vectors_.integer(length.constantValue() / step * step) : endOfWhole(range, step);
  if (!isKnown || length.constantValue() >= step)
    emit({range.first, whole}, schedule_.unroll, /*isMasked=*/false);
  if (!isKnown || length.constantValue() % step != 0)
    emit({whole, range.second}, 1, /*isMasked=*/true);
}

// What the pass does for the places and chunks that its loops have reached.
void LoopEmitter::emitChunks(const LoopPass &pass, State &state) {
  auto forEachCopy = [&](Value value, auto emit) {
    for (unsigned place = 0; place < values_.placesOf(value); ++place)
      for (unsigned chunk = 0; chunk < values_.chunksOf(value); ++chunk)
        emit(place, chunk);
  };
  SmallVector<Accumulator> accumulators = accumulatorsOf(pass);
  for (const Accumulator &own : accumulators)
    if (isa<plan::ScanOp>(own.aggregation)) {
      Value next = values_.accumulate(own.aggregation, state[own.index], own.place, own.chunk, {});
      state[own.index] = next;
      values_.set(own.aggregation->getResult(0), own.place, own.chunk,
                  values_.finish(own.aggregation, next, /*overLanes=*/false));
    }
  for (Value kept : pass.kept)
    forEachCopy(kept, [&](unsigned place, unsigned chunk) { values_.keep(kept, place, chunk); });
  for (const Accumulator &own : accumulators) {
    auto reduce = dyn_cast<plan::ReduceOp>(own.aggregation);
    if (!reduce)
      continue;
    unsigned first = own.chunk, end = own.chunk + 1;
    if (!schedule_.vectorizesBlocks())
      end = values_.chunksOf(reduce.getOperand());
    Value mask = schedule_.vectorizesBlocks() ? Value() : values_.mask();
    for (unsigned chunk = first; chunk < end; ++chunk)
      state[own.index] = values_.accumulate(reduce, state[own.index], own.place, chunk, mask);
  }
  for (plan::WriteOp write : pass.writes) {
    bool runsOverPlaces = body_.accessOf(write).runsOver(last_);
    for (unsigned place = 0; place < (runsOverPlaces ? values_.places() : 1); ++place)
      for (unsigned chunk = 0; chunk < values_.chunks(); ++chunk)
        values_.write(write, place, chunk);
  }
}

void LoopEmitter::finishReductions(const LoopPass &pass, ArrayRef<Value> state) {
  for (const Accumulator &own : accumulatorsOf(pass))
    if (isa<plan::ReduceOp>(own.aggregation))
      values_.set(own.aggregation->getResult(0), own.place, own.chunk,
                  values_.finish(own.aggregation, state[own.index],
                                 /*overLanes=*/pass.vector.has_value()));
}

OwningOpRef<ModuleOp> codegen::emitLoops(const LoopBody &body, StringRef name, MLIRContext *context,
                                         abi::KernelPlan &plan) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context), name);
  VectorBuilder vectors(*module);
  auto arrays = llvm::count_if(body.op().getInputs(),
                               [](Value operand) { return tok::isArray(operand.getType()); });
  emitKernelFunctions(vectors, name, arrays, plan.outputs.size(), [&](const TileArguments &tile) {
    vectors.setWidth(body.schedule().lanes);
    LoopEmitter(body, vectors, tile, plan).emitTile();
    vectors.setWidth(VectorBuilder::lanes);
  });
  return module;
}
