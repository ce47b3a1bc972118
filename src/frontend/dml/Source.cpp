#include "frontend/dml/Source.h"

#include "base/RunInputs.h"
#include "support/SourceText.h"

#include <algorithm>
#include <utility>

namespace tokamak::frontend {

SourceFile::SourceFile(std::string path, std::string text, bool isFromDisk)
    : path_(std::move(path)), text_(std::move(text)), isFromDisk_(isFromDisk) {
  lineStarts_.push_back(0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    lineStarts_.push_back(static_cast<uint32_t>(at + 1));
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  auto line = static_cast<uint32_t>(next - lineStarts_.begin());
  return {line, offset - lineStarts_[line - 1] + 1};
}

FileId SourceManager::add(std::string path, std::string text, bool isFromDisk) {
  noteInputText(path, text);
  files_.emplace_back(std::move(path), std::move(text), isFromDisk);
  return fileCount() - 1;
}

std::optional<FileId> SourceManager::load(const std::string &path, std::string &error) {
  std::optional<std::string> text = support::readSourceText(path, error);
  return text ? std::optional(add(path, std::move(*text), /*isFromDisk=*/true)) : std::nullopt;
}

} // namespace tokamak::frontend
