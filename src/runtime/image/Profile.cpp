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

void Profile::record(const Step &step) {
  std::string key = fmt::format("{} {} {}:{}:{}", static_cast<int>(step.kind), step.name,
                                step.place->file, step.place->line, step.place->column);
  int64_t duration = duration_cast<nanoseconds>(step.end - step.begin).count();
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = index_.try_emplace(std::move(key), operators_.size());
  if (isNew) {
    operators_.push_back({step.kind, std::string(step.name), *step.place});
    calls_.emplace_back();
  }
  constexpr size_t mostDurations = 4096;
  if (Calls &calls = calls_[entry->second]; calls.durations.size() < mostDurations) {
    calls.durations.push_back(duration);
    calls.predicted.push_back(step.predictedNanoseconds);
  }
  OperatorProfile &op = operators_[entry->second];
  ++op.calls;
  op.nanoseconds += duration;
  op.bytes += step.bytes;
  op.predictedNanoseconds += step.predictedNanoseconds;
  op.atPeakNanoseconds += step.atPeakNanoseconds;
  op.limit = step.limit;
  if (events_ == Events::Kept)
    trace_.push_back({entry->second, threadNumber(),
                      duration_cast<nanoseconds>(step.begin - start_).count(), duration,
                      step.bytes});
}

// The median without the first call.
template <typename Number> static Number typicalOf(std::vector<Number> ofCalls) {
  if (ofCalls.size() == 1)
    return ofCalls.front();
  auto begin = ofCalls.begin() + 1, middle = begin + (ofCalls.end() - begin) / 2;
  std::nth_element(begin, middle, ofCalls.end());
  return *middle;
}

std::vector<OperatorProfile> Profile::operators() const {
  std::lock_guard lock(mutex_);
  std::vector<OperatorProfile> sorted = operators_;
  constexpr int64_t longBesideLoading = 1'000'000;
  for (size_t i = 0; i < sorted.size(); ++i) {
    int64_t typical = typicalOf(calls_[i].durations);
    bool isKnown = sorted[i].calls > 1 || typical >= longBesideLoading;
    sorted[i].typicalNanoseconds = isKnown ? typical : 0;
    sorted[i].predictedOfTypical = typicalOf(calls_[i].predicted);
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
