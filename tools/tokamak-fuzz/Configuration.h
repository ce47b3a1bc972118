// Ways to run a program on the native engine, and which of them to try.
//
//   ConfigurationSampler sampler(disableNames);
//   for (const Configuration &c : sampler.sample(random, 6))
//     std::cout << describe(c);                  // "--fusion=cost --threads=2 --disable=cse"
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_CONFIGURATION_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_CONFIGURATION_H

#include "fusion/select/FuseBlock.h"
#include "tokamak-fuzz/Expressions.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tokamak::fuzz {

struct Configuration {
  fusion::Selector selector = fusion::Selector::Cost;
  int threads = 1;
  bool singlePrecision = false;
  std::set<std::string> disabled; // passes and rules
  bool operator==(const Configuration &) const = default;
};

// As options of `tokamak run`.
std::string describe(const Configuration &configuration);
// Of options as describe writes them; others are an Error.
Configuration parseConfiguration(const std::string &options);
// Every selector with one thread and with two.
std::vector<Configuration> allSelectors();

// Chooses configurations so that every pair of choices (a selector with a rule left out, a number
// of threads with a precision, ...) comes up as often as any other.
class ConfigurationSampler {
public:
  explicit ConfigurationSampler(std::vector<std::string> disableNames)
      : disableNames_(std::move(disableNames)) {}

  // The second one differs from the first in the number of threads alone.
  std::vector<Configuration> sample(Random &random, int count);

private:
  Configuration draw(Random &random) const;
  std::vector<std::string> choicesOf(const Configuration &configuration) const;
  double novelty(const Configuration &configuration) const;
  void note(const Configuration &configuration);

  std::vector<std::string> disableNames_;
  std::map<std::pair<std::string, std::string>, int64_t> seen_;
};

} // namespace tokamak::fuzz
#endif
