#include "aot/ModelFiles.h"

#include "aot/ModelHeader.h"
#include "aot/ModelObject.h"
#include "base/Error.h"
#include "runtime/io/FileWriter.h"

#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Triple.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace tokamak;
using namespace tokamak::aot;

namespace fs = std::filesystem;

static constexpr const char *runtimeName = "libtokamak-runtime.a";

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
                    "shared library; / or none, a folder with the objects",
                    path));
  if (stem.empty() || stem == "." || stem == "..")
    throw Error(
        fmt::format("'{}' has no name that the functions of the model could begin with", path));
  if (kind != Kind::Folder && stem.starts_with("lib") && stem.size() > 3)
    stem = stem.substr(3);
  return {kind, kind == Kind::Folder ? name.string() : path, identifier(stem)};
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
    candidates = {{architectureOf(target) + "-linux-gnu-gcc"},
                  {"clang", "--target=" + architectureOf(target) + "-linux-gnu"},
                  {"clang-19", "--target=" + architectureOf(target) + "-linux-gnu"}};
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

static void link(const Model &model, const std::vector<ObjectFile> &objects,
                 const std::string &runtime, const std::string &output) {
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
  std::vector<std::string> words = linkerFor(*model.target);
  words.insert(words.end(), {"-shared", "-o", output});
  for (const ObjectFile &object : objects) {
    std::string path = removal.folder + "/" + object.name;
    std::ofstream(path, std::ios::binary) << object.bytes;
    words.push_back(path);
  }
  // Only the functions of the header are seen from outside: several models, each with its runtime, share a process.
  std::string exports = "{\n  global:\n";
  for (const ContextFunction &function : contextFunctions())
    exports += fmt::format("    {}_{};\n", model.name, function.name);
  for (const ModelEntry &entry : model.entries)
    exports += fmt::format("    {};\n", functionName(model, entry));
  std::ofstream(removal.folder + "/exports.map") << exports << "  local: *;\n};\n";
  words.insert(words.end(), {"-Wl,--version-script=" + removal.folder + "/exports.map",
                             "-Wl,--gc-sections", "-Wl,-z,defs", runtime + "/" + runtimeName,
                             "-static-libgcc", "-lstdc++", "-lm", "-lpthread", "-ldl"});
  if (nativesOf(model).contains(NativeKind::Read) || nativesOf(model).contains(NativeKind::Write))
    words.push_back("-lz");
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
      R"(# add_subdirectory(this folder), then target_link_libraries(YOURS PRIVATE {0})
cmake_minimum_required(VERSION 3.20)
project({0} LANGUAGES C CXX)
file(GLOB objects ${{CMAKE_CURRENT_SOURCE_DIR}}/objects/*.o)
add_library({0} INTERFACE)
target_include_directories({0} INTERFACE ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({0} INTERFACE ${{objects}} ${{CMAKE_CURRENT_SOURCE_DIR}}/{1} stdc++ m pthread dl)
)",
      model.name, runtimeName);
}

static std::string readmeOf(const Model &model) {
  std::string functions;
  for (const ModelEntry &entry : model.entries)
    functions += "    " + functionName(model, entry) + "\n";
  return fmt::format(R"({0}: compiled ahead of time by Tokamak {1}, for {2}

    {0}.h         what a program includes; it has
{3}    objects/      code and program images
    {4}  what they call

A program in C:

    cc program.c -I{0} {0}/objects/*.o {0}/{4} -lstdc++ -lm -lpthread -ldl

With CMake: add_subdirectory({0}), target_link_libraries(program PRIVATE {0}).
)",
                     model.name, TOKAMAK_VERSION, model.target->name, functions, runtimeName);
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
    std::ofstream file(folder.path() + "/" + name, std::ios::binary);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    file.close();
    if (!file)
      throw Error(fmt::format("can't write '{}/{}'", output.path, name));
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
  runtime::FileWriter library(output.path);
  link(model, objects, runtimeFolder(*model.target), library.temporaryPath());
  files.commit();
  library.commit();
}
