// How often sequences of numbers occur in others.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

#include <fmt/format.h>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// Sequences of one length that are looked for.
struct Pool {
  int64_t length;
  SmallVector<int64_t> numbers; // one sequence behind the other
  int64_t count() const { return static_cast<int64_t>(numbers.size()) / length; }
};

// `ngram_counts` says where in `pool_int64s` those of each length begin.
SmallVector<Pool> poolsOf(NodeImporter &node) {
  Numbers begins = node.integers("ngram_counts"), numbers = node.integers("pool_int64s");
  SmallVector<Pool> pools;
  for (size_t i = 0; i < begins.size(); ++i) {
    auto length = static_cast<int64_t>(i) + 1, all = static_cast<int64_t>(numbers.size());
    int64_t begin = begins[i], end = i + 1 < begins.size() ? begins[i + 1] : all;
    if (begin < 0 || end < begin || end > all || (end - begin) % length != 0)
      throw Error(fmt::format("ngram_counts: no sequences of {} lie from {} to {} of {} numbers",
                              length, begin, end, all));
    if (begin < end)
      pools.push_back({length, {numbers.begin() + begin, numbers.begin() + end}});
  }
  return pools;
}

// [rows, sequences of the pool]: how often they occur in rows of x, with so many numbers left out between two of
// theirs.
Value occurrences(GraphBuilder &graph, Value x, const Pool &pool, int64_t skipped) {
  Value length = graph.size(x, 1), distance = graph.integer(skipped + 1);
  Value begins = graph.scalar(
      Binary::Max, graph.integer(0),
      graph.scalar(Binary::Sub, length, graph.integer((pool.length - 1) * (skipped + 1))));
  Value windows = graph.windows(x, graph.integer(0),
                                {begins, graph.integer(pool.length), graph.integer(1),
                                 graph.integer(1), distance, graph.integer(1)});
  auto type = RankedTensorType::get({pool.count(), pool.length}, graph.builder().getI64Type());
  Value wanted = graph.literal(DenseElementsAttr::get(type, ArrayRef(pool.numbers)));
  Value isEqual = graph.binary(Binary::Eq, graph.unsqueeze(windows, {2}), wanted);
  Value isThere = graph.reduce(AggregateKind::Min, graph.cast(isEqual, ElementType::F32), {3},
                               KeepDimensions::No);
  return graph.reduce(AggregateKind::Sum, isThere, {1}, KeepDimensions::No);
}

Value numbers(GraphBuilder &graph, ArrayRef<float> cells) {
  auto type =
      RankedTensorType::get({static_cast<int64_t>(cells.size())}, graph.builder().getF32Type());
  return graph.literal(DenseElementsAttr::get(type, cells));
}

void importTfIdfVectorizer(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  if (node.has("pool_strings"))
    node.refuse("TfIdfVectorizer of strings");
  Value x = graph.cast(node.operand(0), ElementType::I64);
  bool isVector = node.rank(0) == 1;
  if (isVector)
    x = graph.unsqueeze(x, {0});
  int64_t least = node.integer("min_gram_length", 1), most = node.integer("max_gram_length", 1),
          skips = node.integer("max_skip_count", 0);
  constexpr int64_t mostSkips = 64; // each is operations of its own
  if (skips < 0 || skips > mostSkips)
    node.refuse(fmt::format("TfIdfVectorizer that leaves out {} numbers", skips));
  Values all;
  int64_t sequences = 0;
  for (const Pool &pool : poolsOf(node)) {
    sequences += pool.count();
    Value counts = graph.filled(0, graph.builder().getF32Type(),
                                {graph.size(x, 0), graph.integer(pool.count())});
    bool isWanted = pool.length >= least && pool.length <= most;
    // There is nothing between the numbers of a sequence of one.
    for (int64_t skipped = 0; isWanted && skipped <= (pool.length == 1 ? 0 : skips); ++skipped)
      counts = graph.binary(Binary::Add, counts, occurrences(graph, x, pool, skipped));
    all.push_back(counts);
  }
  Numbers columns = node.integers("ngram_indexes");
  if (all.empty() || static_cast<int64_t>(columns.size()) != sequences)
    throw Error(fmt::format("{} columns for {} sequences of numbers", columns.size(), sequences));
  // Each sequence has its column.
  int64_t width = *llvm::max_element(columns) + 1;
  constexpr int64_t mostColumns = int64_t{1} << 20;
  if (width > mostColumns || *llvm::min_element(columns) < 0)
    throw Error(fmt::format("sequences have columns from {} to {}", *llvm::min_element(columns),
                            width - 1));
  SmallVector<int64_t> from(width, -1);
  for (auto [sequence, column] : llvm::enumerate(columns)) {
    if (from[column] >= 0)
      throw Error(fmt::format("two sequences have column {}", column));
    from[column] = static_cast<int64_t>(sequence);
  }
  // Columns without a sequence are 0: they are taken from behind.
  for (int64_t &sequence : from)
    sequence = sequence < 0 ? sequences : sequence;
  all.push_back(
      graph.filled(0, graph.builder().getF32Type(), {graph.size(x, 0), graph.integer(1)}));
  auto type = RankedTensorType::get({width}, graph.builder().getI64Type());
  Value order = graph.literal(DenseElementsAttr::get(type, ArrayRef(from)));
  Value counts = graph.take(graph.join(all, 1), order, 1);
  node.ignore({"weights"}); // which other modes than TF have
  StringRef mode = node.text("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    throw Error(fmt::format("there is no mode '{}'", mode.str()));
  if (mode == "IDF")
    counts = graph.cast(graph.binary(Binary::Gt, counts, graph.real(0)), ElementType::F32);
  if (mode != "TF" && node.has("weights")) {
    SmallVector<double> weights = node.reals("weights");
    if (static_cast<int64_t>(weights.size()) != width)
      throw Error(fmt::format("{} weights for {} columns", weights.size(), width));
    counts = graph.binary(Binary::Mul, counts,
                          numbers(graph, SmallVector<float>(weights.begin(), weights.end())));
  }
  node.setResult(0, isVector ? graph.squeeze(counts, {0}) : counts);
}

constexpr ImportRule rules[] = {{"TfIdfVectorizer", 9, importTfIdfVectorizer}};

} // namespace

llvm::ArrayRef<ImportRule> onnx::ngramRules() { return rules; }
