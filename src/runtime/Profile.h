// What a run spends its time on: every native, kernel and compilation, summed by operator, and on
// demand one by one for a trace.
//
//   Profile profile(Profile::Events::Kept);
//   {
//     ProfiledStep step(&profile, StepKind::Kernel, plan.name, place, plan.predictedNanoseconds);
//     step.touches(operands);
//     ...                                          // recorded when the step goes out of scope
//   }
//   for (const OperatorProfile &op : profile.operators()) print(op.name, op.nanoseconds);
//   profile.writeTrace(file);                      // Chrome trace format: Perfetto opens it
//
// Steps of several threads may be recorded at the same time.
#ifndef TOKAMAK_RUNTIME_PROFILE_H
#define TOKAMAK_RUNTIME_PROFILE_H

#include "base/Error.h"
#include "runtime/Value.h"

#include <algorithm>
#include <chrono>
#include <iosfwd>
#include <map>
#include <mutex>
#include <span>
#include <string>
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
  // Of arrays read and written, each once a call; of slices and replaced cells those moved. 0 for
  // compilations.
  int64_t bytes = 0;
  double predictedNanoseconds = 0; // by the cost model; 0: no prediction
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
    double predictedNanoseconds = 0;
  };
  void record(const Step &step);

  std::vector<OperatorProfile> operators() const; // the longest first
  // A JSON object {"traceEvents": [...]}; times in microseconds since the profile was made. Needs
  // Events::Kept.
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
  mutable std::mutex mutex_; // guards all that follows
  std::vector<OperatorProfile> operators_;
  std::map<std::string, size_t, std::less<>> index_; // by kind, name and place
  std::vector<Event> trace_;
  std::vector<size_t> threads_; // hashes of the threads seen
};

// Measures from its construction to its end. Does nothing without a profile.
class ProfiledStep {
public:
  ProfiledStep(Profile *profile, StepKind kind, std::string_view name, const SourcePlace &place,
               double predictedNanoseconds = 0)
      : profile_(profile) {
    if (profile_)
      step_ = {kind, name, &place, std::chrono::steady_clock::now(), {}, 0, predictedNanoseconds};
  }
  ~ProfiledStep() {
    if (!profile_)
      return;
    step_.end = std::chrono::steady_clock::now();
    profile_->record(step_);
  }
  ProfiledStep(const ProfiledStep &) = delete;
  ProfiledStep &operator=(const ProfiledStep &) = delete;
  // Each array among the values is read or written once.
  void touches(std::span<const Value> values) {
    if (!profile_)
      return;
    std::vector<const Array *> seen;
    for (const Value &value : values)
      if (value.isArray() && std::ranges::find(seen, value.array().get()) == seen.end())
        step_.bytes += seen.emplace_back(value.array().get())->bytes();
  }
  // Instead of all that.
  void touchesOnly(int64_t bytes) { step_.bytes = bytes; }

private:
  Profile *profile_;
  Profile::Step step_{};
};

} // namespace tokamak::runtime
#endif
