// Sums of products that an equation describes: "bij, bjk -> bik".
#include "frontend/onnx/ImportRules.h"
#include "frontend/onnx/rules/Einsum.h"

#include "base/Error.h"

#include <fmt/format.h>

#include <map>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// A letter, or one of the dimensions that an ellipsis stands for: 256 is the last of these, 257 the one before.
using Label = int;
using Labels = SmallVector<Label, 4>;
constexpr Label lastOfEllipsis = 256;

// A sum over no label yet: an array whose dimensions have these labels.
struct Factor {
  Value array;
  Labels labels;
};

bool has(ArrayRef<Label> labels, Label label) { return llvm::is_contained(labels, label); }

// `dimensions` is how many an ellipsis stands for.
Labels labelsOf(StringRef term, int64_t dimensions) {
  Labels labels;
  auto [before, after] = term.split("...");
  auto addLetters = [&](StringRef letters) {
    for (char letter : letters) {
      if (!llvm::isAlpha(letter))
        throw Error(fmt::format("'{}' of the equation is no letter", letter));
      labels.push_back(static_cast<unsigned char>(letter));
    }
  };
  addLetters(before);
  if (term.contains("..."))
    for (int64_t i = dimensions; i > 0; --i)
      labels.push_back(lastOfEllipsis + static_cast<Label>(i) - 1);
  addLetters(after);
  return labels;
}

struct Equation {
  SmallVector<StringRef> terms;
  std::optional<StringRef> result;
};

Equation equationOf(StringRef text) {
  auto [left, right] = text.split("->");
  Equation equation;
  left.split(equation.terms, ',');
  if (text.contains("->"))
    equation.result = right;
  return equation;
}

std::string withoutBlanks(StringRef equation) {
  std::string text = equation.str();
  llvm::erase(text, ' ');
  return text;
}

// Of the operands. `dimensions` becomes the most that an ellipsis stands for.
SmallVector<Factor> factorsOf(const Equation &equation, const std::string &text,
                              ArrayRef<Value> operands, int64_t &dimensions) {
  if (equation.terms.size() != operands.size())
    throw Error(fmt::format("the equation '{}' has {} terms for {} operands", text,
                            equation.terms.size(), operands.size()));
  SmallVector<Factor> factors;
  for (auto [i, term] : llvm::enumerate(equation.terms)) {
    int64_t letters = static_cast<int64_t>(labelsOf(term, 0).size()),
            rank = GraphBuilder::rankOf(operands[i]), missing = rank - letters;
    if (missing < 0 || (missing > 0 && !term.contains("...")))
      throw Error(fmt::format("'{}' of the equation stands for an array of {} dimensions",
                              term.str(), rank));
    factors.push_back({operands[i], labelsOf(term, missing)});
    dimensions = std::max(dimensions, missing);
  }
  return factors;
}

// Without a result in the equation: the ellipsis, then the letters that stand once, in alphabetical order.
Labels resultLabels(ArrayRef<Factor> factors, int64_t dimensions) {
  Labels labels = labelsOf("...", dimensions), letters;
  for (const Factor &factor : factors)
    for (Label label : factor.labels)
      if (label < lastOfEllipsis)
        letters.push_back(label);
  llvm::sort(letters);
  for (Label letter : letters)
    if (llvm::count(letters, letter) == 1)
      labels.push_back(letter);
  return labels;
}

std::string nameOf(Label label) {
  return label < lastOfEllipsis ? fmt::format("'{}'", static_cast<char>(label))
                                : "a dimension of '...'";
}

// Refuses sizes that are known by now and don't go together. One of 1 is repeated, but not in the same operand.
void checkSizes(GraphBuilder &graph, ArrayRef<Factor> factors, StringRef equation) {
  struct Known {
    int64_t size;
    size_t operand;
  };
  std::map<Label, Known> known;
  for (auto [i, factor] : llvm::enumerate(factors))
    for (auto [dimension, label] : llvm::enumerate(factor.labels)) {
      std::optional<int64_t> size = graph.knownSize(factor.array, static_cast<int64_t>(dimension));
      if (!size)
        continue;
      auto [before, isFirst] = known.try_emplace(label, Known{*size, i});
      auto [other, operand] = before->second;
      if (*size != other && (operand == i || (*size != 1 && other != 1)))
        throw Error(
            fmt::format("{} of the equation '{}' has size {} in operand {}, but {} in operand {}",
                        nameOf(label), equation.str(), other, operand, *size, i));
      if (*size != 1)
        before->second = {*size, i};
    }
}

//===- one factor ----------------------------------------------------------------------------===//

// In the order of `labels`, which are those of the factor.
Factor ordered(GraphBuilder &graph, const Factor &factor, ArrayRef<Label> labels) {
  Numbers order;
  for (Label label : labels)
    order.push_back(llvm::find(factor.labels, label) - factor.labels.begin());
  return {graph.permute(factor.array, order), Labels(labels)};
}

// Cells where both dimensions with one label have the same place.
Factor withoutRepeatedLabels(GraphBuilder &graph, Factor factor) {
  for (size_t i = 0; i < factor.labels.size(); ++i) {
    Label label = factor.labels[i];
    while (llvm::count(factor.labels, label) > 1) {
      auto rank = static_cast<int64_t>(factor.labels.size());
      Numbers order, twice;
      Labels labels;
      for (int64_t k = 0; k < rank; ++k)
        (factor.labels[k] == label && twice.size() < 2 ? twice : order).push_back(k);
      for (int64_t k : order)
        labels.push_back(factor.labels[k]);
      llvm::append_range(order, twice);
      // [.., n, n] -> [.., n n], of which every (n + 1)-th is on the diagonal.
      Value moved = graph.permute(factor.array, order);
      Value size = graph.size(moved, rank - 1);
      Values sizes = graph.sizes(moved);
      sizes.pop_back();
      sizes.back() = graph.scalar(Binary::Mul, size, size);
      Value step = graph.scalar(Binary::Add, size, graph.integer(1));
      labels.push_back(label);
      factor = {graph.slice(graph.view(moved, sizes), rank - 2, graph.integer(0), size, step),
                labels};
      i = 0;
    }
  }
  return factor;
}

// Sums over labels that nothing else has.
Factor summed(GraphBuilder &graph, const Factor &factor, ArrayRef<Label> needed) {
  Numbers dimensions;
  Labels labels;
  for (auto [i, label] : llvm::enumerate(factor.labels)) {
    if (has(needed, label))
      labels.push_back(label);
    else
      dimensions.push_back(static_cast<int64_t>(i));
  }
  if (dimensions.empty())
    return factor;
  return {graph.reduce(AggregateKind::Sum, factor.array, dimensions, KeepDimensions::No), labels};
}

//===- two factors ---------------------------------------------------------------------------===//

Values sizesOf(GraphBuilder &graph, const Factor &factor, size_t begin, size_t count) {
  Values sizes;
  for (size_t i = begin; i < begin + count; ++i)
    sizes.push_back(graph.size(factor.array, static_cast<int64_t>(i)));
  return sizes;
}

// Labels of both are kept if they are needed, and summed over if not: that is a product of matrices, one for
// each place of those that are kept.
Factor product(GraphBuilder &graph, const Factor &lhs, const Factor &rhs, ArrayRef<Label> needed) {
  Labels kept, summed, left, right;
  for (Label label : lhs.labels)
    (!has(rhs.labels, label) ? left : has(needed, label) ? kept : summed).push_back(label);
  for (Label label : rhs.labels)
    if (!has(lhs.labels, label))
      right.push_back(label);
  auto joined = [](std::initializer_list<ArrayRef<Label>> parts) {
    Labels all;
    for (ArrayRef<Label> part : parts)
      llvm::append_range(all, part);
    return all;
  };
  Factor x = ordered(graph, lhs, joined({kept, left, summed})),
         y = ordered(graph, rhs, joined({kept, summed, right}));
  size_t batch = kept.size();
  Values rows = sizesOf(graph, x, batch, left.size()),
         columns = sizesOf(graph, y, batch + summed.size(), right.size());
  Labels labels = joined({kept, left, right});
  if (summed.empty()) {
    // [kept, left, 1 …] * [kept, 1 …, right]
    auto all = static_cast<int64_t>(labels.size());
    Value apart = graph.unsqueeze(y.array, numbersFrom(static_cast<int64_t>(batch),
                                                       static_cast<int64_t>(batch + left.size())));
    return {graph.binary(Binary::Mul, graph.startingAt(x.array, 0, all), apart), labels};
  }
  Values ofLeft = sizesOf(graph, x, 0, batch), ofRight = sizesOf(graph, y, 0, batch);
  Value inner = graph.product(sizesOf(graph, y, batch, summed.size()));
  ofLeft.append({graph.product(rows), inner});
  ofRight.append({inner, graph.product(columns)});
  Value matrices = graph.matmul(graph.view(x.array, ofLeft), graph.view(y.array, ofRight));
  Values sizes = sizesOf(graph, {matrices, {}}, 0, batch);
  llvm::append_range(sizes, rows);
  llvm::append_range(sizes, columns);
  return {graph.view(matrices, sizes), labels};
}

void importEinsum(NodeImporter &node) {
  SmallVector<Value> operands;
  for (size_t i = 0; i < node.operandCount(); ++i)
    operands.push_back(node.operand(i));
  std::string equation = withoutBlanks(node.text("equation", ""));
  int64_t dimensions = 0;
  checkSizes(node.graph(), factorsOf(equationOf(equation), equation, operands, dimensions),
             equation);
  node.setResult(0, einsum(node.graph(), equation, operands));
}

constexpr ImportRule rules[] = {{"Einsum", 12, importEinsum}};

} // namespace

Value onnx::einsum(GraphBuilder &graph, StringRef written, ArrayRef<Value> operands) {
  std::string text = withoutBlanks(written);
  Equation equation = equationOf(text);
  int64_t dimensions = 0;
  SmallVector<Factor> factors = factorsOf(equation, text, operands, dimensions);
  Labels result =
      equation.result ? labelsOf(*equation.result, dimensions) : resultLabels(factors, dimensions);
  for (Label label : result)
    if (llvm::count(result, label) > 1 ||
        llvm::none_of(factors, [&](const Factor &factor) { return has(factor.labels, label); }))
      throw Error(fmt::format("the equation '{}' gives a dimension twice or from nowhere", text));
  // Labels of the result and of the factors from here on.
  auto neededFrom = [&](size_t next) {
    Labels needed = result;
    for (const Factor &factor : ArrayRef<Factor>(factors).drop_front(next))
      llvm::append_range(needed, factor.labels);
    return needed;
  };
  for (Factor &factor : factors)
    factor = withoutRepeatedLabels(graph, factor);
  Factor total = summed(graph, factors[0], neededFrom(1));
  for (size_t i = 1; i < factors.size(); ++i) {
    Labels others = neededFrom(i + 1);
    Labels needed = others;
    llvm::append_range(needed, total.labels);
    Factor next = summed(graph, factors[i], needed);
    total = summed(graph, product(graph, total, next, others), others);
  }
  return ordered(graph, total, result).array;
}

llvm::ArrayRef<ImportRule> onnx::einsumRules() { return rules; }
