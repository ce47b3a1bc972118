#include "tokamak/CommandDocuments.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <regex>
#include <vector>

namespace tokamak {
namespace {

std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  return app.get_subcommands([](const CLI::App *) { return true; });
}

std::vector<const CLI::Option *> optionsOf(const CLI::App &app) {
  return app.get_options([](const CLI::Option *option) { return !option->get_positional(); });
}

std::vector<const CLI::Option *> positionalsOf(const CLI::App &app) {
  return app.get_options([](const CLI::Option *option) { return option->get_positional(); });
}

// The words that an option or positional accepts, if it accepts only certain words: CLI11 gives
// them as the type name "{a,b,c}".
std::vector<std::string> choicesOf(const CLI::Option &option) {
  std::string type = option.get_type_name();
  std::smatch found;
  static const std::regex set(R"(\{([^}]*)\})");
  std::vector<std::string> words;
  if (std::regex_search(type, found, set)) {
    std::istringstream list(found[1].str());
    for (std::string word; std::getline(list, word, ',');)
      words.push_back(word);
  }
  return words;
}

bool takesFile(const CLI::Option &option) {
  return option.get_description().find("file") != std::string::npos ||
         option.get_description().find("folder") != std::string::npos ||
         option.get_description().find("script") != std::string::npos;
}

//===- manual --------------------------------------------------------------------------------===//

// Escapes text for roff.
std::string plain(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  // A dot or quote at the beginning of a line would be a roff request.
  static const std::regex request(R"((^|\n)([.']))");
  return std::regex_replace(result, request, "$1\\&$2");
}

void addOptions(std::string &page, const CLI::App &app) {
  for (const CLI::Option *option : positionalsOf(app))
    page += fmt::format(".TP\n\\fI{}\\fR\n{}\n", plain(option->get_name()),
                        plain(option->get_description()));
  for (const CLI::Option *option : optionsOf(app)) {
    std::string value;
    if (option->get_items_expected_max() > 0) {
      std::vector<std::string> choices = choicesOf(*option);
      value = choices.empty() ? "VALUE" : fmt::format("{}", fmt::join(choices, "|"));
      value = option->get_items_expected_min() == 0 ? fmt::format("[={}]", value)
                                                    : fmt::format("={}", value);
    }
    page += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", plain(option->get_name(false, true)),
                        plain(value), plain(option->get_description()));
  }
}

} // namespace

std::string manualPage(const CLI::App &app) {
  std::string page = fmt::format(".TH TOKAMAK 1 \"\" \"tokamak {}\" \"User commands\"\n"
                                 ".SH NAME\ntokamak \\- run machine\\-learning programs as fused "
                                 "native code\n.SH SYNOPSIS\n.nf\n",
                                 TOKAMAK_VERSION);
  for (const CLI::App *command : commandsOf(app)) {
    std::string operands;
    for (const CLI::Option *option : positionalsOf(*command))
      operands += " \\fI" + plain(option->get_name()) + "\\fR";
    page += fmt::format("\\fBtokamak {}\\fR{}{}\n", plain(command->get_name()), operands,
                        optionsOf(*command).size() > 1 ? " [\\fIoptions\\fR]" : "");
  }
  page += ".fi\n.SH DESCRIPTION\n" + plain(app.get_description()) + "\n.SH COMMANDS\n";
  for (const CLI::App *command : commandsOf(app)) {
    page +=
        fmt::format(".SS {}\n{}\n", plain(command->get_name()), plain(command->get_description()));
    addOptions(page, *command);
    if (!command->get_footer().empty())
      page += ".PP\n" + plain(command->get_footer()) + "\n";
  }
  return page + ".SH NOTES\n.nf\n" + plain(app.get_footer()) + "\n.fi\n";
}

//===- completion ----------------------------------------------------------------------------===//

namespace {

std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : commandsOf(app))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : optionsOf(command))
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

// The words that the command's first operand accepts, other than files.
std::vector<std::string> operandChoices(const CLI::App &command) {
  std::vector<const CLI::Option *> operands = positionalsOf(command);
  return operands.empty() ? std::vector<std::string>() : choicesOf(*operands.front());
}

// The options that accept only certain words, with these words: all commands agree on them.
std::vector<std::pair<std::string, std::vector<std::string>>> optionChoices(const CLI::App &app) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const CLI::App *command : commandsOf(app))
    for (const CLI::Option *option : optionsOf(*command)) {
      std::vector<std::string> choices = choicesOf(*option);
      if (choices.empty() || option->get_lnames().empty())
        continue;
      std::string name = "--" + option->get_lnames().front();
      bool known = std::any_of(found.begin(), found.end(),
                               [&](const auto &entry) { return entry.first == name; });
      if (!known)
        found.emplace_back(name, std::move(choices));
    }
  return found;
}

std::string bashScript(const CLI::App &app) {
  std::string text =
      "_tokamak() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  text += fmt::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n"
                      "    return\n  fi\n",
                      fmt::join(commandNames(app), " "));
  // bash splits '=' off as a separate word.
  text += "  if [ \"$before\" = \"=\" ]; then before=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
          "  if [ \"$word\" = \"=\" ]; then word=\"\"; fi\n"
          "  case \"$before\" in\n";
  for (const auto &[name, choices] : optionChoices(app))
    text += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", name,
                        fmt::join(choices, " "));
  text += "  esac\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const CLI::App *command : commandsOf(app)) {
    std::vector<std::string> choices = operandChoices(*command);
    bool files = !positionalsOf(*command).empty() && choices.empty();
    text +=
        fmt::format("    {})\n      if [[ \"$word\" == -* ]]; then COMPREPLY=($(compgen -W \"{}\" "
                    "-- \"$word\"))\n"
                    "      else COMPREPLY=($(compgen {} -- \"$word\")); fi ;;\n",
                    command->get_name(), fmt::join(optionNames(*command), " "),
                    files ? std::string("-f") : fmt::format("-W \"{}\"", fmt::join(choices, " ")));
  }
  return text + "  esac\n}\ncomplete -o filenames -F _tokamak tokamak\n";
}

// Quotes text with single quotes.
std::string shellWord(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string zshScript(const CLI::App &app) {
  auto noBrackets = [](std::string text) {
    for (char &c : text)
      c = c == '[' ? '(' : c == ']' ? ')' : c == ':' ? ',' : c;
    return text;
  };
  std::string text = "#compdef tokamak\n_tokamak() {\n  local -a commands\n  commands=(\n";
  for (const CLI::App *command : commandsOf(app))
    text += "    " + shellWord(command->get_name() + ":" + command->get_description()) + "\n";
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
          "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CLI::App *command : commandsOf(app)) {
    text += fmt::format("    {})\n      _arguments", command->get_name());
    for (const CLI::Option *option : optionsOf(*command))
      for (const std::string &name : option->get_lnames()) {
        std::string entry = "--" + name;
        std::vector<std::string> choices = choicesOf(*option);
        if (option->get_items_expected_max() > 0)
          entry += "=";
        entry += "[" + noBrackets(option->get_description()) + "]";
        if (option->get_items_expected_max() > 0)
          entry += choices.empty() ? (takesFile(*option) ? ":file:_files" : ":value:")
                                   : fmt::format(":value:({})", fmt::join(choices, " "));
        text += " \\\n        " + shellWord(entry);
      }
    std::vector<std::string> choices = operandChoices(*command);
    if (!positionalsOf(*command).empty())
      text += " \\\n        " +
              shellWord(choices.empty() ? std::string("1:file:_files")
                                        : fmt::format("1:value:({})", fmt::join(choices, " ")));
    text += " ;;\n";
  }
  return text + "  esac\n}\ncompdef _tokamak tokamak\n";
}

std::string fishScript(const CLI::App &app) {
  std::string text = "complete -c tokamak -f\n";
  for (const CLI::App *command : commandsOf(app)) {
    text += fmt::format("complete -c tokamak -n __fish_use_subcommand -a {} -d {}\n",
                        command->get_name(), shellWord(command->get_description()));
    std::string condition = fmt::format("-n '__fish_seen_subcommand_from {}'", command->get_name());
    for (const CLI::Option *option : optionsOf(*command))
      for (const std::string &name : option->get_lnames()) {
        std::vector<std::string> choices = choicesOf(*option);
        std::string value = option->get_items_expected_max() == 0 ? ""
                            : !choices.empty() ? fmt::format(" -x -a '{}'", fmt::join(choices, " "))
                                               : " -r";
        text += fmt::format("complete -c tokamak {} -l {}{} -d {}\n", condition, name, value,
                            shellWord(option->get_description()));
      }
    std::vector<std::string> choices = operandChoices(*command);
    if (!choices.empty())
      text += fmt::format("complete -c tokamak {} -a '{}'\n", condition, fmt::join(choices, " "));
    else if (!positionalsOf(*command).empty())
      text += fmt::format("complete -c tokamak {} -F\n", condition);
  }
  return text;
}

} // namespace

std::string completionScript(const CLI::App &app, const std::string &shell) {
  return shell == "bash" ? bashScript(app) : shell == "zsh" ? zshScript(app) : fishScript(app);
}

} // namespace tokamak
