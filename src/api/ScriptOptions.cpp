#include "api/ScriptOptions.h"

#include "api/EmbeddedLibrary.h"
#include "base/NearestNames.h"
#include "exec/CacheFolder.h"
#include "exec/Program.h"
#include "support/SourceText.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

using namespace tokamak;

frontend::ImportOptions api::importOptions(const std::vector<std::string> &libraries) {
  frontend::ImportOptions options;
  options.library = [libraries](llvm::StringRef name) -> std::optional<frontend::LibrarySource> {
    for (const std::string &folder : libraries) {
      std::string path = folder + "/" + name.str() + ".dml";
      std::error_code error;
      if (std::filesystem::exists(path, error) || error)
        return frontend::LibrarySource{path, support::readSourceText(path)};
    }
    for (const EmbeddedSource &source : embeddedLibrary())
      if (source.name == std::string_view(name.data(), name.size()))
        return frontend::LibrarySource{std::string(source.path), std::string(source.text)};
    return std::nullopt;
  };
  for (const EmbeddedSource &source : embeddedLibrary())
    options.libraryNames.emplace_back(source.name);
  return options;
}

static bool meansNone(llvm::StringRef folder) {
  return folder.equals_insensitive("off") || folder.equals_insensitive("no") ||
         folder.equals_insensitive("false") || folder == "0";
}

std::string api::cacheFolder(std::string wanted) {
  const char *everywhere = std::getenv("TOKAMAK_CACHE");
  if (wanted.empty() && everywhere)
    wanted = everywhere;
  return wanted.empty() ? exec::userCacheFolder() : meansNone(wanted) ? "" : wanted;
}

void api::addExplanations(const std::vector<std::string> &words, exec::Explanations &explain) {
  const std::map<std::string, bool exec::Explanations::*> known = {
      {"program", &exec::Explanations::program}, {"image", &exec::Explanations::image},
      {"fusion", &exec::Explanations::fusion},   {"schedule", &exec::Explanations::schedule},
      {"loops", &exec::Explanations::loops},     {"llvm", &exec::Explanations::llvm},
      {"asm", &exec::Explanations::assembly},    {"recompile", &exec::Explanations::recompile}};
  for (const std::string &word : words) {
    auto found = known.find(word);
    if (found == known.end())
      throw Error(fmt::format(
          "'{}' is none of program, image, fusion, schedule, loops, llvm, asm, recompile", word));
    explain.*found->second = true;
  }
}

void api::addDisabled(const std::vector<std::string> &names, llvm::StringSet<> &disabled) {
  std::vector<std::string> known = exec::transformationNames(exec::Required::No),
                           required = exec::transformationNames(exec::Required::Yes);
  for (const std::string &name : names) {
    if (llvm::is_contained(required, name))
      throw Error(
          fmt::format("'{}' can't be left out: no program runs correctly without it", name));
    if (!llvm::is_contained(known, name)) {
      auto near = nearestCandidates(name, known);
      throw Error(fmt::format("no rule or pass '{}'; {} {}", name,
                              near.empty() ? "there are" : "did you mean",
                              fmt::join(near.empty() ? known : near, ", ")));
    }
    disabled.insert(name);
  }
}
