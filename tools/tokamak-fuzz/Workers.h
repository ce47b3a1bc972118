// Tests programs in parallel worker processes, so that a crash is a finding and does not end the
// campaign.
//
//   Campaign campaign;
//   campaign.programs = 20'000;
//   CampaignResult result =
//       runCampaign(campaign, [](uint64_t seed, const Finding &finding) { ... });
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_WORKERS_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_WORKERS_H

#include "tokamak-fuzz/Trial.h"

#include <functional>

namespace tokamak::fuzz {

struct Campaign {
  uint64_t firstSeed = 1;
  int64_t programs = 0; // 0: until the time limit
  double seconds = 0;   // 0: no time limit
  int jobs = 1;
  std::function<SourceText(uint64_t seed)> programOf;
  int configurations = 6;           // of each program, sampled,
  std::vector<Configuration> allOf; // or these, if there are any
  int secondsPerProgram = 120;      // many times what the slowest takes under a sanitizer
  int64_t bytesPerWorker = 0;       // of memory that a worker may have; 0: no limit
  int64_t mostFindings = 20;        // limit at which the campaign ends
  std::string machineModel;         // path of the file
};

struct CampaignResult {
  int64_t programs = 0, runs = 0, undecided = 0, invalid = 0, failed = 0, differing = 0;
  int64_t cells = 0, comparedCells = 0;
  Times times;
  // Each rewrite rule with the number of times it fired, in the order in which rules are applied.
  std::vector<std::pair<std::string, int64_t>> rules;
};

// `found` is called in this process, once for each differing program.
CampaignResult runCampaign(const Campaign &campaign,
                           const std::function<void(uint64_t, const Finding &)> &found);

// Tests one program in a separate process, within the campaign's limits; returns nothing if all
// agree.
std::optional<Finding> tryAlone(const SourceText &program,
                                const std::vector<Configuration> &configurations,
                                const Campaign &campaign);

} // namespace tokamak::fuzz
#endif
