// The native transformmeta: metadata of transformencode from a folder of text files, as they are written by hand or by
// older programs:
//
//   column.names          names of all columns, separated by commas
//   Recode/NAME.map       "red",1,20: a value, its code and how often it occurs, on a line for each value
//   Bin/NAME.bin          NAME,0.0,6.0,1.5,4: the column, the borders and the width of all intervals, their number
//   Impute/NAME.impute    NAME,7.5: the column, what stands for missing cells
#include "base/TrimmedText.h"
#include "runtime/io/InputFile.h"
#include "runtime/natives/NativeOperands.h"
#include "runtime/transform/TransformSpec.h"
#include "runtime/values/Frame.h"
#include "runtime/values/ScalarOperations.h"

#include <filesystem>

namespace tokamak::runtime {
namespace {

constexpr std::string_view separator = "\u00b7"; // between the parts of a text of metadata

std::vector<std::string> partsOf(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(trimmed(text.substr(begin, end - begin), spaceCharacters));
    begin = end + 1;
  }
  return parts;
}

std::string contentOf(const std::string &path) {
  InputFile file(path);
  std::string content(file.bytes());
  file.checkWhole();
  return content;
}

[[noreturn]] void fail(const std::string &path, std::string_view text, std::string_view expected) {
  throw Error(fmt::format("{}: \"{}\" is not {}", path, text, expected));
}

// The texts of one column.
std::vector<std::string> recodedTexts(const std::string &path) {
  constexpr std::string_view expected = "\"value\",code,count";
  std::vector<std::string> texts;
  std::string content = contentOf(path);
  for (const std::string &line : partsOf(content, '\n')) {
    if (line.empty())
      continue;
    // The value may have commas and quotes in it.
    size_t quote = line.rfind('"');
    if (line[0] != '"' || quote == 0 || quote + 1 == line.size() || line[quote + 1] != ',')
      fail(path, line, expected);
    std::string code = partsOf(std::string_view(line).substr(quote + 2), ',')[0];
    std::optional<int64_t> number = parseInteger(code);
    if (!number || *number < 1)
      fail(path, line, expected);
    texts.push_back(fmt::format("{}{}{}", line.substr(1, quote - 1), separator, *number));
  }
  return texts;
}

std::vector<std::string> intervalTexts(const std::string &path) {
  constexpr std::string_view expected = "column,least,greatest,width,number of intervals";
  std::string content = contentOf(path);
  std::vector<std::string> parts = partsOf(trimmed(content, spaceCharacters), ',');
  if (parts.size() != 5)
    fail(path, trimmed(content, spaceCharacters), expected);
  std::optional<double> least = parseDouble(parts[1]), width = parseDouble(parts[3]);
  std::optional<int64_t> count = parseInteger(parts[4]);
  if (!least || !width || !count || *count < 1)
    fail(path, trimmed(content, spaceCharacters), expected);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < checkedSize(*count, "transformmeta", "intervals"); ++i)
    texts.push_back(fmt::format("{}{}{}", textOf(*least + static_cast<double>(i) * *width),
                                separator, textOf(*least + static_cast<double>(i + 1) * *width)));
  return texts;
}

std::string replacementIn(const std::string &path) {
  std::string content = contentOf(path);
  size_t comma = content.find(',');
  if (comma == content.npos)
    fail(path, trimmed(content, spaceCharacters), "column,value");
  return std::string(trimmed(std::string_view(content).substr(comma + 1), spaceCharacters));
}

} // namespace

// transformmeta(spec, transformPath).
void runTransformMetadata(ExecutionContext &, std::span<Value> operands, std::span<Value> results) {
  const std::string &folder = textOperand(operands[1], "transformmeta", "transformPath");
  std::vector<std::string> names =
      partsOf(trimmed(contentOf(folder + "/column.names"), spaceCharacters), ',');
  TransformSpec spec = TransformSpec::parse(textOperand(operands[0], "transformmeta", "spec"),
                                            names, "transformmeta");
  std::vector<std::vector<std::string>> texts;
  Frame::Replacements replacements(names.size());
  for (size_t j = 0; j < names.size(); ++j) {
    switch (spec.columns[j].coding) {
    case ColumnCoding::Recode:
    case ColumnCoding::WordEmbedding:
      texts.push_back(recodedTexts(folder + "/Recode/" + names[j] + ".map"));
      break;
    case ColumnCoding::Bin:
      texts.push_back(intervalTexts(folder + "/Bin/" + names[j] + ".bin"));
      break;
    case ColumnCoding::Hash:
      texts.push_back({std::to_string(spec.columns[j].buckets)});
      break;
    case ColumnCoding::PassThrough:
      texts.emplace_back();
      break;
    }
    std::string imputed = folder + "/Impute/" + names[j] + ".impute";
    std::error_code ignored;
    if (std::filesystem::exists(imputed, ignored))
      replacements[j] = replacementIn(imputed);
  }
  size_t rows = 0;
  for (const auto &own : texts)
    rows = std::max(rows, own.size());
  std::vector<ColumnPointer> columns;
  for (const auto &own : texts) {
    FrameColumn::Texts cells(rows);
    std::ranges::copy(own, cells.begin());
    columns.push_back(std::make_shared<const FrameColumn>(std::move(cells)));
  }
  bool hasReplacements =
      std::ranges::any_of(replacements, [](const auto &text) { return text.has_value(); });
  results[0] = Value(std::make_shared<const Frame>(
      static_cast<int64_t>(rows), std::move(columns), std::move(names),
      hasReplacements ? std::move(replacements) : Frame::Replacements()));
}

} // namespace tokamak::runtime
