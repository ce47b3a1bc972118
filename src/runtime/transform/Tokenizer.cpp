#include "runtime/transform/Tokenizer.h"

#include "base/Error.h"
#include "runtime/memory/BufferPool.h"
#include "runtime/transform/CellTexts.h"
#include "runtime/transform/ColumnCodes.h"
#include "runtime/transform/JavaHash.h"
#include "runtime/transform/RegularExpression.h"
#include "runtime/values/Characters.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace tokamak::runtime {
namespace {

using Json = nlohmann::json;
using Output = TokenizeSpec::Output;

[[noreturn]] void failSpec(const std::string &reason) { throw Error("tokenize: spec: " + reason); }

int64_t columnOf(const Json &name, const Frame &frame) {
  if (name.is_number_integer() && name.get<int64_t>() >= 1 &&
      name.get<int64_t>() <= frame.columns())
    return name.get<int64_t>() - 1;
  for (int64_t j = 0; j < frame.columns() && name.is_string(); ++j)
    if (frame.name(j) == name.get<std::string>())
      return j;
  failSpec(
      fmt::format("there is no column {}; the frame has {} columns", name.dump(), frame.columns()));
}

// A word, or several.
struct Token {
  std::string text;
  int64_t place; // of its first character in the text, from 1
};

std::vector<Token> wordsOf(std::string_view text, const RegularExpression &separator) {
  std::vector<Token> words;
  int64_t characters = 0; // before byte `counted`
  size_t counted = 0;
  for (auto [begin, end] : separator.parts(text))
    if (begin < end) {
      characters += countCharacters(text.substr(counted, begin - counted));
      counted = begin;
      words.push_back({std::string(text.substr(begin, end - begin)), characters + 1});
    }
  return words;
}

// "('one', 'two')", but single words as they are: all of one length, then those of the next.
std::vector<Token> combined(const std::vector<Token> &words, int64_t least, int64_t most) {
  std::vector<Token> tokens;
  for (int64_t length = least; length <= std::min(most, std::ssize(words)); ++length)
    for (int64_t i = 0; i + length <= std::ssize(words); ++i) {
      if (length == 1) {
        tokens.push_back(words[i]);
        continue;
      }
      std::string text = "\"(";
      for (int64_t k = 0; k < length; ++k)
        text += fmt::format("{}'{}'", k == 0 ? "" : ", ", words[i + k].text);
      tokens.push_back({text + ")\"", words[i].place});
    }
  return tokens;
}

class TokenTable {
public:
  TokenTable(const Frame &frame, const TokenizeSpec &spec) : frame_(frame), spec_(spec) {
    columns_.resize(spec.documentColumns.size());
  }

  void addDocument(int64_t row, std::vector<Token> tokens) {
    if (spec_.isWide)
      addName(row);
    switch (spec_.output) {
    case Output::Position:
      addPlaces(row, tokens);
      break;
    case Output::Count:
      addCounts(row, tokens);
      break;
    case Output::Hash:
      addBuckets(row, tokens);
      break;
    }
  }

  FramePointer finish() {
    std::vector<ColumnPointer> columns;
    auto rows = static_cast<int64_t>(rows_);
    for (FrameColumn::Texts &column : columns_)
      columns.push_back(std::make_shared<const FrameColumn>(std::move(column)));
    for (FrameColumn::Integers &numbers : wideNumbers_)
      columns.push_back(std::make_shared<const FrameColumn>(std::move(numbers)));
    for (FrameColumn::Texts &texts : wideTexts_) {
      texts.resize(rows_);
      columns.push_back(std::make_shared<const FrameColumn>(std::move(texts)));
    }
    if (!spec_.isWide) {
      auto numbers = std::make_shared<const FrameColumn>(std::move(numbers_));
      ColumnPointer others = spec_.output == Output::Hash
                                 ? std::make_shared<const FrameColumn>(std::move(buckets_))
                                 : std::make_shared<const FrameColumn>(std::move(tokens_));
      if (spec_.output == Output::Position)
        columns.insert(columns.end(), {numbers, others});
      else
        columns.insert(columns.end(), {others, numbers});
    }
    return std::make_shared<const Frame>(rows, std::move(columns));
  }

private:
  void addName(int64_t row) {
    for (size_t k = 0; k < spec_.documentColumns.size(); ++k)
      columns_[k].push_back(textAt(*frame_.column(spec_.documentColumns[k]), row));
    ++rows_;
  }

  static std::optional<std::string> textAt(const FrameColumn &column, int64_t row) {
    if (ColumnCodes::isMissing(column, row))
      return std::nullopt;
    return std::string(CellTexts(column).at(row));
  }

  // How many tokens of a document are taken.
  int64_t limited(int64_t count) const {
    return spec_.mostTokens > 0 ? std::min(count, spec_.mostTokens) : count;
  }

  void addPlaces(int64_t row, const std::vector<Token> &tokens) {
    for (int64_t i = 0; i < limited(std::ssize(tokens)); ++i) {
      if (spec_.isWide) {
        if (std::ssize(wideTexts_) <= i)
          wideTexts_.emplace_back();
        wideTexts_[i].resize(rows_);
        wideTexts_[i].back() = tokens[i].text;
        continue;
      }
      addName(row);
      numbers_.push_back(tokens[i].place);
      tokens_.push_back(tokens[i].text);
    }
  }

  void addCounts(int64_t row, std::vector<Token> &tokens) {
    std::map<std::string, int64_t> counts;
    for (const Token &token : tokens)
      ++counts[token.text];
    if (spec_.isSorted)
      std::ranges::sort(tokens, {}, &Token::text);
    int64_t left = limited(std::ssize(counts));
    for (const Token &token : tokens) {
      int64_t count = std::exchange(counts[token.text], 0);
      if (count == 0 || left-- <= 0)
        continue;
      addName(row);
      tokens_.push_back(token.text);
      numbers_.push_back(count);
    }
  }

  void addBuckets(int64_t row, const std::vector<Token> &tokens) {
    std::map<int64_t, int64_t> counts;
    for (const Token &token : tokens)
      ++counts[bucketOfToken(hashOf(token.text), spec_.buckets)];
    if (spec_.isWide) {
      BufferPool::instance().checkRoomFor(spec_.buckets * wideBytesOfBucket);
      wideNumbers_.resize(static_cast<size_t>(spec_.buckets));
      for (int64_t bucket = 1; bucket <= spec_.buckets; ++bucket)
        wideNumbers_[bucket - 1].push_back(counts.contains(bucket) ? counts[bucket] : 0);
      return;
    }
    int64_t left = limited(std::ssize(counts));
    for (auto [bucket, count] : counts) {
      if (left-- <= 0)
        return;
      addName(row);
      buckets_.push_back(bucket);
      numbers_.push_back(count);
    }
  }

  static constexpr int64_t wideBytesOfBucket = sizeof(FrameColumn::Integers) + sizeof(FrameColumn);

  const Frame &frame_;
  const TokenizeSpec &spec_;
  size_t rows_ = 0;
  std::vector<FrameColumn::Texts> columns_; // that name documents
  FrameColumn::Texts tokens_;
  FrameColumn::Integers numbers_, buckets_;
  std::vector<FrameColumn::Texts> wideTexts_; // may be shorter than the others
  std::vector<FrameColumn::Integers> wideNumbers_;
};

} // namespace

TokenizeSpec TokenizeSpec::parse(std::string_view text, const Frame &frame) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    failSpec(fmt::format("expected an object in JSON, got {}", text));
  for (const auto &[key, value] : json.items())
    if (key != "algo" && key != "algo_params" && key != "out" && key != "out_params" &&
        key != "id_cols" && key != "tokenize_col" && key != "format_wide")
      failSpec(
          fmt::format("unknown key \"{}\"; known are algo, algo_params, out, out_params, id_cols, "
                      "tokenize_col and format_wide",
                      key));
  TokenizeSpec spec;
  auto wordAt = [&](const char *key) {
    if (!json.contains(key) || !json[key].is_string())
      failSpec(fmt::format("\"{}\" must be given, as a text", key));
    return json[key].get<std::string>();
  };
  auto parameter = [&](const char *group, const char *key) {
    return json.contains(group) && json[group].is_object() && json[group].contains(key)
               ? json[group][key]
               : Json();
  };
  auto numberOf = [&](const char *group, const char *key) {
    Json value = parameter(group, key);
    if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > INT32_MAX)
      failSpec(fmt::format("\"{}\" needs \"{}\", a number from 1 to {}", group, key, INT32_MAX));
    return value.get<int64_t>();
  };
  std::string algorithm = wordAt("algo"), output = wordAt("out");
  if (algorithm != "split" && algorithm != "whitespace" && algorithm != "ngram")
    failSpec(
        fmt::format("unknown \"algo\" \"{}\": expected split, whitespace or ngram", algorithm));
  if (algorithm == "ngram") {
    spec.leastWords = numberOf("algo_params", "min_gram");
    spec.mostWords = numberOf("algo_params", "max_gram");
  }
  if (Json separator = parameter("algo_params", "regex"); separator.is_string())
    spec.separator = separator.get<std::string>();
  if (output != "count" && output != "position" && output != "hash")
    failSpec(fmt::format("unknown \"out\" \"{}\": expected count, position or hash", output));
  spec.output = output == "count"  ? Output::Count
                : output == "hash" ? Output::Hash
                                   : Output::Position;
  if (spec.output == Output::Hash)
    spec.buckets = numberOf("out_params", "num_features");
  spec.isSorted = parameter("out_params", "sort_alpha") == Json(true);
  if (json.contains("format_wide") && !json["format_wide"].is_boolean())
    failSpec("\"format_wide\" must be true or false");
  spec.isWide = json.value("format_wide", false);
  if (spec.isWide && spec.output == Output::Count)
    failSpec("counts have no wide form: choose position or hash");
  if (!json.contains("tokenize_col"))
    failSpec("\"tokenize_col\" must say which column holds the texts");
  spec.textColumn = columnOf(json["tokenize_col"], frame);
  for (const Json &name : json.value("id_cols", Json::array()))
    spec.documentColumns.push_back(columnOf(name, frame));
  return spec;
}

FramePointer tokenize(const Frame &frame, const TokenizeSpec &spec) {
  RegularExpression separator(spec.separator, "tokenize: spec");
  bool combines = spec.mostWords > 1 || spec.leastWords > 1;
  TokenTable table(frame, spec);
  for (int64_t row = 0; row < frame.rows(); ++row) {
    std::vector<Token> words = wordsOf(frame.column(spec.textColumn)->text(row), separator);
    table.addDocument(row, combines ? combined(words, spec.leastWords, spec.mostWords)
                                    : std::move(words));
  }
  return table.finish();
}

} // namespace tokamak::runtime
