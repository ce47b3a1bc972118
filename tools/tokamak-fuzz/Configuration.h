// Configurations in which the native engine runs a program, and a sampler of them.
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
  std::set<std::string> disabled; // names of passes and rewrite rules
  bool expectsSizes =
      false; // other calls are said to have other sizes in every second dimension of inputs
  bool operator==(const Configuration &) const = default;
};

// The configuration as options of `tokamak run`, and --expect-sizes.
std::string describe(const Configuration &configuration);
// Parses options as `describe` writes them; an unknown option is an Error.
Configuration parseConfiguration(const std::string &options);
// Every selector with one thread and with two.
std::vector<Configuration> allSelectors();

// Chooses configurations so that all pairs of choices (a selector and a disabled rule, a number of
// threads and a precision, ...) occur about equally often.
class ConfigurationSampler {
public:
  explicit ConfigurationSampler(std::vector<std::string> disableNames)
      : disableNames_(std::move(disableNames)) {}

  // The second configuration differs from the first only in the number of threads.
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
