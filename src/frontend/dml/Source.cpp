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
  if (std::all_of(text_.begin(), text_.end(), [](char c) { return (c & 0x80) == 0; }))
    return;
  uint32_t count = 0;
  for (size_t i = 0; i < text_.size(); ++i) {
    if (i % step == 0)
      continuing_.push_back(count);
    count += support::continuesCharacter(text_[i]) ? 1 : 0;
  }
  continuing_.push_back(count);
}

// In a line of any length, of which programs write some, this takes the time of `step` bytes.
uint32_t SourceFile::continuingBefore(uint32_t offset) const {
  if (continuing_.empty())
    return 0;
  uint32_t begin = offset / step * step;
  auto own = std::string_view(text_).substr(begin, offset - begin);
  return continuing_[offset / step] +
         static_cast<uint32_t>(std::count_if(own.begin(), own.end(), support::continuesCharacter));
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  auto line = static_cast<uint32_t>(next - lineStarts_.begin());
  uint32_t begin = lineStarts_[line - 1];
  return {line, offset - begin - (continuingBefore(offset) - continuingBefore(begin)) + 1};
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
