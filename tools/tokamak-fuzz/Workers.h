// Processes that try programs side by side, so that a crash is a finding and not the end.
//
//   Campaign campaign;
//   campaign.programs = 20'000;
//   CampaignResult result = runCampaign(campaign, [](uint64_t seed, const Finding &finding) {...});
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_WORKERS_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_WORKERS_H

#include "tokamak-fuzz/Trial.h"

#include <functional>

namespace tokamak::fuzz {

struct Campaign {
  uint64_t firstSeed = 1;
  int64_t programs = 0; // 0: until the time is over
  double seconds = 0;   // 0: until the programs are done
  int jobs = 1;
  int configurations = 6;
  int64_t mostFindings = 20; // then it ends
  std::string machineModel;  // a file
};

struct CampaignResult {
  int64_t programs = 0, runs = 0, undecided = 0, invalid = 0, failed = 0, differing = 0;
  int64_t cells = 0, comparedCells = 0;
  Times times;
  // Each rewrite rule and how often it fired, in the order in which they are applied.
  std::vector<std::pair<std::string, int64_t>> rules;
};

// `found` is called in this process, once for each program that differs.
CampaignResult runCampaign(const Campaign &campaign,
                           const std::function<void(uint64_t, const Finding &)> &found);

// The finding of one program, tried in a process of its own; none where it agrees.
std::optional<Finding> tryAlone(const SourceText &program,
                                const std::vector<Configuration> &configurations,
                                const std::string &machineModel, int seconds);

} // namespace tokamak::fuzz
#endif
