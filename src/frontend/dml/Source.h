// Source files and positions in them. A SourceManager owns the text of every file of a program;
// tokens, syntax nodes and diagnostics refer to it by half-open byte ranges.
//
//   SourceManager sources;
//   FileId file = sources.add("script.dml", "x = 1\ny = x\n");
//   LineColumn at = sources.file(file).lineColumn(6);      // line 2, column 1
#ifndef TOKAMAK_FRONTEND_DML_SOURCE_H
#define TOKAMAK_FRONTEND_DML_SOURCE_H

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::frontend {

using FileId = uint32_t;

/// The bytes [begin, end) of one file.
struct SourceRange {
  FileId file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  /// The smallest range that holds this one and `other` of the same file.
  SourceRange to(SourceRange other) const {
    return {file, begin < other.begin ? begin : other.begin, end > other.end ? end : other.end};
  }
  bool operator==(const SourceRange &) const = default;
};

/// Line and column both count from 1; columns count characters of UTF-8.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
  bool operator==(const LineColumn &) const = default;
};

class SourceFile {
public:
  SourceFile(std::string path, std::string text, bool isFromDisk = false);

  const std::string &path() const { return path_; }
  std::string_view text() const { return text_; }
  bool isFromDisk() const { return isFromDisk_; }
  LineColumn lineColumn(uint32_t offset) const;

private:
  static constexpr uint32_t step = 256;
  uint32_t continuingBefore(uint32_t offset) const;

  std::string path_;
  std::string text_;
  bool isFromDisk_;
  std::vector<uint32_t> lineStarts_;
  /// How many bytes before each `step`-th byte continue a character; empty if none does.
  std::vector<uint32_t> continuing_;
};

/// Owns the files of a program; references to files and views of their text stay valid as long as
/// the manager lives.
class SourceManager {
public:
  /// Adds a file with the given text, which must be smaller than 4 GiB.
  FileId add(std::string path, std::string text, bool isFromDisk = false);

  /// Reads `path` from disk; on failure returns nothing and puts the reason in `error`.
  std::optional<FileId> load(const std::string &path, std::string &error);

  const SourceFile &file(FileId id) const { return files_[id]; }
  uint32_t fileCount() const { return static_cast<uint32_t>(files_.size()); }

  std::string_view text(SourceRange range) const {
    return file(range.file).text().substr(range.begin, range.end - range.begin);
  }
  LineColumn begin(SourceRange range) const { return file(range.file).lineColumn(range.begin); }
  LineColumn end(SourceRange range) const { return file(range.file).lineColumn(range.end); }

private:
  std::deque<SourceFile> files_;
};

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_SOURCE_H
