#include "runtime/image/Profile.h"

#include "base/PlaceText.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <thread>
#include <tuple>

namespace tokamak::runtime {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

std::string_view nameOf(StepKind kind) {
  switch (kind) {
  case StepKind::Kernel:
    return "kernel";
  case StepKind::Native:
    return "native";
  case StepKind::Compilation:
    return "compilation";
  }
  return "";
}

// The number of the calling thread, in the order of first appearance. Call with the lock held.
int Profile::threadNumber() {
  size_t own = std::hash<std::thread::id>()(std::this_thread::get_id());
  auto found = std::find(threads_.begin(), threads_.end(), own);
  if (found == threads_.end())
    found = threads_.insert(threads_.end(), own);
  return static_cast<int>(found - threads_.begin());
}

// Call with the lock held.
size_t Profile::operatorOf(const Step &step) {
  auto [known, isNewAddress] =
      indexByAddress_.try_emplace({step.name.data(), step.place}, operators_.size());
  if (!isNewAddress) {
    const OperatorProfile &op = operators_[known->second];
    if (op.kind == step.kind && op.name == step.name && op.place == *step.place)
      return known->second;
  }
  std::string key = fmt::format("{} {} {}:{}:{}", static_cast<int>(step.kind), step.name,
                                step.place->file, step.place->line, step.place->column);
  auto [entry, isNew] = index_.try_emplace(std::move(key), operators_.size());
  if (isNew) {
    operators_.push_back({step.kind, std::string(step.name), *step.place});
    calls_.emplace_back();
  }
  known->second = entry->second;
  return entry->second;
}

void Profile::record(const Step &step) {
  int64_t duration = duration_cast<nanoseconds>(step.end - step.begin).count();
  std::lock_guard lock(mutex_);
  size_t number = operatorOf(step);
  compilations_ += step.kind == StepKind::Compilation;
  constexpr size_t mostCalls = 4096;
  Calls &calls = calls_[number];
  std::vector<Call> &kind = calls.compilations == compilations_ ? calls.typical : calls.loading;
  if (kind.size() < mostCalls)
    kind.push_back({duration, step.predictedNanoseconds});
  calls.compilations = compilations_;
  OperatorProfile &op = operators_[number];
  ++op.calls;
  op.nanoseconds += duration;
  op.bytes += step.bytes;
  op.predictedNanoseconds += step.predictedNanoseconds;
  op.atPeakNanoseconds += step.atPeakNanoseconds;
  op.limit = step.limit;
  if (events_ == Events::Kept)
    trace_.push_back({number, threadNumber(),
                      duration_cast<nanoseconds>(step.begin - start_).count(), duration,
                      step.bytes});
}

template <typename Calls, typename Number>
static Number medianOf(const Calls &calls, Number Calls::value_type::*value) {
  std::vector<Number> numbers;
  for (const auto &call : calls)
    numbers.push_back(call.*value);
  auto middle = numbers.begin() + numbers.size() / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

std::vector<OperatorProfile> Profile::operators() const {
  std::lock_guard lock(mutex_);
  std::vector<OperatorProfile> sorted = operators_;
  constexpr int64_t longBesideLoading = 1'000'000;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto &[typical, loading, compilations] = calls_[i];
    const std::vector<Call> &calls = typical.empty() ? loading : typical;
    int64_t duration = medianOf(calls, &Call::duration);
    bool isKnown = !typical.empty() || duration >= longBesideLoading;
    sorted[i].typicalNanoseconds = isKnown ? duration : 0;
    sorted[i].predictedOfTypical = medianOf(calls, &Call::predicted);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return std::tie(b.nanoseconds, a.name) < std::tie(a.nanoseconds, b.name);
  });
  return sorted;
}

// Escapes a text for a JSON string.
static std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", c);
    else
      result += c;
  }
  return result;
}

void Profile::writeTrace(std::ostream &out) const {
  std::lock_guard lock(mutex_);
  out << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
         "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": "
         "\"tokamak\"}}";
  for (size_t thread = 0; thread < threads_.size(); ++thread)
    fmt::print(out,
               ",\n{{\"ph\": \"M\", \"pid\": 1, \"tid\": {}, \"name\": \"thread_name\", \"args\": "
               "{{\"name\": \"{}\"}}}}",
               thread, thread == 0 ? std::string("program") : fmt::format("worker {}", thread));
  for (const Event &event : trace_) {
    const OperatorProfile &op = operators_[event.op];
    // Trace viewers show the name only, not the category.
    std::string_view verb = op.kind == StepKind::Compilation ? "compile " : "";
    fmt::print(
        out,
        ",\n{{\"ph\": \"X\", \"pid\": 1, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}, "
        "\"cat\": \"{}\", \"name\": \"{}{}\", \"args\": {{\"place\": \"{}\", \"bytes\": {}}}}}",
        event.thread, event.begin / 1e3, event.duration / 1e3, nameOf(op.kind), verb,
        escaped(op.name), escaped(op.place.isKnown() ? placeText(op.place) : ""), event.bytes);
  }
  out << "\n]}\n";
}

} // namespace tokamak::runtime
