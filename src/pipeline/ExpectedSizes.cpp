#include "pipeline/ExpectedSizes.h"

#include "analysis/FactsAnalysis.h"
#include "ir/tok/SizesAttribute.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

namespace {

// What symbols of inputs are replaced by.
class Agreement {
public:
  void add(const Size &a, const Size &b) {
    if (!add(a, b, true))
      add(b, a, false);
  }
  bool isEmpty() const { return replacements_.empty(); }
  Size operator()(const Size &size) const {
    return size.substitute([&](int64_t symbol) {
      auto found = replacements_.find(symbol);
      return found == replacements_.end() ? symbols_.lookup(symbol) : found->second;
    });
  }
  void know(const Size &symbol) { symbols_.try_emplace(symbol.symbolId(), symbol); }

private:
  bool isOfInputs(const Size &size) const {
    return !size.isUnknown() &&
           size.everySymbol([&](int64_t symbol) { return symbols_.contains(symbol); });
  }
  // Of two symbols the later one is replaced, so that none replaces itself by way of others.
  bool add(const Size &a, const Size &b, bool isFirst) {
    if (!b.isSymbol() || !isOfInputs(a) || !isOfInputs(b) || a == b || !replacements_.empty())
      return false;
    bool mentions = !a.everySymbol([&](int64_t symbol) { return symbol != b.symbolId(); });
    if (mentions || (isFirst && a.isSymbol() && a.symbolId() > b.symbolId()))
      return false;
    replacements_.try_emplace(b.symbolId(), a);
    return true;
  }

  llvm::DenseMap<int64_t, Size> replacements_, symbols_;
};

} // namespace

template <typename Visit> static void forEachExpected(ModuleOp module, const Visit &visit) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      if (auto sizes = tok::sizesOf(function.getArgAttr(number, tok::expectedSizesAttributeName)))
        visit(function, number, *sizes);
}

static void collect(ModuleOp module, Agreement &agreement) {
  analysis::FactsAnalysis facts(module, analysis::FactsAnalysis::Arguments::Expected);
  auto isOne = [](const Size &size) { return size.isConstant(1); };
  auto sizesOf = [&](Value value) { return facts.factsOf(value).dims; };
  module.walk([&](Operation *op) {
    if (isa<tok::MatmulOp>(op)) {
      auto a = sizesOf(op->getOperand(0)), b = sizesOf(op->getOperand(1));
      if (a.size() == 2 && b.size() == 2)
        agreement.add(a[1], b[0]);
    }
    if (!isa<tok::BinaryOp, tok::IfElseOp>(op))
      return;
    for (Value first : op->getOperands())
      for (Value second : op->getOperands()) {
        auto a = sizesOf(first), b = sizesOf(second);
        for (size_t place = 1; place <= std::min(a.size(), b.size()); ++place)
          if (const Size &x = a[a.size() - place], &y = b[b.size() - place]; !isOne(x) && !isOne(y))
            agreement.add(x, y);
      }
  });
}

void pipeline::agreeOnExpectedSizes(ModuleOp module) {
  // Each time, a symbol less is left.
  for (;;) {
    Agreement agreement;
    forEachExpected(module, [&](func::FuncOp, unsigned, ArrayRef<Size> sizes) {
      for (const Size &size : sizes)
        if (size.isSymbol())
          agreement.know(size);
    });
    collect(module, agreement);
    if (agreement.isEmpty())
      return;
    forEachExpected(module, [&](func::FuncOp function, unsigned number, ArrayRef<Size> sizes) {
      function.setArgAttr(
          number, tok::expectedSizesAttributeName,
          tok::sizesAttribute(module.getContext(), llvm::map_to_vector(sizes, agreement)));
    });
  }
}
