#include "tokamak-fuzz/Trial.h"

#include "oracle/Agreement.h"
#include "tokamak-fuzz/Engines.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <regex>

namespace tokamak::fuzz {
namespace {

using oracle::CellErrors;

// Whether two messages report the same error: static analysis writes letters for sizes that are
// known at run time only.
bool isSameMistake(const std::string &found, const std::string &raised) {
  if (found == raised)
    return true;
  // Sizes like nx47 or (n + 1)x2, whose letters stand for numbers.
  static const std::string symbol = R"([?nmkpqrst]\d*|\((?:[^()]|\([^()]*\))*\))",
                           size = "(?:\\d+|" + symbol + ")";
  static const std::regex symbols(symbol),
      sizes("(^| )(" + size + "(?:x" + size + ")+)(?=$|[ ;,:.])"), special(R"([^A-Za-z0-9 ])");
  auto escaped = [](const std::string &text) { return std::regex_replace(text, special, "\\$&"); };
  std::string pattern, rest = found;
  bool isGeneral = false;
  for (std::smatch match; std::regex_search(rest, match, sizes); rest = match.suffix()) {
    isGeneral |= std::regex_search(match.str(2), symbols);
    pattern += escaped(match.prefix()) + match.str(1) +
               std::regex_replace(match.str(2), symbols, "[0-9]+");
  }
  pattern += escaped(rest);
  // A message with known sizes may end with advice.
  if (isGeneral)
    pattern += "(; .*)?";
  return std::regex_match(raised, std::regex(pattern));
}

std::string errorText(const Error &error) {
  const char *kind = error.kind() == ErrorKind::Internal ? "internal error: " : "";
  return fmt::format("{}{} (line {}:{})", kind, error.message(), error.place().line,
                     error.place().column);
}

// The difference between expected and actual output, or an empty text.
std::string outputDifference(const std::vector<oracle::PrintedPiece> &expected,
                             const std::string &actual) {
  size_t at = 0;
  for (const oracle::PrintedPiece &piece : expected) {
    if (piece.certain) {
      if (actual.compare(at, piece.text.size(), piece.text) != 0)
        return fmt::format("printed \"{}\", expected \"{}\"", actual.substr(at, 80), piece.text);
      at += piece.text.size();
      continue;
    }
    // An uncertain piece matches any text with the same number of lines.
    for (int64_t lines = std::count(piece.text.begin(), piece.text.end(), '\n'); lines > 0; --lines)
      at = std::min(actual.find('\n', at), actual.size() - 1) + 1;
  }
  if (at < actual.size())
    return fmt::format("printed \"{}\", expected nothing more", actual.substr(at, 80));
  return "";
}

CellErrors doubled(const CellErrors &errors, int64_t cells) {
  if (errors.isExact())
    return {};
  std::vector<double> twice(cells);
  for (int64_t i = 0; i < cells; ++i)
    twice[i] = errors[i] > 0 ? 2 * errors[i] : errors[i];
  return CellErrors(std::move(twice));
}

int64_t cellsOf(const runtime::Value &value) {
  return value.isArray() ? value.array()->cells() : 1;
}

class ProgramTrial {
public:
  ProgramTrial(Script &script, const std::vector<Configuration> &configurations,
               TrialResources &resources)
      : script_(script), configurations_(configurations), resources_(resources) {}

  Verdict run() {
    for (const Configuration &configuration : configurations_) {
      const ReferenceRun &expected = reference({.singlePrecision = configuration.singlePrecision});
      if (expected.undecided) {
        verdict_.kind = Verdict::Kind::Undecided;
        verdict_.reason = *expected.undecided;
        return verdict_;
      }
      runs_.push_back(script_.runNative(configuration, resources_));
      verdict_.times += runs_.back().times;
      for (const rewrite::RuleRun &rule : runs_.back().rules)
        verdict_.rulesFired[rule.name.str()] += rule.fired;
      if (!compare(configuration, runs_.back()) || !comparePlans())
        return verdict_;
    }
    count();
    return verdict_;
  }

private:
  const ReferenceRun &reference(oracle::BoundedOptions options) {
    auto [found, isNew] = references_.try_emplace(
        {options.singlePrecision, options.sparse, options.failsWhereNeeded});
    if (isNew) {
      found->second = script_.runReference(options);
      verdict_.times.reference += found->second.nanoseconds;
    }
    return found->second;
  }

  bool differs(const char *kind, std::vector<Configuration> configurations, std::string what) {
    verdict_.kind = Verdict::Kind::Differs;
    std::string text = describe(configurations.back());
    verdict_.finding = {kind, std::move(configurations), text + ": " + what};
    return false;
  }

  // The reference's run to the end of the program: if it fails, unused operations that fail are
  // ignored.
  const ReferenceRun &referenceToTheEnd(bool singlePrecision, bool sparse) {
    bool fails = reference({.singlePrecision = singlePrecision}).error.has_value();
    return reference(
        {.singlePrecision = singlePrecision, .sparse = sparse, .failsWhereNeeded = fails});
  }

  // Whether zeros of sparse matrices may have been left out: plans for sizes that are not known, or that keep changing, take
  // small matrices for sparse, too.
  bool mayBeOfSparse(const ReferenceRun &expected, const Configuration &configuration) const {
    return configuration.disabled.contains("specialize-sizes") || script_.hasLoopsOrCalls()
               ? expected.sawSmallSparseMatrix
               : expected.sawSparseMatrix;
  }

  // Compares a run with the reference; true if all agrees.
  bool compare(const Configuration &configuration, const NativeRun &actual) {
    if (actual.error && actual.error->kind() == ErrorKind::Internal)
      return differs("internal", {configuration}, errorText(*actual.error));
    const ReferenceRun &literal = reference({.singlePrecision = configuration.singlePrecision});
    if (literal.error && actual.error) {
      verdict_.failed = true;
      bool same = isSameMistake(actual.error->message(), literal.error->message()) &&
                  (actual.rejected || actual.error->place() == literal.error->place());
      if (same || script_.isModel())
        return true;
    }
    const ReferenceRun &expected = referenceToTheEnd(configuration.singlePrecision, false);
    if (expected.error) {
      // The place may differ, because the native engine may fail at a use of the result. Of several
      // errors, one found before the run takes precedence.
      bool same =
          actual.error && literal.error &&
          (actual.rejected || isSameMistake(actual.error->message(), expected.error->message()));
      return same || differs("error", {configuration},
                             (actual.error ? errorText(*actual.error) : "no error") +
                                 "; the reference: " + errorText(*expected.error));
    }
    if (expected.undecided)
      return true;
    // Whether the zeros of a sparse matrix give zero or NaN may decide about an error.
    if (actual.error && !actual.rejected && mayBeOfSparse(expected, configuration) &&
        referenceToTheEnd(configuration.singlePrecision, true).undecided)
      return true;
    if (actual.error)
      return differs(actual.rejected ? "rejected" : "error", {configuration},
                     errorText(*actual.error) + "; the reference: no error");
    std::string difference = outputDifference(expected.output, actual.output);
    if (!difference.empty() && mayBeOfSparse(expected, configuration)) {
      const ReferenceRun &ofSparse = referenceToTheEnd(configuration.singlePrecision, true);
      if (ofSparse.undecided)
        return true;
      difference = outputDifference(ofSparse.output, actual.output);
    }
    if (!difference.empty())
      return differs("output", {configuration}, difference);
    difference = valueDifference(expected, actual);
    if (!difference.empty() && mayBeOfSparse(expected, configuration))
      difference = valueDifference(referenceToTheEnd(configuration.singlePrecision, true), actual);
    return difference.empty() || differs("value", {configuration}, difference);
  }

  static std::string valueDifference(const ReferenceRun &expected, const NativeRun &actual) {
    for (size_t i = 0; i < expected.results.size(); ++i) {
      const oracle::Bounded &result = expected.results[i];
      if (auto difference = oracle::disagreement(result.value, result.engine, actual.results[i]))
        return fmt::format("result {} from the end: {}", i + 1, oracle::describe(*difference));
    }
    return "";
  }

  // Compares the last run with the first one of the same precision: other plans may change only
  // sums and products, another number of threads nothing.
  bool comparePlans() {
    const Configuration &last = configurations_[runs_.size() - 1];
    for (size_t first = 0; first + 1 < runs_.size(); ++first) {
      if (configurations_[first].singlePrecision != last.singlePrecision)
        continue;
      Configuration sameThreads = configurations_[first];
      sameThreads.threads = last.threads;
      return comparePlans(configurations_[first], runs_[first], last, runs_.back(),
                          sameThreads == last);
    }
    return true;
  }

  bool comparePlans(const Configuration &first, const NativeRun &one, const Configuration &second,
                    const NativeRun &other, bool sameBits) {
    if (one.error || other.error)
      return true;
    const ReferenceRun &dense = referenceToTheEnd(first.singlePrecision, false);
    bool sparse = mayBeOfSparse(dense, first) || mayBeOfSparse(dense, second);
    const ReferenceRun &expected = referenceToTheEnd(first.singlePrecision, sparse && !sameBits);
    if (expected.undecided)
      return true;
    for (size_t i = 0; i < one.results.size(); ++i) {
      const runtime::Value &value = one.results[i];
      CellErrors errors =
          sameBits ? CellErrors() : doubled(expected.results[i].plan, cellsOf(value));
      if (auto difference = oracle::disagreement(value, errors, other.results[i]))
        return differs(sameBits ? "threads" : "plans", {first, second},
                       fmt::format("result {} from the end, compared with {}: {}", i + 1,
                                   describe(first), oracle::describe(*difference)));
    }
    return true;
  }

  void count() {
    for (const oracle::Bounded &result : references_.begin()->second.results) {
      int64_t cells = cellsOf(result.value);
      verdict_.cells += cells;
      for (int64_t i = 0; i < cells; ++i)
        verdict_.comparedCells += result.engine[i] != CellErrors::anything;
    }
  }

  Script &script_;
  const std::vector<Configuration> &configurations_;
  TrialResources &resources_;
  std::map<std::array<bool, 3>, ReferenceRun> references_;
  std::vector<NativeRun> runs_;
  Verdict verdict_;
};

} // namespace

Times &Times::operator+=(const Times &other) {
  reference += other.reference;
  native += other.native;
  specialization += other.specialization;
  kernels += other.kernels;
  kernelsCompiled += other.kernelsCompiled;
  kernelsReused += other.kernelsReused;
  return *this;
}

runtime::Scheduler &TrialResources::scheduler(int threads) {
  std::unique_ptr<runtime::Scheduler> &scheduler = schedulers_[threads];
  if (!scheduler)
    scheduler = std::make_unique<runtime::Scheduler>(threads);
  return *scheduler;
}

Verdict tryProgram(const SourceText &program, const std::vector<Configuration> &configurations,
                   TrialResources &resources) {
  Verdict verdict;
  std::optional<Script> imported;
  try {
    imported.emplace(program);
  } catch (const Error &error) {
    verdict.kind = Verdict::Kind::Differs;
    verdict.finding = {"import", configurations, errorText(error)};
    return verdict;
  }
  if (!imported->isValid()) {
    verdict.kind = Verdict::Kind::Invalid;
    verdict.reason = imported->message();
    return verdict;
  }
  return ProgramTrial(*imported, configurations, resources).run();
}

} // namespace tokamak::fuzz
