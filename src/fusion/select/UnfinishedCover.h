// A cover of which only the last nodes are placed: operators that may still get members and results.
//
//   UnfinishedCover cover;                                     // nothing is placed
//   cover.operators.emplace_back().waits.set(place);           // reads what some other operator has to store
//   cover.storedBy[place] = 1;
//   if (cover.waitsOf(0)[other]) ...                           // that one needs the other node stored
//
// Nodes are numbered by their places in the program.
#ifndef TOKAMAK_FUSION_SELECT_UNFINISHEDCOVER_H
#define TOKAMAK_FUSION_SELECT_UNFINISHEDCOVER_H

#include "cost/MachineModel.h"

#include "llvm/ADT/SmallVector.h"

#include <bitset>
#include <vector>

namespace tokamak::fusion {

struct UnfinishedCover {
  static constexpr size_t mostNodes = 128, mostArrays = 256;
  using Nodes = std::bitset<mostNodes>;
  using Arrays = std::bitset<mostArrays>;

  // A slot that an operator may get, and its work in it so far.
  struct Option {
    int slot, frame;
    cost::Work work = {};
    Arrays read = {};
    cost::Parts parts = {};
  };
  struct Operator {
    llvm::SmallVector<Option, 2> options;
    Nodes members, roots;
    Nodes waits; // nodes that have to be stored before
    Nodes reads, computes,
        leaves;      // of nodes that are not placed: decided to read, to compute, not to store
    Nodes separated; // nodes of which another operator is the first that computes them
    int storedArrays = 0;
    double nanoseconds = 0; // the least over all options, so far
  };

  std::vector<Operator> operators;
  std::vector<int> storedBy; // by node: its operator; -1

  // What the operator waits for, directly or because of others that it waits for.
  Nodes waitsOf(int number) const {
    Nodes all;
    llvm::SmallVector<int> left = {number}, seen = {number};
    while (!left.empty()) {
      Nodes added = operators[left.pop_back_val()].waits & ~all;
      all |= added;
      for (size_t node = added._Find_first(); node < mostNodes; node = added._Find_next(node))
        if (int by = storedBy[node]; by >= 0 && !llvm::is_contained(seen, by)) {
          seen.push_back(by);
          left.push_back(by);
        }
    }
    return all;
  }
};

} // namespace tokamak::fusion
#endif
