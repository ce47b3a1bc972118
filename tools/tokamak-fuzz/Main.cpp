// tokamak-fuzz: compares random programs on the reference and on the native engine.
//
//   tokamak-fuzz --programs 1000 --seed 1        1000 programs, 6 configurations each
//   tokamak-fuzz --minutes 10 --save DIR         differing programs go to DIR, shrunk
//   tokamak-fuzz --every-rule                    fails unless each rewrite rule fires at least once
//   tokamak-fuzz --models --every-rule           the same for random models and the rules for them
//   tokamak-fuzz --models --programs 1000        random ONNX models in place of programs
//   tokamak-fuzz --mutated-models DIR            models of conformance cases, changed at random
//   tokamak-fuzz --show 42                       the program of seed 42
//   tokamak-fuzz FILE.dml FILE.mlir ...          these programs, under every selector and under
//                                                the configurations that their comments name
#include "base/Error.h"
#include "cost/ModelFile.h"
#include "exec/LateBinding.h"
#include "exec/Program.h"
#include "tokamak-fuzz/Engines.h"
#include "tokamak-fuzz/ModelGenerator.h"
#include "tokamak-fuzz/ModelMutator.h"
#include "tokamak-fuzz/ProgramGenerator.h"
#include "tokamak-fuzz/Shrinker.h"
#include "tokamak-fuzz/Workers.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

using namespace tokamak;
using namespace tokamak::fuzz;

namespace {

// A saved program names the configurations that reproduce its finding in comment lines of this
// form.
constexpr const char *configurationMark = "found with: ";

constexpr int64_t bytesPerModel = int64_t{4} << 30;

// Models without fusion, with all there is, and as cost decides.
std::vector<Configuration> modelConfigurations() {
  std::vector<Configuration> all;
  for (auto selector : {fusion::Selector::None, fusion::Selector::All, fusion::Selector::Cost})
    for (int threads : {1, 2})
      all.push_back({selector, threads, false, {}});
  // Otherwise sizes of small models are part of their plans.
  for (auto selector : {fusion::Selector::All, fusion::Selector::Cost})
    all.push_back({selector, 1, false, {std::string(exec::specializeSizesName)}});
  all.push_back({fusion::Selector::Cost, 1, false, {}, true});
  return all;
}

std::optional<std::vector<double>> cellsOf(const std::string &expression) {
  Script script({"x = " + expression + "\nprint(x)\n", Language::Dml});
  if (!script.isValid())
    return std::nullopt;
  ReferenceRun run = script.runReference({});
  if (run.results.empty())
    return std::nullopt;
  oracle::CellView view(run.results.front().value);
  std::vector<double> cells(view.cells());
  for (int64_t i = 0; i < view.cells(); ++i)
    cells[i] = view[i];
  return cells;
}

std::vector<Configuration> configurationsOf(uint64_t seed, int count) {
  ConfigurationSampler sampler(exec::transformationNames(exec::Required::No));
  Random random(seed ^ 0x5eed);
  return sampler.sample(random, count);
}

// For what no program of the other generators says.
constexpr std::string_view rulesOfModels[] = {"slices-of-matrices", "views-behind-cells",
                                              "views-before-cells"};

struct Options {
  Campaign campaign;
  double minutes = 0;
  std::string save;
  bool shrinks = true;
  bool everyRule = false;
  int64_t show = -1;
  bool models = false;
  std::vector<std::string> mutated; // folders of cases
  std::vector<std::string> scripts;
  bool ofModels() const { return models || !mutated.empty(); }
};

std::string readText(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw Error("can't read '" + path + "'");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What was found, as comment lines.
std::string commentsOn(uint64_t seed, const Finding &finding, const std::string &mark) {
  std::string text = fmt::format("{}seed {}, {}\n", mark, seed, finding.kind);
  std::istringstream what(finding.what);
  for (std::string line; std::getline(what, line);)
    text += mark + line + '\n';
  for (const Configuration &configuration : finding.configurations)
    text += mark + configurationMark + describe(configuration) + '\n';
  return text;
}

// What a finding is kept as. Files of scripts begin with what was found; models are bytes.
std::string kept(const SourceText &program, const std::string &comments) {
  return program.language == Language::Onnx ? program.text : comments + program.text;
}

SourceText shrunkModel(const SourceText &model, const Finding &finding, const Campaign &campaign) {
  return {shrinkModel(model.text,
                      [&](const std::string &text) {
                        auto found =
                            tryAlone({text, Language::Onnx}, finding.configurations, campaign);
                        return found && found->kind == finding.kind;
                      }),
          Language::Onnx};
}

SourceText shrunk(uint64_t seed, Finding &finding, const Options &options) {
  if (finding.configurations.empty())
    finding.configurations = options.campaign.allOf.empty()
                                 ? configurationsOf(seed, options.campaign.configurations)
                                 : options.campaign.allOf;
  if (options.ofModels()) {
    SourceText model = options.campaign.programOf(seed);
    return options.shrinks ? shrunkModel(model, finding, options.campaign) : model;
  }
  auto [program, language] = generateProgram(seed);
  auto find = [&, language = language](const std::string &text) {
    return tryAlone({text, language}, finding.configurations, options.campaign);
  };
  auto fails = [&](const std::string &text) {
    std::optional<Finding> found = find(text);
    return found && found->kind == finding.kind;
  };
  if (options.shrinks && fails(render(program))) {
    ShrinkLimits limits;
    limits.cellsOf = cellsOf;
    program = shrink(program, fails, limits);
    if (std::optional<Finding> last = find(render(program)))
      finding.what = last->what;
  }
  return {render(program), language};
}

// Random programs, random models, or models of conformance cases that were changed.
void chooseSource(Options &options) {
  Campaign &campaign = options.campaign;
  campaign.programOf = [](uint64_t seed) { return generateProgram(seed).source(); };
  if (!options.ofModels())
    return;
  campaign.allOf = modelConfigurations();
  campaign.bytesPerWorker = bytesPerModel;
  campaign.programOf = [](uint64_t seed) { return generateModel(seed); };
  if (!options.mutated.empty())
    campaign.programOf = [mutator = std::make_shared<const ModelMutator>(options.mutated)](
                             uint64_t seed) { return mutator->mutated(seed); };
}

int runPrograms(Options &options) {
  auto start = std::chrono::steady_clock::now();
  std::vector<std::pair<uint64_t, Finding>> findings;
  std::function<void(uint64_t, const Finding &)> found = [&](uint64_t seed,
                                                             const Finding &finding) {
    std::cerr << fmt::format("seed {} [{}] {}\n", seed, finding.kind, finding.what);
    findings.emplace_back(seed, finding);
  };
  options.campaign.seconds = options.minutes * 60;
  CampaignResult result = runCampaign(options.campaign, found);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto &[seed, finding] : findings) {
    SourceText program = shrunk(seed, finding, options);
    std::string comments = commentsOn(seed, finding, commentMarkOf(program.language));
    std::cout << fmt::format("FAILED seed {}\n{}{}", seed, comments,
                             options.ofModels() ? "" : program.text);
    if (options.save.empty())
      continue;
    std::filesystem::create_directories(options.save);
    std::ofstream(
        fmt::format("{}/{}-{}{}", options.save, finding.kind, seed, extensionOf(program.language)))
        << kept(program, comments);
  }
  double compared = result.cells > 0 ? 100.0 * static_cast<double>(result.comparedCells) /
                                           static_cast<double>(result.cells)
                                     : 0;
  std::cerr << fmt::format(
      "{} programs, {} runs in {:.0f} s ({:.1f} programs/s); {} undecided, {} not valid, {} end "
      "with an error; {:.1f} % of {} cells compared\n",
      result.programs, result.runs, seconds, static_cast<double>(result.programs) / seconds,
      result.undecided, result.invalid, result.failed, compared, result.cells);
  auto inSeconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; };
  std::cerr << fmt::format(
      "time in the reference {:.1f} s, in the native engine {:.1f} s, of that "
      "specialising blocks {:.1f} s, of that {} kernels {:.1f} s ({} reused)\n",
      inSeconds(result.times.reference), inSeconds(result.times.native),
      inSeconds(result.times.specialization), result.times.kernelsCompiled,
      inSeconds(result.times.kernels), result.times.kernelsReused);
  std::vector<std::string> fired, silent;
  for (const auto &[rule, times] : result.rules) {
    fired.push_back(fmt::format("{} {}", rule, times));
    bool isOfModels = std::ranges::find(rulesOfModels, rule) != std::end(rulesOfModels);
    if (times == 0 && isOfModels == options.ofModels())
      silent.push_back(rule);
  }
  std::cerr << fmt::format("rewrite rules and how often they fired: {}\n", fmt::join(fired, ", "));
  if (options.everyRule && !silent.empty())
    std::cout << fmt::format("FAILED rules that fired in no program: {}\n",
                             fmt::join(silent, ", "));
  std::cout << fmt::format("{} passed, {} failed\n", result.programs - result.differing,
                           result.differing);
  return result.differing > 0 || (options.everyRule && !silent.empty()) ? 1 : 0;
}

// Tests programs from files, under every selector and under the configurations that they name.
int runScripts(const Options &options) {
  int failed = 0;
  for (const std::string &path : options.scripts) {
    std::string text = readText(path);
    std::vector<Configuration> configurations =
        languageOf(path) == Language::Onnx ? modelConfigurations() : allSelectors();
    std::istringstream lines(text);
    std::string mark = std::string(commentMarkOf(languageOf(path))) + configurationMark;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(mark))
        configurations.push_back(parseConfiguration(line.substr(mark.size())));
    auto finding = tryAlone({text, languageOf(path)}, configurations, options.campaign);
    if (finding) {
      ++failed;
      std::cout << fmt::format("FAILED {} [{}] {}\n", path, finding->kind, finding->what);
    }
  }
  std::cout << fmt::format("{} passed, {} failed\n", options.scripts.size() - failed, failed);
  return failed > 0 ? 1 : 0;
}

// Writes a fixed machine model, so that plans are the same on every machine.
std::string writeMachineModel() {
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tokamak-fuzz-{}.json", getpid()))
          .string();
  cost::writeModelFile({}, path);
  return path;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs random programs on the reference and on the native engine in several "
               "configurations and reports every difference, shrunk.",
               "tokamak-fuzz");
  app.add_option("files", options.scripts, "programs to try in place of random ones");
  app.add_option("--programs", options.campaign.programs, "how many; default: until time is over");
  app.add_option("--minutes", options.minutes, "how long; default: until the programs are done");
  app.add_option("--seed", options.campaign.firstSeed, "of the first program, default 1");
  app.add_option("--jobs", options.campaign.jobs, "processes side by side, default 1");
  app.add_option("--configurations", options.campaign.configurations,
                 "for each program, default 6");
  app.add_option("--findings", options.campaign.mostFindings, "end after so many, default 20");
  app.add_option("--save", options.save, "folder for what differs, shrunk");
  app.add_flag("!--no-shrink", options.shrinks, "report programs as they are");
  app.add_flag("--every-rule", options.everyRule,
               "fail where a rewrite rule fired in no program, or one for models in none of them");
  app.add_option("--show", options.show, "print the program of this seed and end");
  app.add_flag("--models", options.models, "random ONNX models in place of programs");
  app.add_option("--mutated-models", options.mutated,
                 "models of ONNX's conformance cases in these folders, changed at random");
  CLI11_PARSE(app, argc, argv);
  try {
    chooseSource(options);
    if (options.show >= 0) {
      std::cout << options.campaign.programOf(options.show).text;
      return 0;
    }
    if (options.campaign.programs == 0 && options.minutes == 0)
      options.campaign.programs = 100;
    options.campaign.machineModel = writeMachineModel();
    int status = options.scripts.empty() ? runPrograms(options) : runScripts(options);
    std::filesystem::remove(options.campaign.machineModel);
    return status;
  } catch (const std::exception &error) {
    std::cerr << "tokamak-fuzz: " << error.what() << '\n';
    return 2;
  }
}
