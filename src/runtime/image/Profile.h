// Measures where a run spends its time: every native, kernel and compilation, summed by operator
// and, on request, as single events for a trace.
//
//   Profile profile(Profile::Events::Kept);
//   {
//     ProfiledStep step(&profile, StepKind::Kernel, plan.name, place, &plan.prediction, threads);
//     step.reads(operands);
//     ...                                          // this is what takes the time
//     step.wrote(results);                         // recorded when the step goes out of scope
//   }
//   for (const OperatorProfile &each : profile.operators())
//     std::cout << each.name << each.nanoseconds;
//   profile.writeTrace(file);                      // Chrome trace format: Perfetto opens it
//
// Thread-safe.
#ifndef TOKAMAK_RUNTIME_IMAGE_PROFILE_H
#define TOKAMAK_RUNTIME_IMAGE_PROFILE_H

#include "base/Error.h"
#include "base/Prediction.h"
#include "runtime/values/Value.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iosfwd>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tokamak::runtime {

enum class StepKind : uint8_t { Kernel, Native, Compilation };
std::string_view nameOf(StepKind kind);

// All steps of one kernel, native or block at one place of the source.
struct OperatorProfile {
  StepKind kind;
  std::string name;
  SourcePlace place;
  int64_t calls = 0;
  int64_t nanoseconds = 0;
  // Of one call: the median of those since whose previous call nothing was compiled. The time of others is also that of
  // loading code and data that the compiler's have replaced in the caches. Of very many calls, the first few thousand
  // count. If there are only others, and loading code may be a large part of them, 0: not known.
  int64_t typicalNanoseconds = 0;
  double predictedOfTypical =
      0; // the median of what the cost model predicts of the same calls; 0: no prediction
  // Bytes of the arrays read and written, each counted once per call; for slices and replaced cells
  // only the bytes moved. 0 for compilations.
  int64_t bytes = 0;
  double predictedNanoseconds = 0; // by the cost model, of all calls; 0: no prediction
  double atPeakNanoseconds = 0;    // of it, the part in which the machine works at its peak
  Limit limit = Limit::Moving;     // what is then at its peak

  // How fast it is as a share of what the machine could do: of the rate that limits it, memory's or the
  // arithmetic units'. 0: not known.
  double shareOfPeak() const {
    return typicalNanoseconds > 0 ? atPeakNanoseconds / static_cast<double>(calls) /
                                        static_cast<double>(typicalNanoseconds)
                                  : 0;
  }
  bool hasPredictionError() const { return predictedOfTypical > 0 && typicalNanoseconds > 0; }
  // How far the prediction is from the time of a call, as a share of the latter.
  double predictionError() const {
    auto measured = static_cast<double>(typicalNanoseconds);
    return std::abs(predictedOfTypical - measured) / measured;
  }
};

class Profile {
public:
  enum class Events : uint8_t { Dropped, Kept };
  explicit Profile(Events events) : events_(events), start_(std::chrono::steady_clock::now()) {}

  struct Step {
    StepKind kind;
    std::string_view name;
    const SourcePlace *place;
    std::chrono::steady_clock::time_point begin, end;
    int64_t bytes = 0;
    double predictedNanoseconds = 0, atPeakNanoseconds = 0;
    Limit limit = Limit::Moving;
  };
  void record(const Step &step);

  std::vector<OperatorProfile> operators() const; // the longest first
  // Writes a JSON object {"traceEvents": [...]} with times in microseconds since the construction
  // of the profile. Needs Events::Kept.
  void writeTrace(std::ostream &out) const;

private:
  struct Event {
    size_t op; // index into operators_
    int thread;
    int64_t begin, duration; // nanoseconds
    int64_t bytes;
  };
  int threadNumber();

  Events events_;
  std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_; // guards all members below
  std::vector<OperatorProfile> operators_;
  struct Call {
    int64_t duration; // nanoseconds
    double predicted;
  };
  struct Calls { // of one operator, single ones
    std::vector<Call> typical, loading;
    int64_t compilations = -1; // so many before its last call
  };
  // What tells operators apart, mostly: two of one address, one after the other, may have different names.
  struct Address {
    const void *name, *place;
    bool operator==(const Address &) const = default;
  };
  struct AddressHash {
    size_t operator()(const Address &address) const {
      return std::hash<const void *>()(address.name) * 31 +
             std::hash<const void *>()(address.place);
    }
  };
  size_t operatorOf(const Step &step);

  std::vector<Calls> calls_; // by operator
  int64_t compilations_ = 0;
  std::map<std::string, size_t, std::less<>> index_; // by kind, name and place
  // The same, without making a text of them: what a step leaves in the caches makes the next one slower.
  std::unordered_map<Address, size_t, AddressHash> indexByAddress_;
  std::vector<Event> trace_;
  std::vector<size_t> threads_; // hashes of the ids of all threads seen
};

// Measures the time from its construction, or from what it reads, to what it wrote, or to its destruction. Does nothing if
// `profile` is null. The prediction, which may be null, has to live as long, and is that for the arrays that the step touches.
class ProfiledStep {
public:
  ProfiledStep(Profile *profile, StepKind kind, std::string_view name, const SourcePlace &place,
               const Prediction *prediction = nullptr, int threads = 1)
      : profile_(profile), prediction_(prediction), threads_(threads) {
    if (profile_)
      step_ = {.kind = kind,
               .name = name,
               .place = &place,
               .begin = std::chrono::steady_clock::now(),
               .end = {}};
  }
  ~ProfiledStep() {
    if (!profile_)
      return;
    end();
    if (prediction_) {
      Prediction prediction = prediction_->forBytes(static_cast<double>(dense_));
      step_.predictedNanoseconds = prediction.on(threads_);
      step_.atPeakNanoseconds = prediction.atPeakOn(threads_);
      step_.limit = prediction.limit;
    }
    profile_->record(step_);
  }
  ProfiledStep(const ProfiledStep &) = delete;
  ProfiledStep &operator=(const ProfiledStep &) = delete;
  // Counts each array among the values once.
  void reads(std::span<const Value> values) {
    if (!profile_)
      return;
    count(values);
    step_.begin = std::chrono::steady_clock::now();
  }
  void wrote(std::span<const Value> values) {
    if (!profile_)
      return;
    end();
    count(values);
  }
  // Replaces the bytes counted so far.
  void touchedOnly(int64_t bytes) { step_.bytes = dense_ = bytes; }

private:
  void end() {
    if (step_.end == std::chrono::steady_clock::time_point())
      step_.end = std::chrono::steady_clock::now();
  }
  void count(std::span<const Value> values) {
    for (const Value &value : values) {
      auto isSame = [&](const Value &other) {
        return other.isArray() && other.array().get() == value.array().get();
      };
      if (!value.isArray() || &*std::ranges::find_if(values, isSame) != &value)
        continue;
      const Array &array = *value.array();
      step_.bytes += array.bytes();
      dense_ += array.isRepeated() ? array.cells() * byteSize(array.elementType()) : array.bytes();
    }
  }

  Profile *profile_;
  const Prediction *prediction_;
  int threads_;
  Profile::Step step_{};
  // The bytes by which the prediction is chosen. A plan doesn't know that an array is one number repeated: it is computed
  // with like any other one, and planned so.
  int64_t dense_ = 0;
};

} // namespace tokamak::runtime
#endif
