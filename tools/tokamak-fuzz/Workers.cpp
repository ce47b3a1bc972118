#include "tokamak-fuzz/Workers.h"

#include "exec/Program.h"
#include "rewrite/BlockRules.h"
#include "runtime/memory/BufferPool.h"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tokamak::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// The number of programs after which a worker process is replaced, because MLIR and LLVM keep
// memory until the process ends.
constexpr int64_t programsPerWorker = 1500;

// Counters in memory shared by all processes.
struct Counters {
  std::atomic<int64_t> next{0}; // programs handed out
  std::atomic<int64_t> programs{0}, runs{0}, undecided{0}, invalid{0}, failed{0}, differing{0};
  std::atomic<int64_t> cells{0}, comparedCells{0};
  std::atomic<int64_t> reference{0}, native{0}, specialization{0}, kernels{0}, kernelsCompiled{0},
      kernelsReused{0};
  static constexpr size_t mostRules = 64;
  std::array<std::atomic<int64_t>, mostRules> rules{};
  std::atomic<bool> stop{false};
};

std::vector<std::string> ruleNames() {
  std::vector<std::string> names;
  for (auto rules : {rewrite::blockRules(), rewrite::rulesAfterFusion()})
    for (const rewrite::BlockRule &rule : rules)
      names.push_back(rule.name.str());
  if (names.size() > Counters::mostRules)
    throw Error("more rewrite rules than are counted");
  return names;
}

template <typename T> T *shared() {
  void *memory =
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("no shared memory");
  return new (memory) T();
}

// Encodes a finding as text for a pipe: the kind, the configurations (one per line), an empty line,
// the description.
std::string encode(const Finding &finding) {
  std::string text = finding.kind + '\n';
  for (const Configuration &configuration : finding.configurations)
    text += describe(configuration) + '\n';
  return text + '\n' + finding.what;
}

Finding decode(const std::string &text) {
  std::istringstream in(text);
  Finding finding;
  std::getline(in, finding.kind);
  for (std::string line; std::getline(in, line) && !line.empty();)
    finding.configurations.push_back(parseConfiguration(line));
  finding.what.assign(std::istreambuf_iterator<char>(in), {});
  return finding;
}

void writeAll(int file, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0)
      return;
    at += written;
  }
}

std::string readAll(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, count);
  return text;
}

// Discards all output of the program under test.
void silence() {
  if (std::freopen("/dev/null", "w", stdout) == nullptr ||
      std::freopen("/dev/null", "w", stderr) == nullptr)
    _exit(3);
}

// What arrays may take is half of it. Sanitizers need memory of their own.
void limitMemory(int64_t bytes) {
  if (bytes == 0)
    return;
  runtime::BufferPool::instance().setMemoryBudget(bytes / 2);
#if !__has_feature(address_sanitizer)
  rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

std::string endOf(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

// The program that a worker is testing, and when it began.
struct Slot {
  std::atomic<uint64_t> seed{0};
  std::atomic<int64_t> begun{0}; // seconds since the campaign began
};

class CampaignRun {
public:
  CampaignRun(const Campaign &campaign, const std::function<void(uint64_t, const Finding &)> &found)
      : campaign_(campaign), found_(found), counters_(shared<Counters>()), start_(Clock::now()) {}

  CampaignResult run() {
    for (int i = 0; i < campaign_.jobs; ++i)
      start(workers_.emplace_back());
    while (alive() > 0) {
      usleep(20'000);
      if (campaign_.seconds > 0 && elapsed() > campaign_.seconds)
        counters_->stop = true;
      for (Worker &worker : workers_)
        if (worker.process > 0)
          watch(worker);
    }
    std::vector<std::pair<std::string, int64_t>> rules;
    for (size_t i = 0; i < rules_.size(); ++i)
      rules.emplace_back(rules_[i], counters_->rules[i].load());
    return {counters_->programs,
            counters_->runs,
            counters_->undecided,
            counters_->invalid,
            counters_->failed,
            counters_->differing,
            counters_->cells,
            counters_->comparedCells,
            {counters_->reference, counters_->native, counters_->specialization, counters_->kernels,
             counters_->kernelsCompiled, counters_->kernelsReused},
            std::move(rules)};
  }

private:
  struct Worker {
    pid_t process = 0;
    int pipe = -1;
    Slot *slot = nullptr;
    std::string heard;
  };

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  int alive() const {
    int count = 0;
    for (const Worker &worker : workers_)
      count += worker.process > 0;
    return count;
  }

  void start(Worker &worker) {
    int ends[2];
    if (pipe(ends) != 0)
      throw Error("no pipe");
    if (!worker.slot)
      worker.slot = shared<Slot>();
    worker.slot->seed = 0;
    worker.process = fork();
    if (worker.process == 0) {
      close(ends[0]);
      silence();
      work(ends[1], *worker.slot);
      _exit(0);
    }
    close(ends[1]);
    worker.pipe = ends[0];
    worker.heard.clear();
  }

  // The main loop of a worker process. Each finding goes through the pipe: its length in bytes, the
  // seed, then its text.
  void work(int pipe, Slot &slot) {
    limitMemory(campaign_.bytesPerWorker);
    TrialResources resources(campaign_.machineModel);
    ConfigurationSampler sampler(exec::transformationNames(exec::Required::No));
    for (int64_t done = 0; done < programsPerWorker && !counters_->stop; ++done) {
      int64_t number = counters_->next++;
      if (campaign_.programs > 0 && number >= campaign_.programs)
        return;
      uint64_t seed = campaign_.firstSeed + number;
      slot.begun = static_cast<int64_t>(elapsed());
      slot.seed = seed;
      Random random(seed ^ 0x5eed);
      std::vector<Configuration> configurations =
          campaign_.allOf.empty() ? sampler.sample(random, campaign_.configurations)
                                  : campaign_.allOf;
      Verdict verdict = tryProgram(campaign_.programOf(seed), configurations, resources);
      record(verdict, static_cast<int64_t>(configurations.size()));
      if (verdict.kind == Verdict::Kind::Differs) {
        countFinding();
        std::string text = encode(verdict.finding);
        writeAll(pipe, fmt::format("{} {}\n{}", text.size(), seed, text));
      }
      slot.seed = 0;
    }
  }

  void record(const Verdict &verdict, int64_t runs) {
    ++counters_->programs;
    counters_->runs += runs;
    counters_->undecided += verdict.kind == Verdict::Kind::Undecided;
    counters_->invalid += verdict.kind == Verdict::Kind::Invalid;
    counters_->failed += verdict.failed;
    counters_->cells += verdict.cells;
    counters_->comparedCells += verdict.comparedCells;
    counters_->reference += verdict.times.reference;
    counters_->native += verdict.times.native;
    counters_->specialization += verdict.times.specialization;
    counters_->kernels += verdict.times.kernels;
    counters_->kernelsCompiled += verdict.times.kernelsCompiled;
    counters_->kernelsReused += verdict.times.kernelsReused;
    for (size_t i = 0; i < rules_.size(); ++i)
      if (auto fired = verdict.rulesFired.find(rules_[i]); fired != verdict.rulesFired.end())
        counters_->rules[i] += fired->second;
  }

  // Called in the process that makes the finding, so that no worker starts another program after
  // the last finding.
  void countFinding() {
    if (++counters_->differing >= campaign_.mostFindings)
      counters_->stop = true;
  }

  void watch(Worker &worker) {
    int status = 0;
    bool ended = waitpid(worker.process, &status, WNOHANG) == worker.process;
    bool late = !ended && worker.slot->seed != 0 &&
                elapsed() - static_cast<double>(worker.slot->begun) > campaign_.secondsPerProgram;
    if (late) {
      kill(worker.process, SIGKILL);
      waitpid(worker.process, &status, 0);
    }
    if (!ended && !late)
      return;
    worker.heard += readAll(worker.pipe);
    close(worker.pipe);
    worker.process = 0;
    listen(worker);
    uint64_t seed = worker.slot->seed;
    if (seed != 0) {
      ++counters_->programs;
      Random random(seed ^ 0x5eed);
      countFinding();
      found_(seed, {late ? "timeout" : "crash",
                    {},
                    late ? fmt::format("no end after {} seconds", campaign_.secondsPerProgram)
                         : endOf(status)});
    }
    bool more = campaign_.programs == 0 || counters_->next < campaign_.programs;
    if (more && !counters_->stop)
      start(worker);
  }

  // Parses what the worker wrote.
  void listen(Worker &worker) {
    size_t at = 0;
    for (size_t end; (end = worker.heard.find('\n', at)) != std::string::npos;) {
      std::istringstream head(worker.heard.substr(at, end - at));
      size_t length = 0;
      uint64_t seed = 0;
      head >> length >> seed;
      found_(seed, decode(worker.heard.substr(end + 1, length)));
      at = end + 1 + length;
    }
    worker.heard.clear();
  }

  const Campaign &campaign_;
  const std::function<void(uint64_t, const Finding &)> &found_;
  Counters *counters_;
  const std::vector<std::string> rules_ = ruleNames();
  Clock::time_point start_;
  std::vector<Worker> workers_;
};

} // namespace

CampaignResult runCampaign(const Campaign &campaign,
                           const std::function<void(uint64_t, const Finding &)> &found) {
  return CampaignRun(campaign, found).run();
}

std::optional<Finding> tryAlone(const SourceText &program,
                                const std::vector<Configuration> &configurations,
                                const Campaign &campaign) {
  int ends[2];
  if (pipe(ends) != 0)
    throw Error("no pipe");
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    silence();
    alarm(campaign.secondsPerProgram);
    limitMemory(campaign.bytesPerWorker);
    TrialResources resources(campaign.machineModel);
    Verdict verdict = tryProgram(program, configurations, resources);
    if (verdict.kind == Verdict::Kind::Invalid || verdict.kind == Verdict::Kind::Undecided)
      verdict.finding = {verdict.kind == Verdict::Kind::Invalid ? "invalid" : "undecided",
                         configurations, verdict.reason};
    if (verdict.kind != Verdict::Kind::Agrees)
      writeAll(ends[1], encode(verdict.finding));
    _exit(0);
  }
  close(ends[1]);
  std::string answer = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!answer.empty())
    return decode(answer);
  if (WIFSIGNALED(status))
    return Finding{WTERMSIG(status) == SIGALRM ? "timeout" : "crash", configurations,
                   endOf(status)};
  return std::nullopt;
}

} // namespace tokamak::fuzz
