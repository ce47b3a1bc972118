#include "tokamak/RunReport.h"

#include "base/PlaceText.h"
#include "runtime/memory/BufferPool.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

using namespace tokamak;
using runtime::OperatorProfile;

static std::string place(const OperatorProfile &op) {
  return op.place.isKnown() ? lineText(op.place) : "";
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

static std::string milliseconds(double nanoseconds) {
  return fmt::format("{:.3f}", nanoseconds / 1e6);
}

static std::string microseconds(double nanoseconds) {
  return fmt::format("{:.1f}", nanoseconds / 1e3);
}

// How far predictions are from what was measured, over all operators that have one; sorted.
static std::vector<double> predictionErrors(llvm::ArrayRef<OperatorProfile> operators) {
  std::vector<double> errors;
  for (const OperatorProfile &op : operators)
    if (op.hasPredictionError())
      errors.push_back(op.predictionError());
  llvm::sort(errors);
  return errors;
}

static double quantile(llvm::ArrayRef<double> sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

// Formats a size: "812 bytes", "5.1 KB", "84.0 MB".
static std::string sizeText(int64_t bytes) {
  if (bytes < 1000)
    return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes);
  const char *unit = "bytes";
  for (const char *next : {"KB", "MB", "GB"})
    if (value >= 1000) {
      value /= 1000;
      unit = next;
    }
  return fmt::format("{:.1f} {}", value, unit);
}

static const char *limitText(Limit limit) { return limit == Limit::Computing ? "units" : "memory"; }

static int64_t mostPlansOfABlock(const exec::RunCounts &counts) {
  int64_t most = 0;
  for (const auto &[block, plans] : counts.plansOfBlocks)
    most = std::max(most, plans);
  return most;
}

// Formats one row of the table; meaningless cells stay empty.
static std::string row(const RunReport &report, const OperatorProfile &op) {
  double time = static_cast<double>(op.nanoseconds);
  double rate = share(static_cast<double>(op.bytes), time);
  // The rate is meaningless for steps on few bytes, whose launch overhead dominates.
  bool streams = op.bytes / std::max<int64_t>(op.calls, 1) >= int64_t{1} << 16;
  double machine = report.counts.memoryBytesPerNanosecond;
  bool isPredicted = op.predictedNanoseconds > 0;
  return fmt::format(
      "  {:>7} {:>11} {:>6.1f} {:>10} {:>10} {:>6} {:>6} {:<6} {:>10} {:>7} {:>6}  {:<11} {:<34} "
      "{}\n",
      op.calls, milliseconds(time), 100 * share(time, static_cast<double>(report.runTime)),
      op.typicalNanoseconds > 0 ? microseconds(static_cast<double>(op.typicalNanoseconds)) : "",
      isPredicted ? microseconds(op.predictedOfTypical) : "",
      op.hasPredictionError() ? fmt::format("{:.0f}", 100 * op.predictionError()) : "",
      op.shareOfPeak() > 0 ? fmt::format("{:.0f}", 100 * op.shareOfPeak()) : "",
      op.shareOfPeak() > 0 ? limitText(op.limit) : "",
      op.bytes ? fmt::format("{:.1f}", op.bytes / 1e6) : "",
      streams ? fmt::format("{:.1f}", rate) : "",
      streams && machine > 0 ? fmt::format("{:.0f}", 100 * rate / machine) : "", nameOf(op.kind),
      op.name, place(op));
}

void tokamak::writeText(const RunReport &report, std::ostream &out) {
  constexpr size_t mostRows = 30;
  const exec::RunCounts &counts = report.counts;
  runtime::PoolStatistics pool = runtime::BufferPool::instance().statistics();
  out << fmt::format("run time: {} ms with {} threads, after {} ms of reading and checking\n",
                     milliseconds(report.runTime), report.threads, milliseconds(report.importTime))
      << fmt::format("specialisations: {}{}, of {} blocks, at most {} of one\n",
                     counts.specializations,
                     counts.plansLoaded > 0
                         ? fmt::format(" ({} more were made by earlier runs)", counts.plansLoaded)
                         : "",
                     counts.plansOfBlocks.size(), mostPlansOfABlock(counts))
      << fmt::format(
             "compile time: {} ms, of it {} ms for {} kernels ({} more were reused, {} were "
             "compiled by earlier runs, {} are built in)\n",
             milliseconds(counts.specializationTime), milliseconds(counts.kernelTime),
             counts.kernelsCompiled, counts.kernelsReused, counts.kernelsLoaded,
             counts.kernelsBuiltIn)
      << fmt::format("loops of scalars compiled: {}, functions: {}, in {} ms\n",
                     counts.loopsCompiled, counts.functionsCompiled,
                     milliseconds(counts.scalarTime))
      << fmt::format("arrays written: {}\n", counts.materializedArrays)
      << fmt::format("memory peak: {}{}\n", sizeText(pool.peakInUse),
                     report.memoryBefore > 0
                         ? fmt::format(", of it {} before the run", sizeText(report.memoryBefore))
                         : "");
  if (!counts.reasonOfMeasuring.empty())
    out << fmt::format("measured the machine's speeds, because {}\n", counts.reasonOfMeasuring);
  int64_t passTime = 0;
  std::vector<pipeline::PassRun> longest = counts.passes;
  for (const pipeline::PassRun &pass : counts.passes)
    passTime += pass.nanoseconds;
  llvm::sort(longest, [](const auto &a, const auto &b) { return a.nanoseconds > b.nanoseconds; });
  longest.resize(std::min<size_t>(longest.size(), 3));
  out << fmt::format("static phase: {} ms for {} passes", milliseconds(passTime),
                     counts.passes.size());
  for (const pipeline::PassRun &pass : longest)
    out << fmt::format("{}{} {} ms", &pass == longest.data() ? "; the longest: " : ", ",
                       std::string_view(pass.name), milliseconds(pass.nanoseconds));
  out << (counts.isProgramLoaded ? "; the program was compiled by an earlier run\n" : "\n");
  int64_t ruleTime = 0;
  std::vector<std::string> fired;
  for (const rewrite::RuleRun &rule : counts.rules) {
    ruleTime += rule.nanoseconds;
    if (rule.fired > 0)
      fired.push_back(fmt::format("{} {}x", std::string_view(rule.name), rule.fired));
  }
  out << fmt::format("rewrite rules: {} ms for {} rules; fired: {}\n", milliseconds(ruleTime),
                     counts.rules.size(),
                     fired.empty() ? "none" : fmt::format("{}", fmt::join(fired, ", ")));
  if (!counts.zeroRuleUses.empty())
    out << fmt::format(
        "zeros of sparse matrices are zero times anything, NaN and infinity too, in {}; "
        "--strict-zeros turns that off\n",
        fmt::join(counts.zeroRuleUses, ", "));
  std::vector<OperatorProfile> operators = report.profile->operators();
  if (operators.empty())
    return;
  out << fmt::format(
      "  {:>7} {:>11} {:>6} {:>10} {:>10} {:>6} {:>6} {:<6} {:>10} {:>7} {:>6}  {:<11} {:<34} {}\n",
      "calls", "time ms", "%", "us/call", "predicted", "off %", "% peak", "of", "MB", "GB/s",
      "% mem", "kind", "operator", "place");
  for (size_t i = 0; i < operators.size() && i < mostRows; ++i)
    out << row(report, operators[i]);
  if (operators.size() > mostRows)
    out << fmt::format("  ... and {} more; --stats=json has all\n", operators.size() - mostRows);
  if (std::vector<double> errors = predictionErrors(operators); !errors.empty())
    out << fmt::format("predicted times are off by {:.0f} % in the median, {:.0f} % at the 90th "
                       "percentile, of {} operators\n",
                       100 * quantile(errors, 0.5), 100 * quantile(errors, 0.9), errors.size());
  out << "us/call: the median, without calls right after something was compiled, which load code; "
         "% of the run time; % peak "
         "of "
         "what the machine could do for the planned sizes, limited by its arithmetic units or by "
         "memory "
         "and caches; % mem of what one core reads from memory";
  if (counts.memoryBytesPerNanosecond > 0)
    out << fmt::format(" ({:.1f} GB/s)", counts.memoryBytesPerNanosecond);
  out << "; more where arrays stay in the cache\n";
}

void tokamak::writeJson(const RunReport &report, std::ostream &out) {
  const exec::RunCounts &counts = report.counts;
  runtime::PoolStatistics pool = runtime::BufferPool::instance().statistics();
  nlohmann::ordered_json json;
  json["run_ns"] = report.runTime;
  json["import_ns"] = report.importTime;
  json["threads"] = report.threads;
  json["program_loaded"] = counts.isProgramLoaded;
  json["specialisations"] = counts.specializations;
  json["plans_loaded"] = counts.plansLoaded;
  json["blocks_planned"] = counts.plansOfBlocks.size();
  json["most_plans_of_a_block"] = mostPlansOfABlock(counts);
  json["compile_ns"] = counts.specializationTime;
  json["compile_ns_in_first_run"] = report.firstRunCompileTime;
  json["kernels_compiled"] = counts.kernelsCompiled;
  json["kernels_reused"] = counts.kernelsReused;
  json["kernels_loaded"] = counts.kernelsLoaded;
  json["kernels_built_in"] = counts.kernelsBuiltIn;
  json["kernel_compile_ns"] = counts.kernelTime;
  json["kernel_times_ns"] = counts.kernelTimes;
  json["loops_compiled"] = counts.loopsCompiled;
  json["functions_compiled"] = counts.functionsCompiled;
  json["scalar_compile_ns"] = counts.scalarTime;
  json["arrays_written"] = counts.materializedArrays;
  json["memory_peak_bytes"] = pool.peakInUse;
  json["memory_before_bytes"] = report.memoryBefore;
  json["memory_read_bytes_per_ns"] = counts.memoryBytesPerNanosecond;
  json["measured_machine_because"] = counts.reasonOfMeasuring;
  json["sparse_zero_rule"] = counts.zeroRuleUses;
  json["passes"] = nlohmann::ordered_json::array();
  for (const pipeline::PassRun &pass : counts.passes)
    json["passes"].push_back(
        {{"name", pass.name.str()}, {"runs", pass.runs}, {"ns", pass.nanoseconds}});
  json["rules"] = nlohmann::ordered_json::array();
  for (const rewrite::RuleRun &rule : counts.rules)
    json["rules"].push_back(
        {{"name", rule.name.str()}, {"fired", rule.fired}, {"ns", rule.nanoseconds}});
  json["operators"] = nlohmann::ordered_json::array();
  for (const OperatorProfile &op : report.profile->operators()) {
    nlohmann::ordered_json entry;
    entry["kind"] = nameOf(op.kind);
    entry["name"] = op.name;
    if (op.place.isKnown())
      entry["place"] = {
          {"file", op.place.file}, {"line", op.place.line}, {"column", op.place.column}};
    entry["calls"] = op.calls;
    entry["ns"] = op.nanoseconds;
    if (op.typicalNanoseconds > 0)
      entry["call_ns"] = op.typicalNanoseconds;
    entry["bytes"] = op.bytes;
    if (op.predictedNanoseconds > 0)
      entry["predicted_ns"] = op.predictedNanoseconds;
    if (op.hasPredictionError())
      entry["predicted_call_ns"] = op.predictedOfTypical;
    if (op.shareOfPeak() > 0) {
      entry["share_of_peak"] = op.shareOfPeak();
      entry["limited_by"] = limitText(op.limit);
    }
    json["operators"].push_back(std::move(entry));
  }
  // Names of files may be of any bytes.
  constexpr auto replaced = nlohmann::ordered_json::error_handler_t::replace;
  out << json.dump(2, ' ', /*ensure_ascii=*/false, replaced) << '\n';
}
