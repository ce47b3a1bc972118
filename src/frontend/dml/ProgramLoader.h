// Loads the files of a program and resolves the names of functions in them.
//
//   ProgramLoader loader(sources, reporter, options);
//   LoadedFile *main = loader.loadMain(file);
//   Callee callee = loader.resolve(call);     // a function of the program, a builtin, or neither
#ifndef TOKAMAK_FRONTEND_DML_PROGRAMLOADER_H
#define TOKAMAK_FRONTEND_DML_PROGRAMLOADER_H

#include "frontend/dml/Ast.h"
#include "frontend/dml/Builtins.h"
#include "frontend/dml/Import.h"
#include "frontend/dml/SourceReporter.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::frontend {

struct LoadedFile;

/// A function of the program; lives as long as the loader.
struct Function {
  const FunctionDefinition *definition = nullptr;
  LoadedFile *file = nullptr;
  /// The name used in messages: `f`, `ns::f`, or the name of a script builtin.
  std::string displayName;
};

struct LoadedFile {
  std::string path;
  std::unique_ptr<Program> program;
  std::unique_ptr<Program> call; // of --call: holds the statements that replace those of `program`
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, LoadedFile *> namespaces;
  std::string directory; // the last one that setwd names: where paths of this file begin
};

/// The target of a call: at most one of the two pointers is set, none for an unknown name.
struct Callee {
  const Function *function = nullptr;
  const Builtin *builtin = nullptr;
  explicit operator bool() const { return function || builtin; }
};

class ProgramLoader {
public:
  ProgramLoader(SourceManager &sources, SourceReporter &reporter, const ImportOptions &options)
      : sources_(sources), reporter_(reporter), options_(options) {}

  /// Parses the file and all its imports. Returns null after errors in the file itself; errors in
  /// imports are reported and leave their namespaces empty.
  LoadedFile *loadMain(FileId file);

  /// Replaces the statements of the file by a call of the function ImportOptions::call. Returns false
  /// after an error.
  bool callInstead(LoadedFile &main);

  /// Whether this is an argument of the call that `callInstead` made, for a parameter that takes a
  /// text or what a file holds: then it is a text, whatever it looks like.
  bool isText(const ArgumentExpression &argument) const;

  /// Defines a function by its text, which sees what the statements of `main` see. Returns null after errors.
  const Function *define(const std::string &name, const std::string &path, std::string text,
                         LoadedFile &main);

  /// A name of a function that may begin with a file of the program instead of a namespace, "net.dml::train", as the
  /// statements of `main` write it: with a namespace, which is made if there is none.
  std::string withNamespace(const std::string &name, LoadedFile &main);

  /// What a call of this name in the file calls; nothing for unknown names, which are not reported.
  Callee find(const std::string &name, LoadedFile &file);

  /// Resolves the callee in the file that contains the call: first a function of that file or its
  /// imports, then a builtin, then a script builtin of the library, which is loaded on first use.
  /// Reports nothing for unknown names.
  Callee resolve(const CallExpression &call);

  /// The file in which the names of a call are looked up.
  const LoadedFile &fileOf(const CallExpression &call) const {
    return *filesById_.at(call.range().file);
  }
  /// The file with this path, which is loaded if it is one of the library; null if there is none.
  LoadedFile *fileAt(const std::string &path);

  /// The path of a file that this file names.
  std::string pathIn(FileId file, const std::string &path) const;

  /// Warns of command line arguments that no file uses; call it after all files are loaded.
  void reportUnusedArguments(const LoadedFile &main);

  /// Reports, as an error at the callee's name, why `resolve` found nothing. What is a statement of its own may have
  /// been meant for one that begins with a keyword.
  void reportUnknown(const CallExpression &call, bool isStatement);

private:
  LoadedFile *parse(FileId file);
  void loadImports(LoadedFile &file, std::string directory);
  void import(LoadedFile &file, const SourceStatement &statement, const std::string &directory);
  const Function *loadLibrary(const std::string &name);

  SourceManager &sources_;
  SourceReporter &reporter_;
  const ImportOptions &options_;
  std::vector<std::unique_ptr<LoadedFile>> files_;
  std::map<FileId, LoadedFile *> filesById_;
  std::map<std::string, LoadedFile *> filesByPath_;
  std::map<std::string, const Function *> library_;
  std::set<std::string> brokenLibrary_; // functions whose files have errors, which are reported
  std::map<std::string, std::string>
      withoutFunction_; // files that lack the functions by whose names they are found
  llvm::DenseMap<const CallExpression *, Callee> resolved_;
  FileId callFile_ = 0; // of the call that callInstead made
  const FunctionDefinition *called_ = nullptr;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_PROGRAMLOADER_H
