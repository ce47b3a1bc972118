#include "runtime/transform/TransformSpec.h"

#include "base/Error.h"
#include "base/NearestNames.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tokamak::runtime {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> knownKeys = {
    "ids", "recode", "dummycode", "bin", "impute", "omit", "hash", "K", "word_embedding"};

class SpecReader {
public:
  SpecReader(TransformSpec &spec, const Json &json, const std::vector<std::string> &names,
             std::string_view native)
      : spec_(spec), json_(json), names_(names), native_(native) {
    spec_.columns.resize(names.size());
  }

  void read() {
    if (!json_.is_object())
      fail("expected an object: {\"ids\": true, \"recode\": [1]}");
    for (const auto &[key, value] : json_.items())
      if (!std::ranges::count(knownKeys, key))
        fail(fmt::format("unknown key \"{}\"; known are {}", key, fmt::join(knownKeys, ", ")));
    byNumber_ = json_.contains("ids") && json_["ids"].is_boolean() && json_["ids"].get<bool>();
    for (int64_t column : columnsOf("recode"))
      setCoding(column, ColumnCoding::Recode);
    readHashes();
    readBins();
    for (int64_t column : columnsOf("word_embedding"))
      setCoding(column, ColumnCoding::WordEmbedding);
    for (int64_t column : columnsOf("omit"))
      spec_.columns[column].omit = true;
    readImputations();
    for (int64_t column : columnsOf("dummycode")) {
      ColumnTransform &transform = spec_.columns[column];
      transform.dummycode = true;
      if (transform.coding == ColumnCoding::WordEmbedding)
        fail(fmt::format("column {} can't be dummycoded: it becomes a row of numbers for each word",
                         names_[column]));
      // Numbers have codes only after recoding.
      if (transform.coding == ColumnCoding::PassThrough)
        transform.coding = ColumnCoding::Recode;
    }
  }

private:
  [[noreturn]] void fail(const std::string &reason) const {
    throw Error(fmt::format("{}: spec: {}", native_, reason));
  }

  int64_t columnOf(const Json &name) const {
    if (name.is_number_integer()) {
      auto number = name.get<int64_t>();
      if (number < 1 || number > static_cast<int64_t>(names_.size()))
        fail(fmt::format("there is no column {}; the frame has {}", number, names_.size()));
      return number - 1;
    }
    if (!name.is_string())
      fail(fmt::format("a column is a number or a name, got {}", name.dump()));
    auto text = name.get<std::string>();
    if (byNumber_)
      fail(fmt::format("\"ids\" is true, so that columns are numbers, got \"{}\"", text));
    auto found = std::ranges::find(names_, text);
    if (found == names_.end()) {
      std::vector<std::string> near = nearestCandidates(text, names_);
      constexpr size_t fewNames = 10;
      if (near.empty() && names_.size() <= fewNames)
        fail(fmt::format("there is no column \"{}\"; there are {}", text, fmt::join(names_, ", ")));
      fail(fmt::format("there is no column \"{}\"{}", text,
                       near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near.front())));
    }
    return found - names_.begin();
  }

  std::vector<int64_t> columnsOf(const char *key) const {
    std::vector<int64_t> columns;
    if (!json_.contains(key))
      return columns;
    if (!json_[key].is_array())
      fail(fmt::format("\"{}\" is a list of columns, got {}", key, json_[key].dump()));
    for (const Json &name : json_[key])
      columns.push_back(columnOf(name));
    return columns;
  }

  // Entries such as {"id": 2, "method": "equi-width"}, or {"name": "age", ...}.
  template <typename Body> void forEachEntry(const char *key, const Body &body) {
    if (!json_.contains(key))
      return;
    if (!json_[key].is_array())
      fail(fmt::format("\"{}\" is a list of objects, got {}", key, json_[key].dump()));
    for (const Json &entry : json_[key]) {
      bool isNamed = entry.is_object() && (entry.contains("id") || entry.contains("name"));
      if (!isNamed)
        fail(fmt::format("an entry of \"{}\" needs \"id\" or \"name\", got {}", key, entry.dump()));
      body(columnOf(entry.contains("id") ? entry["id"] : entry["name"]), entry);
    }
  }

  void setCoding(int64_t column, ColumnCoding coding) {
    if (spec_.columns[column].coding != ColumnCoding::PassThrough)
      fail(fmt::format("column {} has two codings", names_[column]));
    spec_.columns[column].coding = coding;
  }

  int64_t positive(const Json &entry, const char *key, std::string_view what) const {
    if (!entry.contains(key) || !entry[key].is_number_integer() || entry[key].get<int64_t>() < 1)
      fail(fmt::format("\"{}\" needs \"{}\", a number of at least 1", what, key));
    return entry[key].get<int64_t>();
  }

  void readHashes() {
    for (int64_t column : columnsOf("hash")) {
      setCoding(column, ColumnCoding::Hash);
      spec_.columns[column].buckets = positive(json_, "K", "hash");
    }
  }

  std::string methodOf(const Json &entry, const char *key) const {
    if (!entry.contains("method") || !entry["method"].is_string())
      fail(fmt::format("an entry of \"{}\" needs a \"method\"", key));
    return entry["method"].get<std::string>();
  }

  void readBins() {
    forEachEntry("bin", [&](int64_t column, const Json &entry) {
      setCoding(column, ColumnCoding::Bin);
      std::string method = methodOf(entry, "bin");
      if (method != "equi-width" && method != "equi-height" && method != "equi-height-approx")
        fail(fmt::format("unknown method \"{}\" of \"bin\": expected equi-width or equi-height",
                         method));
      ColumnTransform &transform = spec_.columns[column];
      transform.binMethod = method == "equi-width" ? BinMethod::EqualWidth : BinMethod::EqualHeight;
      transform.bins = positive(entry, "numbins", "bin");
    });
  }

  void readImputations() {
    forEachEntry("impute", [&](int64_t column, const Json &entry) {
      ColumnTransform &transform = spec_.columns[column];
      std::string method = methodOf(entry, "impute");
      if (method == "global_mean") {
        transform.imputation = Imputation::Mean;
      } else if (method == "global_mode") {
        transform.imputation = Imputation::Mode;
      } else if (method == "constant") {
        transform.imputation = Imputation::Constant;
        if (!entry.contains("value"))
          fail("the method \"constant\" of \"impute\" needs a \"value\"");
        const Json &value = entry["value"];
        transform.constant = value.is_string() ? value.get<std::string>() : value.dump();
      } else {
        fail(
            fmt::format("unknown method \"{}\" of \"impute\": expected global_mean, global_mode or "
                        "constant",
                        method));
      }
      bool hasCodes =
          transform.coding == ColumnCoding::Recode || transform.coding == ColumnCoding::Hash;
      if (hasCodes && transform.imputation == Imputation::Mean)
        fail(fmt::format("column {} has codes, which have no mean", names_[column]));
    });
  }

  TransformSpec &spec_;
  const Json &json_;
  const std::vector<std::string> &names_;
  std::string_view native_;
  bool byNumber_ = false;
};

// Names without quotes and texts in single quotes, as SystemDS's parser takes them: {ids:true, recode:['a']}.
std::string relaxed(std::string_view text) {
  std::string strict;
  auto isPartOfName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"' || c == '\'') {
      strict += '"';
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\' && i + 1 < text.size())
          strict += text[i++];
        strict += text[i];
      }
      strict += '"';
      ++i;
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      size_t begin = i;
      while (i < text.size() && isPartOfName(text[i]))
        ++i;
      std::string_view name = text.substr(begin, i - begin);
      bool isWord = name == "true" || name == "false" || name == "null";
      strict += isWord ? std::string(name) : fmt::format("\"{}\"", name);
    } else {
      strict += c;
      ++i;
    }
  }
  return strict;
}

} // namespace

TransformSpec TransformSpec::parse(std::string_view text, const std::vector<std::string> &names,
                                   std::string_view native) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    json = Json::parse(relaxed(text), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    throw Error(fmt::format("{}: spec is no JSON: {}", native, text));
  TransformSpec spec;
  SpecReader(spec, json, names, native).read();
  return spec;
}

} // namespace tokamak::runtime
