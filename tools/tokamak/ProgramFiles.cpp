#include "tokamak/ProgramFiles.h"

#include "base/RunInputs.h"
#include "frontend/onnx/file/MappedFile.h"
#include "runtime/image/Bytes.h"
#include "support/SourceText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <fmt/format.h>

using namespace tokamak;
using runtime::ByteReader;
using runtime::ByteWriter;

static constexpr std::string_view kind = "program";

static bool canBeKept(const exec::CompiledFiles &files, const CommandLine &line) {
  const exec::Explanations &explain = line.program.explain;
  return files.areKept() && line.command == Command::Run && line.engine == Engine::Native &&
         !line.compare && !line.file.ends_with(".mlir") && line.call.empty() &&
         line.libraries.empty() && line.program.scheduleFile.empty() && !explain.program &&
         !explain.image;
}

ProgramFiles::ProgramFiles(exec::CompiledFiles &files, const CommandLine &line,
                           const std::string &text)
    : files_(files), line_(line), text_(text) {
  if (!canBeKept(files, line))
    return;
  ByteWriter key;
  key.text(line.file);
  key.text(text);
  for (const auto &[name, value] : line.arguments) {
    key.text(name);
    key.text(value);
  }
  std::vector<std::string> disabled;
  for (const auto &entry : line.program.disabled)
    disabled.push_back(entry.getKey().str());
  std::sort(disabled.begin(), disabled.end());
  key.list(disabled, [&](const std::string &name) { key.text(name); });
  key.number<uint8_t>(line.singlePrecision);
  key_ = key.bytes();
}

exec::ProgramOptions ProgramFiles::options() const {
  exec::ProgramOptions options = line_.program;
  if (!key_.empty())
    options.collection =
        fmt::format("{} {} {}\n{}", static_cast<int>(options.selector),
                    static_cast<int>(options.zeroRule), options.machineModel, key_);
  return options;
}

frontend::ImportOptions ProgramFiles::watched(frontend::ImportOptions options) {
  options.metadata = [this, metadata = options.metadata](const std::string &path) {
    describedData_.push_back(path);
    return metadata(path);
  };
  options.noteModelFile = [this](const std::string &path) { modelFiles_.push_back(path); };
  return options;
}

// The metadata of the data at this path as text; empty if there are none.
static std::string metadataOf(const std::string &path) {
  std::optional<MatrixMetadata> metadata = readMetadata(path);
  return metadata ? metadataText(*metadata, {}) : "";
}

// What stands for the bytes of the file at this path, which may be many; empty if it can't be read.
static std::string digestOf(const std::string &path) {
  try {
    onnx::MappedFile file(path);
    llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(file.bytes()));
    return fmt::format("{} {:x} {:x}", file.bytes().size(), hash.high64, hash.low64);
  } catch (const Error &) {
    return "";
  }
}

void ProgramFiles::keep(const exec::Program &program,
                        const frontend::SourceManager &sources) const {
  if (key_.empty())
    return;
  ByteWriter writer;
  writer.number(sources.fileCount() - 1);
  for (frontend::FileId id = 1; id < sources.fileCount(); ++id) {
    const frontend::SourceFile &file = sources.file(id);
    writer.text(file.path());
    writer.text(file.text());
    writer.number<uint8_t>(file.isFromDisk());
  }
  writer.list(describedData_, [&](const std::string &path) {
    writer.text(path);
    writer.text(metadataOf(path));
  });
  writer.list(modelFiles_, [&](const std::string &path) {
    writer.text(path);
    writer.text(digestOf(path));
  });
  program.write(writer);
  files_.keep(kind, key_, writer.bytes());
}

// Whether all that the program was made of is the same now.
static bool isCurrent(ByteReader &reader, support::DiagnosticEngine &diagnostics) {
  auto count = reader.number<frontend::FileId>();
  for (frontend::FileId i = 0; i < count; ++i) {
    std::string path = reader.text(), text = reader.text(), reason;
    if (reader.boolean() && support::readSourceText(path, reason) != text)
      return false;
    noteInputText(path, text);
    diagnostics.addSource(path, text);
  }
  auto areSame = [&](std::string (*contentsOf)(const std::string &path)) {
    std::vector<bool> same = reader.list<bool>([&] {
      std::string path = reader.text();
      return contentsOf(path) == reader.text();
    });
    return std::find(same.begin(), same.end(), false) == same.end();
  };
  bool isDataSame = areSame(metadataOf);
  return areSame(digestOf) && isDataSame;
}

std::unique_ptr<exec::Program> ProgramFiles::find(support::DiagnosticEngine &diagnostics) const {
  std::optional<std::string> bytes = key_.empty() ? std::nullopt : files_.find(kind, key_);
  if (!bytes)
    return nullptr;
  try {
    ByteReader reader(*bytes);
    diagnostics.addSource(line_.file, text_);
    return isCurrent(reader, diagnostics) ? exec::Program::read(reader, options()) : nullptr;
  } catch (const Error &) {
    return nullptr;
  }
}
