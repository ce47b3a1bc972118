#include "aot/ModelFiles.h"

#include "aot/ModelHeader.h"
#include "aot/ModelObject.h"
#include "base/Error.h"
#include "base/FileReason.h"
#include "runtime/io/FileWriter.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Triple.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace tokamak;
using namespace tokamak::aot;

namespace fs = std::filesystem;

static constexpr const char *runtimeName = "libtokamak-runtime.a";
// The first words of files in folders of models.
static constexpr const char *buildFileBeginning = "# add_subdirectory(this folder), then ";
static std::string readmeBeginning(const std::string &name) {
  return name + ": compiled ahead of time by Tokamak ";
}

//===- what is there already -----------------------------------------------------------------===//

static bool beginsWith(const fs::path &file, const std::string &beginning) {
  if (std::error_code ignored; !fs::is_regular_file(file, ignored))
    return false;
  std::string bytes(beginning.size(), '\0');
  std::ifstream(file, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes == beginning;
}

// A file in the folder that writing a model of this name there would not have made; nothing if it may be replaced.
static std::optional<fs::path> foreignFile(const fs::path &folder, const std::string &name) try {
  auto isOurs = [&](const fs::path &file) {
    std::string own = file.filename().string();
    return own == name + ".h"        ? beginsWith(file, headerBeginning(name))
           : own == "CMakeLists.txt" ? beginsWith(file, buildFileBeginning)
           : own == "README"         ? beginsWith(file, readmeBeginning(name))
           : own == runtimeName      ? fs::is_regular_file(file)
                                     : false;
  };
  const fs::path objects = folder / "objects";
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    if (entry.path() != objects && !isOurs(entry.path()))
      return entry.path();
  if (!fs::exists(fs::symlink_status(objects)))
    return std::nullopt;
  if (fs::is_symlink(objects) || !fs::is_directory(objects))
    return objects;
  for (const fs::directory_entry &entry : fs::directory_iterator(objects)) {
    std::string own = entry.path().filename().string();
    bool isObject =
        own == name + ".o" || (own.starts_with(name + "_kernel_") && own.ends_with(".o"));
    if (!isObject || !entry.is_regular_file())
      return entry.path();
  }
  return std::nullopt;
} catch (const fs::filesystem_error &error) {
  throw Error(
      fmt::format("can't read what is in '{}': {}", folder.string(), error.code().message()));
}

void aot::checkReplaced(const ModelOutput &output) {
  std::error_code ignored; // whoever writes reports it
  if (output.kind == ModelOutput::Kind::Folder) {
    if (!fs::is_directory(output.path, ignored))
      return;
    if (std::optional<fs::path> file = foreignFile(output.path, output.name))
      throw Error(fmt::format("'{}/' would be replaced, but '{}' is in it, which is no file of a "
                              "compiled model {}; expected a new folder, or one with such a model",
                              output.path, file->string(), output.name));
  } else if (std::string header = output.header();
             fs::exists(header, ignored) && !beginsWith(header, headerBeginning(output.name))) {
    throw Error(fmt::format("'{}' would be replaced, but it is no header of a compiled model {}; "
                            "expected another name or folder",
                            header, output.name));
  }
}

//===- the places ----------------------------------------------------------------------------===//

ModelOutput ModelOutput::of(const std::string &path) {
  fs::path name(path);
  if (path.ends_with('/'))
    name = name.parent_path();
  std::string ending = name.extension().string(), stem = name.stem().string();
  Kind kind = ending == ".a" ? Kind::Archive : ending == ".so" ? Kind::Library : Kind::Folder;
  if (kind == Kind::Folder && !ending.empty())
    throw Error(
        fmt::format("'{}' has none of the endings that say what to write: .a, an archive; .so, a "
                    "shared library; /, a folder with the objects",
                    path));
  if (stem.empty() || stem == "." || stem == "..")
    throw Error(
        fmt::format("'{}' has no name that the functions of the model could begin with", path));
  if (kind != Kind::Folder && stem.starts_with("lib") && stem.size() > 3)
    stem = stem.substr(3);
  std::string model = identifier(stem);
  // So that a slip of the pen doesn't replace a folder.
  if (kind == Kind::Folder && !path.ends_with('/') &&
      (!beginsWith(name / (model + ".h"), headerBeginning(model)) || foreignFile(name, model)))
    throw Error(
        fmt::format("'{}' has no ending that says what to write: expected {}.a, an archive; "
                    "{}.so, a shared library; {}/, a folder with the objects",
                    path, path, path, path));
  if (model == "tokamak" || model.starts_with("tokamak_"))
    throw Error(fmt::format("'{}': names of models that begin with tokamak_ are the runtime's own; "
                            "expected another name",
                            path));
  return {kind, kind == Kind::Folder ? name.string() : path, model};
}

std::string ModelOutput::header() const {
  return kind == Kind::Folder ? path + "/" + name + ".h"
                              : (fs::path(path).parent_path() / (name + ".h")).string();
}

static std::string architectureOf(const codegen::Target &target) {
  return llvm::Triple(target.triple).getArchName().str();
}

std::string aot::runtimeFolder(const codegen::Target &target) {
  fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  // Where the build leaves it, and where packages have it (cmake/Package.cmake).
  fs::path folder = program.parent_path() / "lib/tokamak" / architectureOf(target);
  if (!fs::exists(folder / runtimeName))
    throw Error(
        fmt::format("{}, which programs that call compiled models are linked with, is not in {}",
                    runtimeName, folder.string()));
  return folder.string();
}

//===- the files -----------------------------------------------------------------------------===//

namespace {

struct ObjectFile {
  std::string name, bytes;
};

// Files that replace others of their names all together.
class NewFiles {
public:
  void write(const std::string &path, std::string_view contents) {
    files_.push_back(std::make_unique<runtime::FileWriter>(path));
    files_.back()->write(contents);
  }
  void commit() {
    for (const auto &file : files_)
      file->commit();
  }

private:
  std::vector<std::unique_ptr<runtime::FileWriter>> files_;
};

} // namespace

// A file of a folder that goes if this fails.
static void writeFile(const std::string &path, std::string_view contents) {
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file)
    throw Error(fmt::format("can't write '{}': {}", path, fileReason(errno)));
}

static std::vector<ObjectFile> objectsOf(const Model &model) {
  std::vector<ObjectFile> objects = {{model.name + ".o", modelObject(model)}};
  for (const auto &[name, merges] : kernelsOf(model)) {
    const std::string &object = model.objects->object(name);
    if (object.empty())
      internalError("no object file of kernel " + name);
    objects.push_back({name + ".o", object});
  }
  return objects;
}

static std::string archiveOf(const std::vector<ObjectFile> &objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const ObjectFile &object : objects)
    members.emplace_back(llvm::MemoryBufferRef(object.bytes, object.name));
  auto archive = llvm::cantFail(llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false));
  return archive->getBuffer().str();
}

//===- shared libraries ----------------------------------------------------------------------===//

// The libraries of the system that the runtime needs for what a model calls.
static std::vector<std::string> librariesOf(const Model &model) {
  std::vector<std::string> libraries = {"stdc++", "m", "pthread", "dl"};
  std::set<NativeKind> natives = nativesOf(model);
  if (natives.contains(NativeKind::Read) || natives.contains(NativeKind::Write))
    libraries.emplace_back("z");
  return libraries;
}

// The words of the command that links, without files: $CC, or the compiler of this system.
static std::vector<std::string> linkerFor(const codegen::Target &target) {
  std::vector<std::string> words;
  if (const char *given = std::getenv("CC")) {
    std::istringstream text(given);
    for (std::string word; text >> word;)
      words.push_back(word);
  }
  bool isHost =
      llvm::Triple(target.triple).getArch() == llvm::Triple(codegen::hostTarget().triple).getArch();
  std::vector<std::vector<std::string>> candidates;
  if (!words.empty())
    candidates = {words};
  else if (isHost)
    candidates = {{"cc"}, {"gcc"}, {"clang"}, {"clang-19"}};
  else
    throw Error(fmt::format("a shared library for {} isn't linked on this machine, which is {}: "
                            "write an archive (.a) and link it with the target's linker, or name a "
                            "compiler for the target in $CC",
                            architectureOf(target), architectureOf(codegen::hostTarget())));
  std::vector<std::string> tried;
  for (std::vector<std::string> &candidate : candidates) {
    tried.push_back(candidate.front());
    if (auto found = llvm::sys::findProgramByName(candidate.front())) {
      candidate.front() = *found;
      return candidate;
    }
  }
  throw Error(fmt::format(
      "a shared library is linked by a C compiler, and there is none ({}); install one, name it "
      "in $CC, or write an archive (.a), which needs none",
      fmt::join(tried, ", ")));
}

// `words`: linkerFor the target.
static void link(const Model &model, const std::vector<ObjectFile> &objects,
                 std::vector<std::string> words, const std::string &runtime,
                 const std::string &output) {
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("tokamak-model", folder))
    throw Error("a temporary folder can't be made: " + error.message());
  struct Removal {
    std::string folder;
    ~Removal() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  } removal{folder.str().str()};
  words.insert(words.end(), {"-shared", "-o", output});
  for (const ObjectFile &object : objects) {
    std::string path = removal.folder + "/" + object.name;
    writeFile(path, object.bytes);
    words.push_back(path);
  }
  // Only the functions of the header are seen from outside: several models, each with its runtime, share a process.
  std::string exports = "{\n  global:\n";
  for (const ContextFunction &function : contextFunctions())
    exports += fmt::format("    {}_{};\n", model.name, function.name);
  for (const ModelEntry &entry : model.entries)
    exports += fmt::format("    {};\n", functionName(model, entry));
  writeFile(removal.folder + "/exports.map", exports + "  local: *;\n};\n");
  words.insert(words.end(),
               {"-Wl,--version-script=" + removal.folder + "/exports.map", "-Wl,--gc-sections",
                "-Wl,-z,defs", runtime + "/" + runtimeName, "-static-libgcc"});
  for (const std::string &library : librariesOf(model))
    words.push_back("-l" + library);
  llvm::SmallVector<llvm::StringRef> arguments(words.begin(), words.end());
  std::string messages = removal.folder + "/messages";
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(messages),
                                                llvm::StringRef(messages)};
  int status = llvm::sys::ExecuteAndWait(words.front(), arguments, std::nullopt, redirects);
  if (status != 0) {
    std::ifstream file(messages);
    std::stringstream text;
    text << file.rdbuf();
    throw Error(
        fmt::format("{} could not link the shared library:\n{}", words.front(), text.str()));
  }
}

//===- folders -------------------------------------------------------------------------------===//

static std::string buildFileOf(const Model &model) {
  return fmt::format(
      R"({2}target_link_libraries(YOURS PRIVATE {0})
cmake_minimum_required(VERSION 3.20)
project({0} LANGUAGES C CXX)
file(GLOB objects ${{CMAKE_CURRENT_SOURCE_DIR}}/objects/*.o)
add_library({0} INTERFACE)
target_include_directories({0} INTERFACE ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({0} INTERFACE ${{objects}} ${{CMAKE_CURRENT_SOURCE_DIR}}/{1} {3})
)",
      model.name, runtimeName, buildFileBeginning, fmt::join(librariesOf(model), " "));
}

static std::string readmeOf(const Model &model) {
  std::string functions;
  for (const ModelEntry &entry : model.entries)
    functions += "    " + functionName(model, entry) + "\n";
  return fmt::format(R"({5}{1}, for {2}

    {0}.h         what a program includes; it has
{3}    objects/      code and program images
    {4}  what they call

A program in C:

    cc program.c -I{0} {0}/objects/*.o {0}/{4} -l{6}

With CMake: add_subdirectory({0}), target_link_libraries(program PRIVATE {0}).
)",
                     model.name, TOKAMAK_VERSION, model.target->name, functions, runtimeName,
                     readmeBeginning(model.name), fmt::join(librariesOf(model), " -l"));
}

static std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream contents;
  contents << file.rdbuf();
  if (!file)
    throw Error(fmt::format("can't read '{}'", path));
  return contents.str();
}

static void writeFolder(const Model &model, const ModelOutput &output,
                        const std::vector<ObjectFile> &objects) {
  std::string runtime = contentsOf(runtimeFolder(*model.target) + "/" + runtimeName);
  runtime::FolderWriter folder(output.path);
  fs::create_directory(folder.path() + "/objects");
  auto write = [&](const std::string &name, std::string_view contents) {
    writeFile(folder.path() + "/" + name, contents);
  };
  write(model.name + ".h", modelHeader(model));
  for (const ObjectFile &object : objects)
    write("objects/" + object.name, object.bytes);
  write(runtimeName, runtime);
  write("CMakeLists.txt", buildFileOf(model));
  write("README", readmeOf(model));
  folder.commit();
}

void aot::writeModel(const Model &model, const ModelOutput &output) {
  checkReplaced(output);
  std::vector<ObjectFile> objects = objectsOf(model);
  if (output.kind == ModelOutput::Kind::Folder)
    return writeFolder(model, output, objects);
  NewFiles files;
  files.write(output.header(), modelHeader(model));
  if (output.kind == ModelOutput::Kind::Archive) {
    files.write(output.path, archiveOf(objects));
    files.commit();
    return;
  }
  std::vector<std::string> linker = linkerFor(*model.target);
  runtime::FileWriter library(output.path);
  link(model, objects, std::move(linker), runtimeFolder(*model.target), library.temporaryPath());
  files.commit();
  library.commit();
}
