// What the runs and calls of a program took: plans, kernels and time.
//
//   RunCounts counts = program->counts();
//   fmt::print("{} kernels were compiled in {} ns\n", counts.kernelsCompiled, counts.kernelTime);
#ifndef TOKAMAK_EXEC_RUNCOUNTS_H
#define TOKAMAK_EXEC_RUNCOUNTS_H

#include "pipeline/StaticPhase.h"
#include "rewrite/BlockRules.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tokamak::exec {

// Counts of all runs and calls that have ended, for tests and --stats; times in nanoseconds.
struct RunCounts {
  int64_t specializations = 0;                  // of blocks, made by this process
  int64_t plansLoaded = 0;                      // made by another process
  std::map<std::string, int64_t> plansOfBlocks; // of both, by the block's name
  int64_t specializationTime = 0;               // of both; includes kernelTime
  int64_t kernelsCompiled = 0;
  int64_t kernelsReused = 0; // compiled by this process before
  int64_t kernelsLoaded = 0; // compiled by another process
  int64_t kernelsBuiltIn = 0;
  int64_t kernelTime = 0;
  std::vector<int64_t> kernelTimes;                                 // of each that was compiled
  int64_t loopsCompiled = 0, functionsCompiled = 0, scalarTime = 0; // loops, functions of scalars
  int64_t materializedArrays = 0;
  bool isProgramLoaded = false;          // compiled by another process: there was no static phase
  std::vector<pipeline::PassRun> passes; // of the static phase
  std::vector<rewrite::RuleRun> rules;   // summed over all blocks
  // "file:line" of operators that compute zero for a sparse matrix's zero times any number.
  std::set<std::string> zeroRuleUses;
  double memoryBytesPerNanosecond = 0; // read by one core, by the machine model; 0: not requested
  std::string reasonOfMeasuring; // why the machine's speeds were measured; empty: they were not
};

} // namespace tokamak::exec
#endif
