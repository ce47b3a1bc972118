// Random blocks for the tests of the search for plans.
//
//   RandomBlock text(seed, 20);
//   FusedBlock block(RandomBlock::arguments, text.results, text.body);
#ifndef TOKAMAK_FUSION_SELECT_RANDOMBLOCK_H
#define TOKAMAK_FUSION_SELECT_RANDOMBLOCK_H

#include "llvm/ADT/StringExtras.h"

#include <random>
#include <string>
#include <vector>

namespace tokamak::fusion {

// A block of elementwise operations and aggregates over m×k and m×1 values, dense and sparse ones,
// with products between them.
struct RandomBlock {
  static constexpr const char *arguments =
      "X:mxk Y:mxk y:mx1 z:mx1 v:kx1 B:kxk S:mxk/0.02 U:mxr W:rxk C:kx5";
  std::string results, body;

  // Operands are taken from the last `recent` values of a shape, so that few operations are dead.
  RandomBlock(unsigned seed, int operations, size_t recent = 1000) {
    std::mt19937 random(seed);
    auto below = [&](size_t bound) { return random() % bound; };
    std::vector<std::string> wide = {"%X", "%Y"}, tall = {"%y", "%z"}, returned, types;
    for (int i = 0; i < operations; ++i) {
      std::string name = "%" + std::to_string(i);
      auto any = [&](const std::vector<std::string> &values) {
        return values[values.size() - 1 - below(std::min(values.size(), recent))];
      };
      std::string w = any(wide), w2 = any(wide), t = any(tall), t2 = any(tall);
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

} // namespace tokamak::fusion
#endif
