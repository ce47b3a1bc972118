#include "tokamak/WordSuggestions.h"

#include "base/NearestNames.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

namespace tokamak {
namespace {

// The text "; did you mean 'a' or 'b'?", or an empty one.
std::string suggestion(const std::string &word, const std::vector<std::string> &known) {
  std::vector<std::string> near = nearestCandidates(word, known);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", fmt::join(near, "' or '"));
}

std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

bool isOption(const std::string &word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && word[1] != '.' &&
         (word[1] < '0' || word[1] > '9'); // a negative number is a value
}

std::optional<std::string> complaintAboutCommand(const std::string &word,
                                                 const std::vector<std::string> &commands) {
  if (std::find(commands.begin(), commands.end(), word) != commands.end())
    return std::nullopt;
  std::error_code ignored;
  bool isScript = word.ends_with(".dml") || word.ends_with(".mlir") ||
                  std::filesystem::is_regular_file(word, ignored);
  if (isScript)
    return fmt::format("expected a command before the script; did you mean 'tokamak run {}'?",
                       word);
  std::string near = suggestion(word, commands);
  return fmt::format("unknown command '{}'{}", word,
                     near.empty() ? fmt::format("; there are {}", fmt::join(commands, ", "))
                                  : near);
}

} // namespace

std::optional<std::string> complaintAbout(const CLI::App &app,
                                          const std::vector<std::string> &words) {
  std::vector<std::string> commands = commandNames(app);
  if (words.empty())
    return fmt::format("expected a command: {}", fmt::join(commands, ", "));
  const CLI::App *command = &app;
  std::vector<std::string> options = optionNames(app);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (isOption(word)) {
      std::string name = word.substr(0, word.find('='));
      if (std::find(options.begin(), options.end(), name) != options.end())
        continue;
      if (command->get_name() == "run")
        options.insert(options.end(), {"-nvargs", "-args"});
      return fmt::format("unknown option '{}'{}", name, suggestion(name, options));
    }
    if (command != &app)
      continue;
    if (auto complaint = complaintAboutCommand(word, commands))
      return complaint;
    command = app.get_subcommand(word);
    options = optionNames(*command);
  }
  return std::nullopt;
}

} // namespace tokamak
