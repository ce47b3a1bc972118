#include "exec/PlansAhead.h"

#include "exec/Classification.h"
#include "exec/ProgramPlans.h"
#include "pipeline/BlockSignature.h"

#include <cmath>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::exec;
using pipeline::BlockSignature;
using pipeline::FrozenBlock;
using pipeline::UnknownSizes;
using runtime::PlanConditions;

namespace {

// What sizes are taken for that nothing is known of, when costs are estimated.
constexpr int64_t usualSize = 1000;

using Kind = BlockSignature::Input::Kind;

// Conditions that hold for all inputs.
PlanConditions noConditions(const BlockSignature &signature) {
  PlanConditions conditions;
  conditions.inputs.resize(signature.inputs.size());
  conditions.narrowLimit = -1;
  conditions.mayCoincide = true;
  return conditions;
}

class Planner {
public:
  Planner(pipeline::FrozenBlocks &blocks, const pipeline::SessionOptions &options,
          codegen::KernelCompiler &kernels)
      : blocks_(blocks), options_(options), singleOptions_(options), kernels_(kernels) {
    singleOptions_.selector = fusion::Selector::None;
    singleOptions_.explainFusion = singleOptions_.collectFacts = false;
  }

  runtime::PlannedBlock plan(int32_t number) {
    const FrozenBlock &block = blocks_[number];
    BlockSignature signature = pipeline::signatureOf(block);
    runtime::PlannedBlock planned{block.name, {}, signature.operation};
    if (signature.contents == BlockSignature::Contents::Operator) {
      planExpected(number, signature, planned.plans);
      return planned;
    }
    if (signature.contents != BlockSignature::Contents::Several) {
      planOneOperation(number, signature, planned.plans);
      return planned;
    }
    planExpected(number, signature, planned.plans);
    runtime::BlockPlan general{noConditions(signature), nullptr};
    general.image = specialize(number, general.conditions, options_, UnknownSizes::Apart).image;
    planned.plans.push_back(std::move(general));
    return planned;
  }

private:
  pipeline::Specialization specialize(int32_t number, const PlanConditions &conditions,
                                      const pipeline::SessionOptions &options,
                                      UnknownSizes unknownSizes) {
    // A session's MLIR context only grows.
    constexpr int64_t specializationsPerSession = 200;
    auto &session = &options == &options_ ? session_ : singleSession_;
    if (!session || session->specializations() >= specializationsPerSession)
      session = std::make_unique<pipeline::CompileSession>(options, kernels_);
    return session->specialize(blocks_, number, conditions, unknownSizes, pipeline::Tier::Compiled);
  }

  // Adds a plan with these conditions, if it is one that is wanted. False if there is none: they don't decide which sizes agree,
  // or the block is wrong under them.
  bool add(int32_t number, PlanConditions conditions, const pipeline::SessionOptions &options,
           UnknownSizes unknownSizes, std::vector<runtime::BlockPlan> &plans,
           llvm::function_ref<bool(const runtime::Image &)> isWanted = {}) {
    try {
      for (;;) {
        pipeline::Specialization made = specialize(number, conditions, options, unknownSizes);
        if (made.image && isWanted && !isWanted(*made.image))
          return false;
        if (made.image) {
          plans.push_back({std::move(conditions), made.image});
          return true;
        }
        if (made.wantedCells.empty())
          return false;
        for (const auto &[input, cells] : made.wantedCells)
          conditions.inputs[input].cells = {cells, true};
      }
    } catch (const Error &error) {
      if (error.kind() == ErrorKind::Internal)
        throw;
      return false;
    }
  }

  //===- the sizes that are expected ---------------------------------------------------------===//

  // Of all inputs: the dimensions of arrays, and integers.
  static std::vector<Size> expectedSizes(const FrozenBlock &block,
                                         const BlockSignature &signature) {
    size_t count = 0;
    for (const BlockSignature::Input &input : signature.inputs)
      count += input.kind == Kind::Array ? input.rank : input.kind == Kind::Integer;
    if (block.expectedSizes.size() == count)
      return block.expectedSizes;
    std::vector<Size> sizes;
    for (size_t i = 0; i < count; ++i)
      sizes.push_back(Size::symbol(static_cast<int64_t>(i)));
    return sizes;
  }

  // What a block whose sizes are `sizes` may meet. A size that isn't known gets a number that a plan for it doesn't take
  // for this very size: none that is narrow, unless all that it may be are, and none that the block or another size is.
  static std::vector<InputFacts> typicalInputs(const FrozenBlock &block,
                                               const BlockSignature &signature,
                                               std::span<const Size> sizes) {
    // Sizes that are not known to be equal are not.
    std::vector<std::pair<Size, int64_t>> known;
    for (const Size &size : sizes)
      if (size.isConstant())
        known.emplace_back(size, size.constantValue());
    auto isTaken = [&](int64_t number) {
      return llvm::is_contained(block.literals, number) ||
             llvm::any_of(known, [&](const auto &each) { return each.second == number; });
    };
    const int64_t narrowLimit = ClassificationPolicy().narrowLimit;
    size_t next = 0;
    auto typical = [&] {
      const Size &size = sizes[next++];
      if (size.isConstant())
        return size.constantValue();
      for (const auto &[other, number] : known)
        if (other == size)
          return number;
      int64_t number = std::clamp(size.estimate(usualSize), size.range().low, size.range().high);
      if (size.range().high > narrowLimit)
        number = std::max(number, narrowLimit + 1);
      while (isTaken(number))
        ++number;
      known.emplace_back(size, number);
      return number;
    };
    std::vector<InputFacts> inputs;
    for (const BlockSignature::Input &input : signature.inputs) {
      InputFacts &facts = inputs.emplace_back();
      if (input.kind == Kind::Array) {
        facts.kind = InputFacts::Kind::Array;
        for (int dimension = 0; dimension < input.rank; ++dimension)
          facts.sizes.push_back(typical());
      } else if (input.kind != Kind::Other) {
        facts.kind = InputFacts::Kind::Scalar;
        facts.scalar =
            input.kind == Kind::Integer ? runtime::Value(typical()) : runtime::Value(0.5);
      }
    }
    return inputs;
  }

  void planExpected(int32_t number, const BlockSignature &signature,
                    std::vector<runtime::BlockPlan> &plans) {
    const FrozenBlock block = blocks_[number]; // a copy: compiling may add blocks
    std::vector<Size> sizes = expectedSizes(block, signature);
    std::vector<InputFacts> inputs = typicalInputs(block, signature, sizes);
    const std::vector<bool> varying(inputs.size(), true); // no scalar is known
    SizeHistory history;
    history.expect(sizes);
    auto attempt = [&](const ClassificationPolicy &policy, UnknownSizes unknownSizes) {
      return add(number, classify(block, inputs, varying, policy).conditions, options_,
                 unknownSizes, plans);
    };
    ClassificationPolicy policy;
    policy.anySize = history.hasChanges();
    // A plan as a run makes it at first, for sizes that are not narrow; then one for the others, if they may be.
    bool isMade = attempt(policy, UnknownSizes::Reject);
    if (isMade && !history.hasChanges())
      return;
    policy.history = &history;
    for (const SizeGenerality &generality : sizeGeneralities) {
      policy.smallSizesChange = generality.smallSizesChange;
      policy.integersAreSizes = generality.integersAreSizes;
      if (attempt(policy, generality.unknownSizes))
        return;
    }
  }

  //===- one operation -----------------------------------------------------------------------===//

  static bool givesSparse(const runtime::Image &image) {
    return llvm::any_of(image.kernels, [](const runtime::KernelPlan &kernel) {
      return llvm::any_of(kernel.outputs, [](const runtime::KernelOutput &output) {
        return output.layout == TOK_CSR;
      });
    });
  }

  // Plans for all ways in which the sizes of its operands may agree: at each place, counted from the last dimension, those
  // of some operands are one, and those of the others are equal; or just one plan for equal sizes, if there are too many. Of two operands that are not one anywhere, each may be
  // sparse, too, where the result is then; where it isn't, sparse ones become dense.
  void planOneOperation(int32_t number, const BlockSignature &signature,
                        std::vector<runtime::BlockPlan> &plans) {
    std::vector<size_t> arrays;
    int ranks = 0;
    for (size_t i = 0; i < signature.inputs.size(); ++i)
      if (signature.inputs[i].kind == Kind::Array) {
        arrays.push_back(i);
        ranks = std::max(ranks, signature.inputs[i].rank);
      }
    // Bit i of the set of a place: operand i has one cell there. Not all have, but those sizes may be one, too.
    const unsigned sets = (1U << arrays.size()) - 1;
    // Bit i of `sparse`: operand i is.
    auto planWith = [&](const std::vector<unsigned> &ones, int64_t least, unsigned sparse,
                        llvm::function_ref<bool(const runtime::Image &)> isWanted = {}) {
      PlanConditions conditions = noConditions(signature);
      conditions.symbolCount = ranks;
      for (size_t operand = 0; operand < arrays.size(); ++operand) {
        PlanConditions::Input &input = conditions.inputs[arrays[operand]];
        input.kind = PlanConditions::Input::Kind::Array;
        int rank = signature.inputs[arrays[operand]].rank;
        for (int place = rank - 1; place >= 0; --place)
          input.sizes.push_back(ones[place] >> operand & 1
                                    ? Size::constant(1)
                                    : Size::symbol(place, usualSize, {least, largestSize}));
        if (sparse >> operand & 1)
          input.sparseDensity = PlanConditions::Density{0, 1, 0.05};
      }
      return add(number, std::move(conditions), singleOptions_, UnknownSizes::Reject, plans,
                 isWanted);
    };
    std::vector<unsigned> ones(ranks, 0);
    // One after the other like the digits of a number, the last of which changes most quickly.
    auto next = [&](unsigned digits) {
      for (unsigned &digit : ones) {
        if (++digit < digits)
          return true;
        digit = 0;
      }
      return false;
    };
    if (arrays.size() == 1) {
      if (!planWith(ones, 0, 0)) {
        ones.assign(ranks, 0);
        do
          planWith(ones, 2, 0);
        while (next(2));
      }
      ones.assign(ranks, 0);
      planWith(ones, 2, 1);
      return;
    }
    // Three operands of four dimensions agree in 2401 ways: the runtime makes them equally large then (PlanTable).
    constexpr double mostWays = 100;
    if (std::pow(sets, ranks) > mostWays) {
      planWith(ones, 0, 0);
      return;
    }
    do
      planWith(ones, 0, 0);
    while (next(sets));
    bool areMatrices = arrays.size() == 2 && llvm::all_of(arrays, [&](size_t input) {
                         return signature.inputs[input].rank == 2;
                       });
    for (unsigned sparse = 1; areMatrices && sparse <= sets; ++sparse) {
      ones.assign(ranks, 0);
      do
        if (llvm::none_of(ones, [&](unsigned place) { return (place & sparse) != 0; }))
          planWith(ones, 2, sparse, givesSparse);
      while (next(sets));
    }
  }

  pipeline::FrozenBlocks &blocks_;
  const pipeline::SessionOptions &options_;
  pipeline::SessionOptions singleOptions_;
  codegen::KernelCompiler &kernels_;
  std::unique_ptr<pipeline::CompileSession> session_, singleSession_;
};

} // namespace

std::vector<runtime::PlannedBlock> exec::planAhead(pipeline::FrozenBlocks &blocks,
                                                   const pipeline::SessionOptions &options,
                                                   codegen::KernelCompiler &kernels) {
  Planner planner(blocks, options, kernels);
  std::vector<runtime::PlannedBlock> planned;
  while (planned.size() < blocks.size())
    planned.push_back(planner.plan(static_cast<int32_t>(planned.size())));
  return planned;
}
