#include "tokamak/CommandLine.h"

#include "api/ScriptOptions.h"
#include "base/Error.h"
#include "base/NearestNames.h"
#include "cost/ModelFile.h"
#include "tokamak/CommandDocuments.h"
#include "tokamak/WordSuggestions.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <limits>
#include <unistd.h>

using namespace tokamak;

namespace {

constexpr const char *description = "Tokamak compiles whole machine-learning programs, written in "
                                    "DML, to fused native code and runs them.";

constexpr const char *footer = R"(Examples:
  tokamak run script.dml -nvargs in=data.csv k=5     $in and $k in the script
  tokamak run script.dml --call f -nvargs X=in.csv   one function of the script: prints its results
  tokamak run script.dml --explain=fusion            why the kernels look the way they do
  tokamak run script.dml --engine=reference          the slow interpreter that defines the language
  tokamak check script.dml                           find errors without running
  tokamak compile script.dml --entry f -o libf.a     a function for C programs, with a header

The script's output goes to stdout, everything else to stderr. Exit status: 0 success; 1 the program failed while it
ran, whether or not it had printed anything; 2 a mistake found before anything of the program was executed; 70 a bug
in Tokamak, of which a file with what is needed to repeat it is left; 130 interrupted (Ctrl-C, SIGTERM or SIGHUP).)";

// An upper bound on threads: more than any machine has, since each thread takes memory.
constexpr int mostThreads = 4096;

// Extracts the script's arguments, which follow -nvargs or -args up to the next option that begins
// with two dashes.
std::vector<std::string> takeScriptArguments(std::vector<std::string> &words, std::string &form) {
  std::vector<std::string> taken, rest;
  bool inside = false;
  for (std::string &word : words) {
    if (word == "-nvargs" || word == "-args") {
      if (!form.empty() && form != word)
        throw CLI::ValidationError(
            word, fmt::format("can't be combined with {}: arguments have names, as in -nvargs "
                              "name=value, or numbers, as in -args value",
                              form));
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

// Parses "8G", "512M" or "1000000"; nothing for other texts and for sizes that no machine has.
std::optional<int64_t> parseBytes(const std::string &text) {
  double value = 0;
  const char *textEnd = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), textEnd, value);
  std::string_view unit(end, textEnd);
  constexpr std::string_view units = "KMGT";
  bool isUnit = unit.empty() || (unit.size() == 1 && units.find(unit[0]) != units.npos);
  if (error != std::errc() || !isUnit)
    return std::nullopt;
  double bytes =
      std::ldexp(value, unit.empty() ? 0 : static_cast<int>(units.find(unit[0]) + 1) * 10);
  constexpr double mostBytes = 0x1p62;
  return bytes >= 1 && bytes <= mostBytes ? std::optional(static_cast<int64_t>(bytes))
                                          : std::nullopt;
}

// A validator that accepts values for which `complaint` returns an empty text.
CLI::Validator checked(const char *kind,
                       std::function<std::string(const std::string &)> complaint) {
  return {[complaint = std::move(complaint)](std::string &text) { return complaint(text); }, kind};
}

CLI::Validator wholeNumber(int64_t lowest, int64_t highest) {
  return checked("", [=](const std::string &text) -> std::string {
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool isNumber = error == std::errc() && end == text.data() + text.size();
    if (isNumber && number >= lowest && number <= highest)
      return "";
    return fmt::format("expected a whole number from {} to {}, got '{}'", lowest, highest, text);
  });
}

std::string complaintAboutMemory(const std::string &text) {
  return parseBytes(text)
             ? ""
             : fmt::format("expected a size such as 8G, 512M or 1000000, got '{}'", text);
}

std::string complaintAboutModel(const std::string &path) {
  try {
    cost::readModelFile(path);
    return "";
  } catch (const Error &error) {
    return error.message();
  }
}

// Checks that the folder can be read.
std::string complaintAboutFolder(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error))
    return fmt::format("'{}' is a file, expected a folder in which each file NAME.dml has a "
                       "function m_NAME, that NAME calls",
                       path);
  std::filesystem::directory_iterator entries(path, error);
  return error ? fmt::format("can't read the folder '{}': {}", path, error.message()) : "";
}

std::string complaintAboutFile(const std::string &path) {
  return std::ifstream(path) ? "" : fmt::format("can't read '{}'", path);
}

std::string complaintAboutFunction(const std::string &name) {
  return name.empty() ? "expected the name of a function" : "";
}

// Errors are those of an option.
template <typename Action> void orComplain(const char *option, const Action &action) {
  try {
    action();
  } catch (const Error &error) {
    throw CLI::ValidationError(option, error.message());
  }
}

void setExplanations(const std::vector<std::string> &kinds, CommandLine &line) {
  orComplain("--explain", [&] { api::addExplanations(kinds, line.program.explain); });
  for (const std::string &kind : kinds) {
    if (line.command == Command::Compile)
      continue;
    if (line.command != Command::Run && kind != "program" && kind != "image")
      throw CLI::ValidationError(
          "--explain", fmt::format("kernels are planned when the program runs and its data are "
                                   "known: tokamak run {} --explain={}",
                                   line.file, kind));
    if (line.engine == Engine::Reference)
      throw CLI::ValidationError(
          "--explain", "the reference engine plans nothing that could be explained; leave out one "
                       "of --engine=reference and --explain");
  }
  if (line.command == Command::Explain && kinds.empty() && line.page.empty())
    line.program.explain.program = line.program.explain.image = true;
}

std::vector<std::string> selectorNames() {
  std::vector<std::string> names;
  for (fusion::Selector selector : fusion::allSelectors)
    names.push_back(fusion::name(selector).str());
  return names;
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
  std::string precision = "f64", tier = "built-in-first";
  std::string stats = "none", shell;
  line.target = "native";
  std::vector<std::string> explain, disable;
  auto addCompileOptions = [&](CLI::App *command, const char *explainable) {
    command
        ->add_option("file", line.file,
                     "the DML script, an ONNX model (.onnx), or a .mlir file in the tok dialect")
        ->required();
    command
        ->add_option("--call", line.call,
                     "a function of the script to call instead of running its statements; its "
                     "arguments stand behind -nvargs or -args")
        ->type_name("FUNCTION")
        ->check(checked("", complaintAboutFunction));
    command
        ->add_option("--library", line.libraries,
                     "folder with more DML builtins, each a function m_NAME in NAME.dml; "
                     "searched first")
        ->check(checked("FOLDER", complaintAboutFolder))
        ->allow_extra_args(false);
    command->add_option("--disable", disable, "rules and passes to leave out, by name")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--explain", explain, fmt::format("{}; several with commas", explainable))
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
  std::string random = "own";
  bool strictZeros = false;
  // Options of commands that run the program.
  auto addRunOptions = [&](CLI::App *command) {
    return std::vector<CLI::Option *>{
        command
            ->add_option("--fusion", selector,
                         "which operators fuse: none, patterns (what was once fused by hand), all, "
                         "no-redundancy or cost (default)")
            ->check(CLI::IsMember(selectorNames())),
        command->add_flag(
            "--strict-zeros", strictZeros,
            "zeros of sparse matrices times NaN or infinity are NaN, as in dense ones: slower"),
        command
            ->add_option("--threads", line.threads,
                         "threads to use; default: all this process may use")
            ->check(wholeNumber(1, mostThreads)),
        command
            ->add_option("--memory", memory,
                         "memory for the program's values, such as 8G; default: from the machine")
            ->check(checked("SIZE", complaintAboutMemory)),
        command->add_option("--seed", line.seed, "makes draws without a seed repeatable")
            ->check(wholeNumber(0, std::numeric_limits<int64_t>::max())),
        command
            ->add_option("--random", random,
                         "own (default), or systemds: rand and sample draw what SystemDS draws for "
                         "the same seed")
            ->check(CLI::IsMember({"own", "systemds"})),
        command
            ->add_option("--machine-model", line.program.machineModel,
                         "file with the machine's measured speeds")
            ->check(checked("FILE", complaintAboutModel)),
        command
            ->add_option("--schedule", line.program.scheduleFile,
                         "file with schedules of some kernels, in the form of --explain=schedule")
            ->check(checked("FILE", complaintAboutFile))};
  };
  const std::string argumentsFooter =
      "Behind the file: -nvargs name=value ... gives $name, -args value ... gives $1, $2, ...";
  CLI::App *run = app.add_subcommand("run", "run a script");
  addCompileOptions(run, "program, image, fusion, schedule, loops, llvm, asm, recompile");
  addRunOptions(run);
  run->add_flag("--compare", line.compare,
                "run both engines and name the first operator whose value differs");
  run->add_option("--engine", engine, "native (default) or reference")
      ->check(CLI::IsMember({"native", "reference"}));
  run->add_option(
         "--tier", tier,
         "built-in-first (default): on little data, blocks begin with kernels that are part "
         "of tokamak, until these have run for as long as compiling takes; compile-first: "
         "with kernels made for them")
      ->envname("TOKAMAK_TIER")
      ->check(CLI::IsMember({"built-in-first", "compile-first"}));
  run->add_option("--cache", line.program.cacheFolder,
                  "folder for what was compiled, which later runs use, or off; default: "
                  "tokamak/compiled in the user's cache folder")
      ->envname("TOKAMAK_CACHE")
      ->type_name("FOLDER");
  // Hidden: for tests, whose loops are short.
  run->add_option("--compile-loops-after", line.program.iterationsBeforeCompiling)->group("");
  run->add_option("--stats", stats,
                  "where the run's time went, operator by operator, and what compiling took")
      ->expected(0, 1)
      ->default_str("text")
      ->check(CLI::IsMember({"text", "json"}));
  run->add_option("--input", line.inputs,
                  "value of a model's input: NAME=FILE.npy, NAME=FILE.pb, NAME=zeros or "
                  "NAME=random:SEED")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  run->add_option("--shape", line.shapes,
                  "sizes of a model's input that zeros or random make: NAME=1x3x224x224, or "
                  "NAME=@FILE with a line of sizes for each run")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
  run->add_option("--output", line.outputs,
                  "file for a result of a model, instead of a line about it: NAME=FILE.npy")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  run->add_option("--repeat", line.repetitions, "how often a model runs; the times are shown")
      ->check(wholeNumber(1, 1'000'000));
  run->add_option("--trace", line.trace,
                  "file to write a timeline to, for Perfetto (ui.perfetto.dev) or chrome://tracing")
      ->type_name("FILE");
  run->footer(argumentsFooter);
  CLI::App *explainCommand = app.add_subcommand(
      "explain", "show what a script is compiled to, without running it, or with --html as a page "
                 "about its kernels");
  addCompileOptions(explainCommand, "program, image (default: both)");
  CLI::Option *page =
      explainCommand
          ->add_option("--html", line.page,
                       "run the script, whose kernels are planned when their data are known, and "
                       "write a page to this file: what was fused and why, predicted and measured "
                       "times, loops and assembly")
          ->type_name("FILE")
          ->excludes("--explain");
  for (CLI::Option *option : addRunOptions(explainCommand))
    option->needs(page);
  explainCommand->footer(argumentsFooter);
  CLI::App *check = app.add_subcommand("check", "find a script's errors without running it");
  addCompileOptions(check, "program, image");
  CLI::App *compile = app.add_subcommand(
      "compile", "compile functions of a script, or an ONNX model, ahead of time, for programs in "
                 "C or C++");
  compile
      ->add_option("file", line.file,
                   "the DML script, an ONNX model (.onnx), or a .mlir file in the tok dialect")
      ->required();
  compile
      ->add_option("--entry", line.entries,
                   "a function to compile, of the script or of the library; several with commas. "
                   "Without it, the script's statements become a function main")
      ->type_name("FUNCTION")
      ->delimiter(',')
      ->allow_extra_args(false);
  compile
      ->add_option(
          "--shape", line.shapes,
          "sizes that an argument is going to have: X=?x100, y=1..64x1 or, with a name for a "
          "size that several have, X=Nx100; k=5 of a number. All others work, but more slowly")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
  compile
      ->add_option("--fix", line.fixed,
                   "value of a parameter that the C function then doesn't have, NAME=VALUE: what "
                   "it decides is "
                   "decided at compile time")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  compile
      ->add_option("--precision", precision,
                   "of all matrices of a script: f64 (default) or f32; scalars are f64")
      ->check(CLI::IsMember({"f64", "f32"}));
  compile
      ->add_option("--target", line.target,
                   "what the code is for: native (default), x86-64-v3 (AVX2), x86-64-v4 (AVX-512) "
                   "aarch64 or aarch64-v8.2")
      ->check(CLI::IsMember({"native", "x86-64-v3", "x86-64-v4", "aarch64", "aarch64-v8.2"}));
  compile
      ->add_option("-o,--output", line.output,
                   "libNAME.a, libNAME.so or a folder NAME/; the header is NAME.h, functions begin "
                   "with NAME_")
      ->type_name("FILE")
      ->required();
  compile
      ->add_option("--library", line.libraries,
                   "folder with more DML builtins, each a function m_NAME in NAME.dml; "
                   "searched first")
      ->check(checked("FOLDER", complaintAboutFolder))
      ->allow_extra_args(false);
  compile
      ->add_option("--fusion", selector,
                   "which operators fuse: none, patterns, all, no-redundancy or cost (default)")
      ->check(CLI::IsMember(selectorNames()));
  compile->add_option("--disable", disable, "rules and passes to leave out, by name")
      ->delimiter(',')
      ->allow_extra_args(false);
  compile
      ->add_option("--machine-model", line.program.machineModel,
                   "file with the measured speeds of the machine that the code is for")
      ->check(checked("FILE", complaintAboutModel));
  compile->add_option("--explain", explain, "image: the program and the plans of its blocks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"image"}));
  compile->add_option("--color", color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  compile->add_flag("--quiet", line.quiet, "no warnings, and no report of what was written");
  compile->footer(argumentsFooter + R"(

The functions of lib/ and of scripts take and give matrices, numbers, booleans and strings; models, as a
function main, tensors. Examples:
  tokamak compile scoring.dml --entry score --shape X=?x100 -o libscoring.a
  tokamak compile digits.onnx --shape image=?x1x28x28 -o libdigits.a
  cc program.c libscoring.a libtokamak-runtime.a -lstdc++ -lm -lpthread -ldl
docs/ahead-of-time.md tells more.)");
  CLI::App *doctor =
      app.add_subcommand("doctor", "say what this machine offers and whether all is in order");
  doctor->add_flag("--calibrate", line.calibrate,
                   "measure the machine's speeds anew, which decide what is fused");
  doctor->add_flag("--json", line.json, "the report as JSON");
  CLI::App *completion = app.add_subcommand(
      "completion", "print a script that completes tokamak's options in a shell");
  completion->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("To try it:  source <(tokamak completion bash)");
  CLI::App *manual = app.add_subcommand("manual", "print the manual page, for man");
  manual->footer("To read it:  tokamak manual | man -l -");
  CLI::App *languageStatus =
      app.add_subcommand("language-status", "write docs/language-status.md: what of DML can run");
  app.add_subcommand("onnx-operators", "write docs/onnx-operators.md: what models may use");

  std::vector<std::string> words(argv + 1, argv + argc);
  std::string form;
  try {
    std::vector<std::string> scriptArguments = takeScriptArguments(words, form);
    if (auto complaint = complaintAbout(app, words))
      throw CLI::ParseError(*complaint, CLI::ExitCodes::ExtrasError);
    std::reverse(words.begin(), words.end()); // CLI11 expects them reversed
    app.parse(words);
    setArguments(scriptArguments, form, line);
    line.program.cacheFolder = api::cacheFolder(line.program.cacheFolder);
    line.command = run->parsed()              ? Command::Run
                   : explainCommand->parsed() ? Command::Explain
                   : check->parsed()          ? Command::Check
                   : compile->parsed()        ? Command::Compile
                   : doctor->parsed()         ? Command::Doctor
                   : languageStatus->parsed() ? Command::LanguageStatus
                                              : Command::OnnxOperators;
    line.randomNumbers =
        random == "systemds" ? runtime::RandomNumbers::Systemds : runtime::RandomNumbers::Own;
    line.program.zeroRule = strictZeros ? ZeroRule::Strict : ZeroRule::Sparse;
    line.engine = engine == "reference" ? Engine::Reference : Engine::Native;
    setExplanations(explain, line);
    orComplain("--disable", [&] { api::addDisabled(disable, line.program.disabled); });
    line.memoryBytes = parseBytes(memory).value_or(0);
  } catch (const CLI::ExtrasError &error) {
    bool isArgument = std::any_of(words.begin(), words.end(), [](const std::string &word) {
      return !word.starts_with('-') && word.find('=') != word.npos;
    });
    std::string hint = isArgument ? "; the script's own arguments stand behind -nvargs" : "";
    app.exit(CLI::ParseError(error.what() + hint, CLI::ExitCodes::ExtrasError));
    return 2;
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
  line.singlePrecision = precision == "f32";
  line.program.selector = *fusion::findSelector(selector); // --fusion takes no other names
  bool beginsBuiltIn = tier == "built-in-first" && !line.compare;
  line.program.firstTier = beginsBuiltIn ? pipeline::Tier::BuiltIn : pipeline::Tier::Compiled;
  line.statistics = stats == "text"   ? Statistics::Text
                    : stats == "json" ? Statistics::Json
                                      : Statistics::None;
  line.color = color == "always" || (color == "auto" && isatty(STDERR_FILENO));
  line.program.explanations = &std::cerr;
  return std::nullopt;
}
