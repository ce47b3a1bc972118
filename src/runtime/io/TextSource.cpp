#include "runtime/io/TextSource.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace tokamak::runtime {
namespace {

// std::count is several times slower: it widens each comparison to 64 bits.
int64_t countLineEnds(std::string_view text) {
  using Bytes = uint8_t __attribute__((vector_size(32)));
  constexpr size_t width = sizeof(Bytes), stepsWithoutOverflow = 255;
  const char *position = text.data(), *end = position + text.size();
  int64_t count = 0;
  while (static_cast<size_t>(end - position) >= width) {
    size_t steps = std::min((end - position) / width, stepsWithoutOverflow);
    Bytes counts{};
    for (size_t step = 0; step < steps; ++step, position += width) {
      Bytes bytes;
      std::memcpy(&bytes, position, width);
      counts -= static_cast<Bytes>(bytes == '\n'); // true is -1
    }
    for (size_t i = 0; i < width; ++i)
      count += counts[i];
  }
  return count + std::count(position, end, '\n');
}

int64_t countLines(std::string_view text) {
  return countLineEnds(text) + (!text.empty() && text.back() != '\n');
}

bool isLineEnd(char c) { return c == '\n' || c == '\r'; }

// The position behind the last complete non-blank line, including its line end; 0 if there is none.
size_t endOfLastFullLine(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && isLineEnd(text[end - 1]))
    --end;
  size_t lineEnd = text.find('\n', end);
  if (lineEnd != text.npos && end > 0)
    return lineEnd + 1;
  // The last line is incomplete: search before it. Blank lines before it are handed out with it.
  size_t previous = text.substr(0, end).rfind('\n');
  return previous == text.npos ? 0 : endOfLastFullLine(text.substr(0, previous + 1));
}

// The text without the blank lines at its end.
std::string_view withoutBlankEnd(std::string_view text) {
  size_t last = text.find_last_not_of("\r\n");
  if (last == text.npos)
    return {};
  size_t lineEnd = text.find('\n', last);
  return text.substr(0, lineEnd == text.npos ? text.size() : lineEnd + 1);
}

std::string_view withoutByteOrderMark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

bool isHidden(const std::string &name) {
  return name.starts_with(".") || name.starts_with("_") || name.ends_with(".crc") ||
         name.ends_with(".mtd");
}

// part-2 before part-10: numbers in names compare as numbers.
bool comesBefore(std::string_view left, std::string_view right) {
  auto digits = [](char c) { return c >= '0' && c <= '9'; };
  auto takeNumber = [&](std::string_view &text) {
    auto end = std::find_if_not(text.begin(), text.end(), digits);
    std::string_view number = text.substr(0, end - text.begin());
    text.remove_prefix(number.size());
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
  };
  std::string_view wholeLeft = left, wholeRight = right;
  while (!left.empty() && !right.empty()) {
    if (digits(left.front()) && digits(right.front())) {
      std::string_view a = takeNumber(left), b = takeNumber(right);
      if (a != b)
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    } else {
      if (left.front() != right.front())
        return left.front() < right.front();
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.size() != right.size() ? left.size() < right.size() : wholeLeft < wholeRight;
}

std::vector<std::string> partNames(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !isHidden(name))
      names.push_back(name);
  }
  std::sort(names.begin(), names.end(), comesBefore);
  return names;
}

} // namespace

TextSource::TextSource(const std::string &path, TextSizes sizes) : sizes_(sizes) {
  std::error_code status;
  if (!std::filesystem::is_directory(path, status)) {
    addPart(path);
    return;
  }
  for (const std::string &name : partNames(path))
    addPart((std::filesystem::path(path) / name).string());
  if (parts_.empty())
    throw Error(fmt::format("{}: the folder has no part files", path));
}

TextSource::TextSource(std::string name, std::string_view bytes, TextSizes sizes) : sizes_(sizes) {
  parts_.push_back({std::move(name), nullptr, bytes});
}

void TextSource::addPart(const std::string &path) {
  auto file = std::make_unique<InputFile>(path);
  std::string_view bytes = file->bytes();
  parts_.push_back({path, std::move(file), bytes});
}

// Fills runs_ with the next text; false at the end.
bool TextSource::load() {
  runs_.clear();
  while (runs_.empty() && nextPart_ < parts_.size()) {
    for (; nextPart_ < parts_.size() && !isGzip(parts_[nextPart_].bytes); ++nextPart_)
      if (std::string_view text = withoutByteOrderMark(parts_[nextPart_].bytes); !text.empty())
        runs_.push_back({text, nextPart_, 0, true});
    if (runs_.empty() && nextPart_ < parts_.size())
      loadWindow();
  }
  return !runs_.empty();
}

void TextSource::Text::reserve(size_t wanted) {
  if (wanted <= capacity)
    return;
  std::shared_ptr<Buffer> larger = BufferPool::instance().allocate(static_cast<int64_t>(wanted));
  if (size > 0)
    std::memcpy(larger->bytes(), buffer->bytes(), size);
  buffer = std::move(larger);
  capacity = wanted;
}

void TextSource::Text::append(std::string_view text) {
  if (size + text.size() > capacity)
    reserve(std::max(size + text.size(), 2 * capacity));
  std::memcpy(bytes() + size, text.data(), text.size());
  size += text.size();
}

void TextSource::Text::dropFirst(size_t count) {
  if (count > 0)
    std::memmove(bytes(), bytes() + count, size - count);
  size -= count;
}

// Decompresses whole lines of the current part. Blank lines at the end of the window are kept for
// the next one: only then is it known whether they end the file.
void TextSource::loadWindow() {
  if (!inflater_) {
    inflater_ = std::make_unique<GzipInflater>(parts_[nextPart_].path, parts_[nextPart_].bytes);
    window_.size = 0;
    isBeginOfPart_ = true;
    handedOut_ = 0;
    linesHandedOut_ = 0;
  }
  window_.dropFirst(handedOut_);
  handedOut_ = 0;
  for (bool isEnd = false; handedOut_ == 0 && !isEnd;) {
    // Small files don't need the whole window: text seldom compresses to less than a sixteenth.
    constexpr size_t ratio = 16;
    size_t likely = std::max(sizes_.piece, ratio * parts_[nextPart_].bytes.size());
    size_t wanted = std::max(std::min(sizes_.window, likely), 2 * window_.size);
    try {
      window_.reserve(wanted);
    } catch (const Error &error) {
      throw Error(fmt::format("{}: a line of more than {} after decompression: {}",
                              parts_[nextPart_].path, sizeText(static_cast<int64_t>(window_.size)),
                              error.message()));
    }
    window_.size += inflater_->read(window_.bytes() + window_.size, wanted - window_.size);
    isEnd = window_.size < wanted;
    size_t mark = window_.size - withoutByteOrderMark(window_.text()).size();
    if (isBeginOfPart_ && mark > 0) {
      window_.dropFirst(mark);
      isBeginOfPart_ = false;
    }
    handedOut_ = isEnd ? window_.size : endOfLastFullLine(window_.text());
    std::string_view text = window_.text().substr(0, handedOut_);
    if (!text.empty())
      runs_.push_back({text, nextPart_, linesHandedOut_, isEnd});
    linesHandedOut_ += countLines(text);
    isBeginOfPart_ &= text.empty();
    if (isEnd) {
      inflater_.reset();
      ++nextPart_;
    }
  }
}

std::string_view TextSource::bytesOf(size_t part) {
  Part &whole = parts_[part];
  if (whole.inflated || !isGzip(whole.bytes))
    return whole.bytes;
  GzipInflater inflater(whole.path, whole.bytes);
  Text all;
  for (size_t wanted = std::max(sizes_.piece, 2 * whole.bytes.size());; wanted = 2 * all.capacity) {
    all.reserve(wanted);
    all.size += inflater.read(all.bytes() + all.size, all.capacity - all.size);
    if (all.size < all.capacity)
      break;
  }
  whole.inflated = all.buffer;
  return whole.bytes = all.text();
}

bool TextSource::isPlainFile(size_t part) const {
  std::error_code status;
  return parts_[part].file && !parts_[part].inflated && !isGzip(parts_[part].bytes) &&
         std::filesystem::is_regular_file(parts_[part].path, status);
}

void TextSource::checkWhole() const {
  for (const Part &part : parts_)
    if (part.file)
      part.file->checkWhole();
}

bool TextSource::takeLine(std::string_view &line) {
  while (!runs_.empty() && runs_.front().text.empty())
    runs_.erase(runs_.begin());
  if (runs_.empty() && !load())
    return false;
  Run &run = runs_.front();
  size_t end = run.text.find('\n');
  line = run.text.substr(0, end);
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  run.text.remove_prefix(end == run.text.npos ? run.text.size() : end + 1);
  ++run.firstLine;
  return true;
}

std::string_view TextSource::takeRest() {
  if (parts_.size() == 1 && runs_.empty() && !isGzip(parts_[0].bytes)) { // needs no copy
    std::string_view text = load() ? runs_.front().text : std::string_view();
    runs_.clear();
    return text;
  }
  while (!runs_.empty() || load()) {
    for (const Run &run : runs_) {
      rest_.append(run.text);
      if (run.endsPart && run.part + 1 < parts_.size() && !run.text.ends_with('\n'))
        rest_.append("\n");
    }
    runs_.clear();
  }
  return rest_.text();
}

std::vector<TextPiece> TextSource::nextPieces(ExecutionContext &context, BlankEnd blankEnd) {
  std::vector<TextPiece> pieces;
  while (pieces.empty() && (!runs_.empty() || load())) {
    for (Run &run : runs_) {
      bool dropsEnd = run.endsPart && blankEnd == BlankEnd::Drop;
      std::string_view text = dropsEnd ? withoutBlankEnd(run.text) : run.text;
      while (!text.empty()) {
        size_t end = text.size() > sizes_.piece ? text.find('\n', sizes_.piece) : text.npos;
        size_t size = end == text.npos ? text.size() : end + 1;
        pieces.push_back({text.substr(0, size), run.part, run.firstLine, 0});
        text.remove_prefix(size);
      }
    }
    runs_.clear();
  }
  auto count = static_cast<int64_t>(pieces.size());
  forEachRange(context, count, 1,
               [&](int64_t i, int64_t) { pieces[i].lines = countLines(pieces[i].text); });
  for (size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].part == pieces[i - 1].part)
      pieces[i].firstLine = pieces[i - 1].firstLine + pieces[i - 1].lines;
  return pieces;
}

bool beginsWith(const std::string &path, std::string_view prefix) {
  try {
    std::error_code status;
    if (!std::filesystem::is_regular_file(path, status) &&
        !std::filesystem::is_directory(path, status))
      return false; // reading a pipe would consume it
    std::string_view line;
    constexpr TextSizes little = {.piece = 1 << 10, .window = 1 << 10};
    return TextSource(path, little).takeLine(line) && line.starts_with(prefix);
  } catch (const Error &) {
    return false;
  }
}

std::string quotedField(std::string_view field) {
  constexpr size_t longest = 40;
  std::string text = "'";
  for (char c : field.substr(0, longest)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text + (field.size() > longest ? "...'" : "'");
}

} // namespace tokamak::runtime
