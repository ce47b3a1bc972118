// Compares the search with the enumeration of all assignments, on random blocks.
#include "fusion/select/PlanSearch.h"

#include "fusion/select/FusedBlock.h"
#include "llvm/ADT/StringExtras.h"

#include <chrono>
#include <random>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

// A block of elementwise operations and aggregates over m×k and m×1 values, dense and sparse ones,
// with products between them.
struct RandomBlock {
  std::string results, body;

  RandomBlock(unsigned seed, int operations) {
    std::mt19937 random(seed);
    auto below = [&](size_t bound) { return random() % bound; };
    std::vector<std::string> wide = {"%X", "%Y"}, tall = {"%y", "%z"}, returned, types;
    for (int i = 0; i < operations; ++i) {
      std::string name = "%" + std::to_string(i);
      std::string w = wide[below(wide.size())], w2 = wide[below(wide.size())],
                  t = tall[below(tall.size())], t2 = tall[below(tall.size())];
      auto line = [&](const std::string &text) { body += "  " + name + " = tok." + text + "\n"; };
      switch (below(12)) {
      case 0:
        line("binary mul " + w + ", " + w2 + " : (!m, !m) -> !m");
        wide.push_back(name);
        break;
      case 1:
        line("binary sub " + w + ", " + t + " : (!m, !m) -> !m");
        wide.push_back(name);
        break;
      case 2:
        line("unary exp " + w + " : !m -> !m");
        wide.push_back(name);
        break;
      case 3:
        line("binary add " + t + ", " + t2 + " : (!m, !m) -> !m");
        tall.push_back(name);
        break;
      case 4:
        line("unary tan " + t + " : !m -> !m");
        tall.push_back(name);
        break;
      case 5:
        line("aggregate max row " + w + " : !m -> !m");
        tall.push_back(name);
        break;
      case 6:
        line("matmul " + w + ", %v : (!m, !m) -> !m");
        tall.push_back(name);
        break;
      case 7:
        line("aggregate sum full " + (below(2) ? w : t) + " : !m -> f64");
        returned.push_back(name);
        types.push_back("f64");
        break;
      case 8:
        line("binary mul " + w + ", %S : (!m, !m) -> !m");
        wide.push_back(name);
        break;
      case 9:
        line("matmul %U, %W : (!m, !m) -> !m");
        wide.push_back(name);
        break;
      case 10:
        line("matmul " + w + ", %C : (!m, !m) -> !m");
        body += "  %s" + std::to_string(i) + " = tok.aggregate sum row " + name + " : !m -> !m\n";
        tall.push_back("%s" + std::to_string(i));
        break;
      default:
        line("matmul " + w + ", %B : (!m, !m) -> !m");
        wide.push_back(name);
        break;
      }
    }
    for (const std::vector<std::string> &values : {wide, tall}) {
      returned.push_back(values.back());
      types.push_back("!m");
    }
    results = llvm::join(types, ", ");
    body += "  return " + llvm::join(returned, ", ") + " : " + results;
  }
};

constexpr const char *arguments =
    "X:mxk Y:mxk y:mx1 z:mx1 v:kx1 B:kxk S:mxk/0.02 U:mxr W:rxk C:kx5";

} // namespace

TEST(PlanSearch, findsTheBestAssignment) {
  int searched = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    RandomBlock text(seed, 20);
    FusedBlock block(arguments, text.results, text.body);
    BlockGraph graph(block.function(),
                     [&](mlir::Value value) -> const tok::Facts & { return block.factsOf(value); });
    MemoTable memo = explore(graph);
    OperatorPool pool(graph, memo, block.machine);
    Plan plan = searchPlan(pool);
    for (const Partition &partition : plan.partitions) {
      size_t points = partition.points.size();
      if (points == 0 || points > 10)
        continue;
      ++searched;
      double best = 0;
      for (unsigned assignment = 0; assignment < 1u << points; ++assignment) {
        llvm::BitVector stored(graph.size());
        for (size_t point = 0; point < points; ++point)
          if (assignment >> point & 1)
            stored.set(partition.points[point]);
        double price = priceOf(pool, partition, stored);
        best = assignment == 0 ? price : std::min(best, price);
      }
      EXPECT_LE(partition.nanoseconds, best * (1 + 1e-6)) << "seed " << seed;
    }
  }
  EXPECT_GT(searched, 30);
}

TEST(PlanSearch, everySelectorGivesValidBlocks) {
  for (unsigned seed = 100; seed < 160; ++seed)
    for (Selector selector :
         {Selector::None, Selector::All, Selector::NoRedundancy, Selector::Cost}) {
      RandomBlock text(seed, 25);
      FusedBlock(arguments, text.results, text.body).fuse(selector);
      ASSERT_FALSE(testing::Test::HasFailure())
          << "seed " << seed << " " << name(selector).str() << "\n"
          << text.body;
    }
}

TEST(PlanSearch, largeBlocksTakeNoLongTime) {
  double slowest = 0;
  for (unsigned seed = 200; seed < 210; ++seed) {
    RandomBlock text(seed, 80);
    FusedBlock block(arguments, text.results, text.body);
    auto begin = std::chrono::steady_clock::now();
    block.fuse();
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    slowest = std::max(slowest, time.count());
  }
  RecordProperty("slowest_ms", std::to_string(slowest));
  EXPECT_LT(slowest, 5000);
  std::printf("slowest block of 80 operations: %.1f ms\n", slowest);
}
