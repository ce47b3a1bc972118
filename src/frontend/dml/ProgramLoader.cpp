#include "frontend/dml/ProgramLoader.h"

#include "base/NearestNames.h"
#include "frontend/dml/EntryCall.h"
#include "frontend/dml/ForeignNames.h"
#include "frontend/dml/Parser.h"
#include "frontend/dml/Spellings.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

namespace tokamak::frontend {

LoadedFile *ProgramLoader::parse(FileId id) {
  std::unique_ptr<Program> program = parseProgram(id, sources_, reporter_.engine());
  if (!program)
    return nullptr;
  auto file = std::make_unique<LoadedFile>();
  file->path = sources_.file(id).path();
  for (const auto &definition : program->functions) {
    auto function = std::make_unique<Function>();
    *function = {definition.get(), file.get(), definition->name};
    file->functions.emplace(definition->name, std::move(function));
  }
  file->program = std::move(program);
  filesById_[id] = file.get();
  filesByPath_[file->path] = file.get();
  files_.push_back(std::move(file));
  return files_.back().get();
}

LoadedFile *ProgramLoader::loadMain(FileId id) {
  LoadedFile *file = parse(id);
  if (file)
    loadImports(*file, "");
  return file;
}

bool ProgramLoader::callInstead(LoadedFile &main) {
  auto found = main.functions.find(options_.call);
  if (found == main.functions.end()) {
    std::vector<std::string> names;
    for (const auto &[name, function] : main.functions)
      names.push_back(name);
    reporter_.engine()
        .error(main.path, 0, 0, "the script has no function '" + options_.call + "' to call")
        .candidates = nearestCandidates(options_.call, names);
    return false;
  }
  const FunctionDefinition &definition = *found->second->definition;
  FileId id = sources_.add("--call", entryCall(definition, options_.arguments));
  std::unique_ptr<Program> call = parseProgram(id, sources_, reporter_.engine());
  if (!call)
    return false;
  filesById_[id] = &main; // in which the names of the call are looked up
  callFile_ = id;
  called_ = &definition;
  main.program->statements = call->statements;
  main.program->sources.clear();
  main.call = std::move(call);
  for (size_t i = 0; i < definition.parameters.size(); ++i)
    main.program->arguments.insert({definition.parameters[i].name, std::to_string(i + 1)});
  return true;
}

bool ProgramLoader::isText(const ArgumentExpression &argument) const {
  if (!called_ || argument.range().file != callFile_)
    return false;
  for (auto [i, parameter] : llvm::enumerate(called_->parameters))
    if (argument.name() == parameter.name || argument.name() == std::to_string(i + 1))
      return parameter.type.dataType != DeclaredDataType::Scalar ||
             parameter.type.valueType == DeclaredValueType::String;
  return false;
}

const Function *ProgramLoader::define(const std::string &name, const std::string &path,
                                      std::string text, LoadedFile &main) {
  FileId id = sources_.add(path, std::move(text));
  LoadedFile *file = parse(id);
  if (!file)
    return nullptr;
  filesById_[id] = &main; // in which the names of calls are looked up
  return file->functions.at(name).get();
}

static std::string normalizedPath(const std::string &directory, const std::string &path);

std::string ProgramLoader::withNamespace(const std::string &name, LoadedFile &main) {
  size_t colons = name.find("::");
  if (colons == name.npos || main.namespaces.contains(name.substr(0, colons)))
    return name;
  auto file = filesByPath_.find(normalizedPath(main.directory, name.substr(0, colons)));
  if (file == filesByPath_.end())
    return name;
  for (const auto &[space, target] : main.namespaces)
    if (target == file->second)
      return space + name.substr(colons);
  std::string made = "file" + std::to_string(main.namespaces.size());
  main.namespaces[made] = file->second;
  return made + name.substr(colons);
}

static std::string joinPath(const std::string &directory, const std::string &path) {
  if (directory.empty() || llvm::sys::path::is_absolute(path))
    return path;
  llvm::SmallString<128> joined(directory);
  llvm::sys::path::append(joined, path);
  return joined.str().str();
}

void ProgramLoader::loadImports(LoadedFile &file, std::string directory) {
  for (const Statement *statement : file.program->statements) {
    if (const auto *change = llvm::dyn_cast<SetWorkingDirectoryStatement>(statement))
      directory = joinPath(directory, change->path());
    else if (const auto *source = llvm::dyn_cast<SourceStatement>(statement))
      import(file, *source, directory);
  }
  file.directory = std::move(directory);
}

static std::string normalizedPath(const std::string &directory, const std::string &path) {
  llvm::SmallString<128> normalized(joinPath(directory, path));
  llvm::sys::path::remove_dots(normalized, /*remove_dot_dot=*/true);
  return normalized.str().str();
}

std::string ProgramLoader::pathIn(FileId file, const std::string &path) const {
  return normalizedPath(filesById_.at(file)->directory, path);
}

void ProgramLoader::import(LoadedFile &file, const SourceStatement &statement,
                           const std::string &directory) {
  std::string path = normalizedPath(directory, statement.path());
  LoadedFile *&imported = filesByPath_[path];
  if (!imported) {
    std::string reason;
    std::optional<FileId> id = sources_.load(path, reason);
    if (!id) {
      filesByPath_.erase(path);
      file.namespaces.try_emplace(statement.namespaceName(), nullptr);
      reporter_.error(statement.pathRange(), "can't read '" + path + "': " + reason);
      return;
    }
    imported = parse(*id);
    if (imported)
      loadImports(*imported, directory);
  }
  LoadedFile *target = filesByPath_[path];
  auto [entry, isNew] = file.namespaces.try_emplace(statement.namespaceName(), target);
  if (!isNew && entry->second && target && entry->second != target)
    reporter_.error(statement.range(), "namespace '" + statement.namespaceName() +
                                           "' already stands for '" + entry->second->path + "'");
  if (target)
    for (auto &[name, function] : target->functions)
      function->displayName = statement.namespaceName() + "::" + name;
}

const Function *ProgramLoader::loadLibrary(const std::string &name) {
  if (auto known = library_.find(name); known != library_.end())
    return known->second;
  library_[name] = nullptr; // so that an error is reported only once
  std::optional<LibrarySource> source =
      options_.library ? options_.library(name) : std::optional<LibrarySource>();
  if (!source)
    return nullptr;
  LoadedFile *file = parse(sources_.add(source->path, source->text));
  if (!file) {
    brokenLibrary_.insert(name);
    return nullptr;
  }
  // The prefix gives the type of the first parameter: matrix, scalar or frame.
  for (const char *prefix : {"m_", "s_", "f_"}) {
    auto found = file->functions.find(prefix + name);
    if (found == file->functions.end())
      continue;
    found->second->displayName = name;
    library_[name] = found->second.get();
    break;
  }
  if (!library_[name])
    withoutFunction_[name] = file->path;
  loadImports(*file, "");
  return library_[name];
}

LoadedFile *ProgramLoader::fileAt(const std::string &path) {
  auto found = filesByPath_.find(path);
  if (found == filesByPath_.end()) {
    loadLibrary(llvm::sys::path::stem(path).str());
    found = filesByPath_.find(path);
  }
  return found == filesByPath_.end() ? nullptr : found->second;
}

Callee ProgramLoader::find(const std::string &name, LoadedFile &file) {
  if (size_t colons = name.find("::"); colons != std::string::npos) {
    auto space = file.namespaces.find(name.substr(0, colons));
    if (space == file.namespaces.end() || !space->second)
      return {};
    auto function = space->second->functions.find(name.substr(colons + 2));
    return function == space->second->functions.end() ? Callee() : Callee{function->second.get()};
  }
  if (auto own = file.functions.find(name); own != file.functions.end())
    return {own->second.get()};
  if (const Builtin *builtin = findBuiltin(name); builtin && builtin->kind != BuiltinKind::Library)
    return {nullptr, builtin};
  return {loadLibrary(name)};
}

Callee ProgramLoader::resolve(const CallExpression &call) {
  auto [entry, isNew] = resolved_.try_emplace(&call);
  if (!isNew)
    return entry->second;
  Callee callee = find(call.callee(), *filesById_.at(call.range().file));
  resolved_[&call] = callee;
  return callee;
}

void ProgramLoader::reportUnusedArguments(const LoadedFile &main) {
  std::set<std::string> used;
  for (const auto &file : files_)
    used.insert(file->program->arguments.begin(), file->program->arguments.end());
  // Arguments of a call are its parameters' names.
  const std::string sign = options_.call.empty() ? "$" : "";
  std::vector<std::string> names;
  for (const std::string &name : used)
    names.push_back(sign + name);
  for (const auto &[name, text] : options_.arguments) {
    if (used.contains(name))
      continue;
    support::Diagnostic &problem =
        options_.call.empty()
            ? reporter_.engine().warning(
                  main.path, 0, 0, "the argument '$" + name + "' is given, but nothing uses it")
            : reporter_.engine().error(main.path, 0, 0,
                                       "'" + options_.call + "' has no parameter " +
                                           (llvm::isDigit(name.front()) ? name : "'" + name + "'"));
    if (!llvm::isDigit(name.front()))
      problem.candidates = nearestCandidates(sign + name, names);
  }
}

void ProgramLoader::reportUnknown(const CallExpression &call, bool isStatement) {
  const LoadedFile &file = *filesById_.at(call.range().file);
  const std::string &name = call.callee();
  if (brokenLibrary_.contains(name))
    return;
  using Names = std::vector<std::string>;
  auto report = [&](std::string message, llvm::function_ref<void(Names &)> collect) {
    support::Diagnostic &error = reporter_.error(call.calleeRange(), std::move(message));
    Names names;
    if (!reporter_.engine().wantsCandidates(error))
      return;
    collect(names);
    error.candidates = nearestCandidates(name, names);
  };
  if (auto found = withoutFunction_.find(name); found != withoutFunction_.end()) {
    reporter_.error(call.calleeRange(), "unknown function '" + name + "'")
        .note("'" + found->second + "' is in the library, but it has no function 'm_" + name +
              "', 's_" + name + "' or 'f_" + name + "', which '" + name + "' would call");
    return;
  }
  if (size_t colons = name.find("::"); colons != std::string::npos) {
    std::string space = name.substr(0, colons);
    auto found = file.namespaces.find(space);
    if (found == file.namespaces.end())
      return report("unknown namespace '" + space + "'", [&](Names &names) {
        for (const auto &[other, target] : file.namespaces)
          names.push_back(other + name.substr(colons));
      });
    // A file that could not be read has been reported already.
    if (!found->second)
      return;
    return report("unknown function '" + name + "'", [&](Names &names) {
      for (const auto &[other, function] : found->second->functions)
        names.push_back(space + "::" + other);
    });
  }
  if (std::string hint = hintForFunction(name); !hint.empty()) {
    reporter_.error(call.calleeRange(), "unknown function '" + name + "'").note(std::move(hint));
    return;
  }
  for (const ExternalFunction &external : file.program->externalFunctions) {
    if (external.name == name) {
      reporter_
          .error(call.calleeRange(),
                 "'" + name + "' is an external function; calling them is not supported")
          .notes.push_back(reporter_.noteAt(external.nameRange, "it is declared here"));
      return;
    }
  }
  report("unknown function '" + name + "'", [&](Names &names) {
    for (const auto &[other, function] : file.functions)
      names.push_back(other);
    for (std::string &builtin : builtinNames())
      names.push_back(std::move(builtin));
    names.insert(names.end(), options_.libraryNames.begin(), options_.libraryNames.end());
    if (isStatement)
      names.insert(names.end(), std::begin(callLikeKeywords), std::end(callLikeKeywords));
  });
}

} // namespace tokamak::frontend
