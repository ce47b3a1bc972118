#include "exec/CompiledFiles.h"

#include "runtime/image/Bytes.h"

#include <utility>

using namespace tokamak;
using namespace tokamak::exec;

static constexpr std::string_view collectionKind = "collection";

static std::string keyOf(std::string_view kind, std::string_view key) {
  return compilerVersion() + std::string(kind) + "\n" + std::string(key);
}

const CacheFolder &CompiledFiles::folder() {
  std::call_once(opened_, [&] { folder_.emplace(compilerVersion().empty() ? "" : path_); });
  return *folder_;
}

std::optional<std::string> CompiledFiles::find(std::string_view kind, std::string_view key) {
  std::string whole = keyOf(kind, key);
  {
    std::lock_guard lock(mutex_);
    if (auto collected = collection_.find(whole); collected != collection_.end()) {
      collected->second.isUsed = true;
      return std::string(collected->second.bytes);
    }
  }
  std::optional<std::string> bytes = folder().find(whole);
  if (bytes)
    note(whole, *bytes);
  return bytes;
}

void CompiledFiles::keep(std::string_view kind, std::string_view key, std::string_view bytes) {
  std::string whole = keyOf(kind, key);
  folder().keep(whole, bytes);
  note(whole, bytes);
}

void CompiledFiles::note(std::string_view key, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  if (!isCollecting_)
    return;
  std::string_view ownKey = further_.emplace_back(key), ownBytes = further_.emplace_back(bytes);
  collection_.erase(ownKey); // a key in the map lives as long as its bytes
  collection_.emplace(ownKey, Record{ownBytes, true});
  hasNew_ = true;
}

void CompiledFiles::openCollection(std::string_view key) {
  std::optional<std::string> bytes = folder().find(keyOf(collectionKind, key));
  std::lock_guard lock(mutex_);
  if (std::exchange(isCollecting_, true) || !bytes)
    return;
  collected_ = std::move(*bytes);
  try {
    runtime::ByteReader reader(collected_);
    reader.list<bool>([&] {
      std::string_view record = reader.textInPlace();
      return collection_.try_emplace(record, Record{reader.textInPlace(), false}).second;
    });
  } catch (const Error &) {
    collection_.clear();
  }
}

void CompiledFiles::keepCollection(std::string_view key) {
  std::lock_guard lock(mutex_);
  if (!isCollecting_ || !hasNew_)
    return;
  std::erase_if(collection_, [](const auto &entry) { return !entry.second.isUsed; });
  runtime::ByteWriter writer;
  writer.number<uint64_t>(collection_.size());
  for (const auto &[record, content] : collection_) {
    writer.text(record);
    writer.text(content.bytes);
  }
  if (writer.bytes().size() <= mostCollected)
    folder().keep(keyOf(collectionKind, key), writer.bytes());
  hasNew_ = false;
}
