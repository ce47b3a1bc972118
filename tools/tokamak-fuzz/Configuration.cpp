#include "tokamak-fuzz/Configuration.h"

#include "base/Error.h"
#include "exec/LateBinding.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace tokamak::fuzz {

std::string describe(const Configuration &configuration) {
  std::string text =
      fmt::format("--fusion={} --threads={}",
                  std::string_view(fusion::name(configuration.selector)), configuration.threads);
  if (configuration.threads > 1)
    text += " --compile-loops-after=1"; // Engines.cpp
  if (configuration.singlePrecision)
    text += " --precision=f32";
  if (configuration.expectsSizes)
    text += " --expect-sizes";
  if (!configuration.disabled.empty())
    text += fmt::format(" --disable={}", fmt::join(configuration.disabled, ","));
  return text;
}

Configuration parseConfiguration(const std::string &options) {
  Configuration configuration;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    std::string value = word.substr(word.find('=') + 1);
    if (word.starts_with("--fusion=")) {
      std::optional<fusion::Selector> known = fusion::findSelector(value);
      if (!known)
        throw Error("unknown selector '" + value + "'");
      configuration.selector = *known;
    } else if (word.starts_with("--threads=")) {
      configuration.threads = std::stoi(value);
    } else if (word.starts_with("--compile-loops-after=")) {
      continue; // follows from the threads
    } else if (word == "--precision=f32") {
      configuration.singlePrecision = true;
    } else if (word == "--expect-sizes") {
      configuration.expectsSizes = true;
    } else if (word.starts_with("--disable=")) {
      std::istringstream names(value);
      for (std::string name; std::getline(names, name, ',');)
        configuration.disabled.insert(name);
    } else {
      throw Error("unknown option '" + word + "'");
    }
  }
  return configuration;
}

std::vector<Configuration> allSelectors() {
  std::vector<Configuration> all;
  for (fusion::Selector selector : fusion::allSelectors)
    for (int threads : {1, 2})
      all.push_back({selector, threads, false, {}});
  return all;
}

Configuration ConfigurationSampler::draw(Random &random) const {
  Configuration configuration;
  configuration.selector = fusion::allSelectors[random.upTo(std::size(fusion::allSelectors))];
  configuration.threads = random.choose({1, 2, 4});
  configuration.singlePrecision = random.chance(0.2);
  if (random.chance(0.6))
    for (int64_t i = random.between(1, 4); i > 0; --i)
      configuration.disabled.insert(random.choose(disableNames_));
  // Otherwise sizes of small programs are part of their plans.
  if (random.chance(0.3))
    configuration.disabled.emplace(exec::specializeSizesName);
  return configuration;
}

std::vector<std::string> ConfigurationSampler::choicesOf(const Configuration &c) const {
  std::vector<std::string> choices = {fusion::name(c.selector).str(),
                                      fmt::format("threads {}", c.threads),
                                      c.singlePrecision ? "f32" : "f64"};
  for (const std::string &name : disableNames_)
    choices.push_back((c.disabled.contains(name) ? "without " : "with ") + name);
  return choices;
}

double ConfigurationSampler::novelty(const Configuration &configuration) const {
  std::vector<std::string> choices = choicesOf(configuration);
  double sum = 0;
  for (size_t i = 0; i < choices.size(); ++i)
    for (size_t j = i + 1; j < choices.size(); ++j) {
      auto found = seen_.find({choices[i], choices[j]});
      sum += 1.0 / (1.0 + static_cast<double>(found == seen_.end() ? 0 : found->second));
    }
  return sum;
}

void ConfigurationSampler::note(const Configuration &configuration) {
  std::vector<std::string> choices = choicesOf(configuration);
  for (size_t i = 0; i < choices.size(); ++i)
    for (size_t j = i + 1; j < choices.size(); ++j)
      ++seen_[{choices[i], choices[j]}];
}

std::vector<Configuration> ConfigurationSampler::sample(Random &random, int count) {
  constexpr int candidates = 4;
  std::vector<Configuration> chosen;
  while (static_cast<int>(chosen.size()) < count) {
    Configuration best = draw(random);
    if (chosen.size() == 1) {
      best = chosen.front();
      best.threads = best.threads == 1 ? random.choose({2, 4}) : 1;
    } else {
      for (int i = 1; i < candidates; ++i) {
        Configuration other = draw(random);
        if (novelty(other) > novelty(best))
          best = other;
      }
    }
    note(best);
    chosen.push_back(std::move(best));
  }
  return chosen;
}

} // namespace tokamak::fuzz
