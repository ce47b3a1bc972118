// `tokamak doctor`: checks that everything a run needs is present, then describes this machine.
#include "tokamak/Commands.h"

#include "base/Error.h"
#include "codegen/target/Target.h"
#include "cost/Calibration.h"
#include "exec/MachineModelCache.h"
#include "runtime/io/Hdf5Library.h"
#include "runtime/io/SqliteLibrary.h"
#include "runtime/natives/Blas.h"
#include "runtime/parallel/TileScheduler.h"
#include "runtime/transform/PatternLibrary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace tokamak;

namespace {

// Why the library can't be used; empty if it can.
template <typename Library> std::string problemOf() {
  try {
    Library::instance();
    return {};
  } catch (const Error &error) {
    return error.what();
  }
}

struct Report {
  std::vector<std::string> problems; // missing parts and how to install them
  std::string processor = cost::processorName();
  const codegen::Target &target = codegen::hostTarget();
  int threads = runtime::Scheduler(0).threads();
  std::string blas = runtime::blasDescription();
  // What few programs need: without it the rest is in order.
  std::string hdf5Problem = problemOf<runtime::Hdf5Library>();
  std::string sqlProblem = problemOf<runtime::SqliteLibrary>();
  std::string patternProblem = problemOf<runtime::PatternLibrary>();
  std::optional<std::string> modelPath = cost::machineModelPath();
  std::optional<cost::ModelFile> model;
  std::string reasonToMeasure; // by the next run; empty if the model is good
};

Report examine(bool calibrate) {
  Report report;
  if (calibrate)
    report.model =
        exec::measureMachine(cost::thoroughCalibration, "tokamak doctor --calibrate asked for it");
  exec::StoredModel stored = exec::storedMachineModel();
  if (!calibrate)
    report.model = stored.file;
  report.reasonToMeasure = stored.reason;
  if (std::string problem = runtime::parallelLibraryProblem(); !problem.empty())
    report.problems.push_back("Programs run on one thread: " + problem);
  if (!runtime::lapack().gesv)
    report.problems.push_back("Matrix products are slow, and decompositions such as svd fail: "
                              "OpenBLAS was not found; install the Debian package "
                              "libopenblas0-pthread (apt-get install libopenblas0-pthread)");
  return report;
}

std::string verdict(const Report &report) {
  if (report.problems.empty())
    return fmt::format("All is in order: programs run on {} thread{}.", report.threads,
                       report.threads == 1 ? "" : "s");
  return fmt::format("{} to mend:\n\n{}",
                     report.problems.size() == 1 ? "One thing is" : "Two things are",
                     fmt::join(report.problems, "\n"));
}

void writeModel(const Report &report, std::ostream &out) {
  auto line = [&](std::string_view name, const std::string &text) {
    out << fmt::format("  {:<16} {}\n", name, text);
  };
  if (!report.model) {
    line("machine model", fmt::format("not measured yet, because {}: the next run that chooses by "
                                      "cost does it, or tokamak doctor --calibrate",
                                      report.reasonToMeasure));
    return;
  }
  const cost::MachineModel &model = report.model->model;
  const cost::Measurement &measured = *report.model->measured;
  line("machine model",
       fmt::format("measured {}, because {}", measured.date, measured.reason) +
           (measured.attempts > 1
                ? fmt::format("; the best figures of {} measurements", measured.attempts)
                : "") +
           (report.modelPath ? ", kept in " + *report.modelPath
                             : ", not kept: neither HOME nor XDG_CACHE_HOME is set"));
  if (measured.isDisturbed)
    line("",
         fmt::format("Other programs used the processor meanwhile, so figures may be too slow{}.",
                     report.reasonToMeasure.empty() ? "" : ": the next run measures again"));
  line("", fmt::format("one core: memory {:.1f} GB/s read, {:.1f} GB/s written; caches {:.1f} and "
                       "{:.1f}, {:.1f} and {:.1f}, {:.1f} and {:.1f} GB/s",
                       model.memoryReadBytesPerNanosecond, model.memoryWriteBytesPerNanosecond,
                       model.sharedReadBytesPerNanosecond, model.sharedWriteBytesPerNanosecond,
                       model.privateReadBytesPerNanosecond, model.privateWriteBytesPerNanosecond,
                       model.nearestReadBytesPerNanosecond, model.nearestWriteBytesPerNanosecond));
  line("", fmt::format("{:.1f} GFLOP/s in cell operators, {:.1f} ns for exp; {:.1f} ns to read at "
                       "random; {:.1f} us to launch a kernel, {:.1f} where caches are full",
                       model.flopsPerNanosecond,
                       cost::additionsOf(UnaryOperator::Exp, ElementType::F64, model.cells) /
                           model.flopsPerNanosecond,
                       model.gatherNanoseconds, model.launchNanoseconds / 1000,
                       model.coldLaunchNanoseconds / 1000));
  line("", fmt::format("{:.0f} threads: memory {:.1f} times, arithmetic {:.1f} times as fast",
                       model.threads, model.memorySpeedup, model.computeSpeedup));
}

void writeText(const Report &report, std::ostream &out) {
  out << verdict(report) << "\n\n";
  out << fmt::format("  {:<16} {}\n", "tokamak", TOKAMAK_VERSION);
  out << fmt::format("  {:<16} {} ({}), {} thread{}\n", "processor", report.processor,
                     report.target.cpu, report.threads, report.threads == 1 ? "" : "s");
  out << fmt::format("  {:<16} {} registers of {} bits\n", "vectors", report.target.vectorRegisters,
                     report.target.vectorBits);
  out << fmt::format("  {:<16} {}\n", "linear algebra", report.blas);
  auto optional = [&](const char *what, const char *library, const std::string &problem) {
    out << fmt::format("  {:<16} {}\n", what, problem.empty() ? library : problem);
  };
  optional("format hdf5", "libhdf5 is there", report.hdf5Problem);
  optional("sql", "libsqlite3 is there", report.sqlProblem);
  optional("expressions", "libpcre2 is there, for regular expressions", report.patternProblem);
  writeModel(report, out);
}

void writeJson(const Report &report, std::ostream &out) {
  nlohmann::ordered_json json;
  json["in_order"] = report.problems.empty();
  json["problems"] = report.problems;
  json["version"] = TOKAMAK_VERSION;
  json["processor"] = report.processor;
  json["target"] = report.target.cpu;
  json["vector_registers"] = report.target.vectorRegisters;
  json["vector_bits"] = report.target.vectorBits;
  json["threads"] = report.threads;
  json["blas"] = report.blas;
  json["hdf5_problem"] = report.hdf5Problem;
  json["sql_problem"] = report.sqlProblem;
  json["pattern_problem"] = report.patternProblem;
  if (report.model) {
    nlohmann::ordered_json model = nlohmann::ordered_json::parse(cost::toJson(report.model->model));
    model["date"] = report.model->measured->date;
    model["reason"] = report.model->measured->reason;
    model["disturbed"] = report.model->measured->isDisturbed;
    json["machine_model"] = model;
  } else {
    json["machine_model"] = nullptr;
  }
  json["measures_again_because"] = report.reasonToMeasure;
  out << json.dump(2) << '\n';
}

} // namespace

int tokamak::doctorCommand(const CommandLine &line) {
  Report report = examine(line.calibrate);
  if (line.json)
    writeJson(report, std::cout);
  else
    writeText(report, std::cout);
  return report.problems.empty() ? Success : RunFailed;
}
