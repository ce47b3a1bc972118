#include "tokamak/CommandLine.h"

#include "base/NearestNames.h"
#include "tokamak/CommandDocuments.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <unistd.h>

using namespace tokamak;

namespace {

constexpr const char *description = "Tokamak compiles whole machine-learning programs, written in "
                                    "DML, to fused native code and runs them.";

constexpr const char *footer = R"(Examples:
  tokamak run script.dml -nvargs in=data.csv k=5     $in and $k in the script
  tokamak run script.dml --explain=fusion            why the kernels look the way they do
  tokamak run script.dml --engine=reference          the slow interpreter that defines the language
  tokamak check script.dml                           find errors without running

The script's output goes to stdout, everything else to stderr. Exit status: 0 success; 1 the program failed while it
ran; 2 a mistake found before anything ran; 70 a bug in Tokamak; 130 interrupted (Ctrl-C or SIGTERM).)";

// The script's arguments stand behind -nvargs or -args, up to the next option that begins with two
// dashes.
std::vector<std::string> takeScriptArguments(std::vector<std::string> &words, std::string &form) {
  std::vector<std::string> taken, rest;
  bool inside = false;
  for (std::string &word : words) {
    if (word == "-nvargs" || word == "-args") {
      form = word;
      inside = true;
    } else if (inside && !word.starts_with("--")) {
      taken.push_back(word);
    } else {
      inside = false;
      rest.push_back(word);
    }
  }
  words = std::move(rest);
  return taken;
}

// "8G", "512M", "1000000".
int64_t parseBytes(const std::string &text) {
  size_t used = 0;
  double value = std::stod(text, &used);
  std::string unit = text.substr(used);
  double factor = unit.empty()  ? 1
                  : unit == "K" ? 1 << 10
                  : unit == "M" ? 1 << 20
                  : unit == "G" ? 1 << 30
                                : -1;
  if (factor < 0 || value <= 0)
    throw CLI::ValidationError("--memory", "expected a size such as 8G or 512M, got " + text);
  return static_cast<int64_t>(value * factor);
}

void setExplanations(const std::vector<std::string> &kinds, exec::Explanations &explain) {
  const std::map<std::string, bool exec::Explanations::*> known = {
      {"program", &exec::Explanations::program},    {"image", &exec::Explanations::image},
      {"fusion", &exec::Explanations::fusion},      {"loops", &exec::Explanations::loops},
      {"llvm", &exec::Explanations::llvm},          {"asm", &exec::Explanations::assembly},
      {"recompile", &exec::Explanations::recompile}};
  for (const std::string &kind : kinds) {
    auto found = known.find(kind);
    if (found == known.end())
      throw CLI::ValidationError(
          "--explain",
          fmt::format("'{}' is none of program, image, fusion, loops, llvm, asm, recompile", kind));
    explain.*found->second = true;
  }
}

void setDisabled(const std::vector<std::string> &names, llvm::StringSet<> &disabled) {
  std::vector<std::string> known = exec::disableNames();
  for (const std::string &name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      auto near = nearestCandidates(name, known);
      throw CLI::ValidationError("--disable",
                                 fmt::format("no rule or pass '{}'; {} {}", name,
                                             near.empty() ? "there are" : "did you mean",
                                             fmt::join(near.empty() ? known : near, ", ")));
    }
    disabled.insert(name);
  }
}

void setArguments(const std::vector<std::string> &words, const std::string &form,
                  CommandLine &line) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (form == "-args") {
      line.arguments[std::to_string(i + 1)] = words[i];
      continue;
    }
    size_t equal = words[i].find('=');
    if (equal == std::string::npos || equal == 0)
      throw CLI::ValidationError("-nvargs", fmt::format("expected name=value, got '{}'", words[i]));
    if (words[i].find('=', equal + 1) != std::string::npos)
      throw CLI::ValidationError("-nvargs", fmt::format("the value of '{}' may not contain '='",
                                                        words[i].substr(0, equal)));
    line.arguments[words[i].substr(0, equal)] = words[i].substr(equal + 1);
  }
}

} // namespace

std::optional<int> tokamak::parseCommandLine(int argc, char **argv, CommandLine &line) {
  CLI::App app(description, "tokamak");
  app.footer(footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", "tokamak " TOKAMAK_VERSION);

  std::string engine = "native", selector = "cost", color = "auto", memory;
  std::string precision = "f64";
  std::string stats = "none", shell;
  std::vector<std::string> explain, disable;
  auto addCompileOptions = [&](CLI::App *command) {
    command->add_option("file", line.file, "the DML script, or a .mlir file in the tok dialect")
        ->required();
    command
        ->add_option("--library", line.libraries,
                     "folder with more DML builtins, NAME.dml each; searched first")
        ->allow_extra_args(false);
    command->add_option("--disable", disable, "rules and passes to leave out, by name")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--explain", explain,
                     "program, image, fusion, loops, llvm, asm, recompile; several with commas")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--precision", precision,
                     "of all matrices: f64 (default) or f32; scalars are f64")
        ->check(CLI::IsMember({"f64", "f32"}));
    command->add_option("--color", color, "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    command->add_flag("--quiet", line.quiet, "no warnings");
  };
  CLI::App *run = app.add_subcommand("run", "run a script");
  addCompileOptions(run);
  run->add_option("--fusion", selector,
                  "which operators fuse: none, all, no-redundancy or cost (default)")
      ->check(CLI::IsMember({"none", "all", "no-redundancy", "cost"}));
  run->add_flag("--compare", line.compare,
                "run both engines and name the first operator whose value differs");
  run->add_option("--engine", engine, "native (default) or reference")
      ->check(CLI::IsMember({"native", "reference"}));
  run->add_option("--threads", line.threads, "threads to use; default: all this process may use")
      ->check(CLI::PositiveNumber);
  run->add_option("--memory", memory,
                  "memory for the program's values, such as 8G; default: from the machine");
  run->add_option("--seed", line.seed, "makes draws without a seed repeatable")
      ->check(CLI::NonNegativeNumber);
  run->add_option("--machine-model", line.program.machineModel,
                  "file with the machine's measured speeds")
      ->check(CLI::ExistingFile);
  // For the test that programs run without a compiler: not shown, no public interface yet.
  run->add_option("--emit-aot", line.program.aheadOfTime)->group("");
  run->add_option("--stats", stats,
                  "where the run's time went, operator by operator, and what compiling took")
      ->expected(0, 1)
      ->default_str("text")
      ->check(CLI::IsMember({"text", "json"}));
  run->add_option("--trace", line.trace,
                  "file to write a timeline to, for Perfetto (ui.perfetto.dev) or chrome://tracing")
      ->type_name("FILE");
  run->footer(
      "Behind the file: -nvargs name=value ... gives $name, -args value ... gives $1, $2, ...");
  CLI::App *explainCommand =
      app.add_subcommand("explain", "show what a script is compiled to, without running it");
  addCompileOptions(explainCommand);
  CLI::App *check = app.add_subcommand("check", "find a script's errors without running it");
  addCompileOptions(check);
  CLI::App *doctor =
      app.add_subcommand("doctor", "say what this machine offers and whether all is in order");
  CLI::App *completion = app.add_subcommand(
      "completion", "print a script that completes tokamak's options in a shell");
  completion->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("To try it:  source <(tokamak completion bash)");
  CLI::App *manual = app.add_subcommand("manual", "print the manual page, for man");
  manual->footer("To read it:  tokamak manual | man -l -");
  app.add_subcommand("language-status", "write docs/language-status.md: what of DML can run");

  std::vector<std::string> words(argv + 1, argv + argc);
  std::string form;
  try {
    std::vector<std::string> scriptArguments = takeScriptArguments(words, form);
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    app.parse(words);
    setArguments(scriptArguments, form, line);
    setExplanations(explain, line.program.explain);
    setDisabled(disable, line.program.disabled);
    if (!memory.empty())
      line.memoryBytes = parseBytes(memory);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (manual->parsed()) {
    std::cout << manualPage(app);
    return 0;
  }
  if (completion->parsed()) {
    std::cout << completionScript(app, shell);
    return 0;
  }
  line.command = run->parsed()              ? Command::Run
                 : explainCommand->parsed() ? Command::Explain
                 : check->parsed()          ? Command::Check
                 : doctor->parsed()         ? Command::Doctor
                                            : Command::LanguageStatus;
  line.singlePrecision = precision == "f32";
  line.engine = engine == "reference" ? Engine::Reference : Engine::Native;
  line.program.selector = selector == "none"            ? fusion::Selector::None
                          : selector == "all"           ? fusion::Selector::All
                          : selector == "no-redundancy" ? fusion::Selector::NoRedundancy
                                                        : fusion::Selector::Cost;
  line.statistics = stats == "text"   ? Statistics::Text
                    : stats == "json" ? Statistics::Json
                                      : Statistics::None;
  line.color = color == "always" || (color == "auto" && isatty(STDERR_FILENO));
  line.program.explanations = &std::cerr;
  return std::nullopt;
}
