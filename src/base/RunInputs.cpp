#include "base/RunInputs.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <set>

namespace tokamak {
namespace {

// Never destroyed: the process may crash during exit, and the handler reads the list.
struct Noted {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
  std::deque<std::string> texts;
  std::deque<RunInput> inputs;
  std::atomic<const RunInput *> first = nullptr;
  static_assert(decltype(first)::is_always_lock_free); // required in signal handlers
};

Noted &noted() {
  static auto *instance = new Noted;
  return *instance;
}

void append(const std::string &name, std::optional<std::string_view> text) {
  Noted &list = noted();
  std::lock_guard lock(list.mutex);
  if (list.names.size() >= mostRunInputs)
    return;
  auto [known, isNew] = list.names.insert(name);
  if (!isNew)
    return;
  const char *kept = nullptr;
  if (text)
    kept = list.texts.emplace_back(text->substr(0, largestInputText)).c_str();
  RunInput *last = list.inputs.empty() ? nullptr : &list.inputs.back();
  RunInput &input = list.inputs.emplace_back(known->c_str(), kept, text ? text->size() : 0);
  (last ? last->next : list.first).store(&input);
}

} // namespace

void noteInputFile(const std::string &path) { append(path, std::nullopt); }

void noteInputText(const std::string &name, std::string_view text) { append(name, text); }

const RunInput *firstRunInput() { return noted().first.load(); }

} // namespace tokamak
