#include "codegen/testing/KernelCorpus.h"

#include "codegen/target/Target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

using namespace tokamak;
using namespace tokamak::codegen;

// The target of this name; of the passes that it leaves out, `passes` puts all or one back.
static std::optional<codegen::Target> findTarget(const std::string &name,
                                                 const std::string &passes) {
  codegen::Target target = hostTarget();
  if (name == aarch64Target().name)
    target = aarch64Target();
  else if (name == x86Target().name)
    target = x86Target();
  else if (name != target.name)
    return std::nullopt;
  size_t all = target.leftOut.size();
  llvm::erase_if(target.leftOut,
                 [&](const LeftOutPass &pass) { return passes == "all" || pass.pass == passes; });
  if (!passes.empty() && target.leftOut.size() == all)
    return std::nullopt;
  return target;
}

namespace {

// A record while it is written.
class RecordWriter {
public:
  template <typename Struct> FilePlace append(const Struct &structure) {
    return appendBytes(&structure, sizeof(Struct), 8);
  }
  // What was appended already is not repeated: kernels may compare pointers. Data of no bytes gets
  // a place, too.
  FilePlace appendData(const void *data, size_t bytes) {
    auto [entry, isNew] = places_.try_emplace(data, 0);
    if (isNew)
      entry->second = appendBytes(data, bytes, 64);
    return entry->second;
  }
  template <typename Struct> Struct &at(FilePlace place) {
    return reinterpret_cast<Struct &>(bytes_[place]);
  }
  std::string &finish() {
    bytes_.resize((bytes_.size() + 63) / 64 * 64);
    return bytes_;
  }

private:
  FilePlace appendBytes(const void *data, size_t bytes, size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    auto place = static_cast<FilePlace>(bytes_.size());
    bytes_.append(static_cast<const char *>(data), bytes);
    return place;
  }
  std::string bytes_;
  std::map<const void *, FilePlace> places_;
};

// The corpus of this process.
class KernelCorpus {
public:
  // Null if none is recorded.
  static KernelCorpus *recording() {
    static KernelCorpus *corpus = [] {
      const char *folder = std::getenv("TOKAMAK_KERNEL_CORPUS");
      return folder ? new KernelCorpus(folder) : nullptr;
    }();
    return corpus;
  }

  void addKernel(plan::OperatorOp op, const std::optional<std::string> &schedule,
                 const tokamak::abi::KernelPlan &plan) {
    auto foreign = compiler_.compile(op, schedule);
    ASSERT_TRUE(succeeded(foreign)) << "no kernel for the other target";
    std::lock_guard lock(mutex_);
    auto [entry, isNew] = numbers_.try_emplace(foreign->name, numbers_.size());
    if (isNew)
      names_ << "TOKAMAK_KERNEL" << (plan.merge ? "_AND_MERGE(" : "(") << foreign->name << ")\n"
             << std::flush;
    numberOf_[plan.code.get()] = entry->second;
  }

  std::optional<int64_t> numberOf(const tokamak::abi::KernelPlan &plan) const {
    auto found = numberOf_.find(plan.code.get());
    return found == numberOf_.end() ? std::nullopt : std::optional(found->second);
  }
  void addLaunch(const std::string &record) { launches_ << record << std::flush; }

private:
  explicit KernelCorpus(const std::string &folder)
      : folder_(folder), names_(folder_ / "kernels.def"),
        launches_(folder_ / "launches", std::ios::binary), target_(describeTarget()),
        compiler_({.target = &target_,
                   .keepObject = [this](const std::string &kernel, const std::string &object) {
                     std::ofstream(folder_ / (kernel + ".o"), std::ios::binary) << object;
                   }}) {}

  static codegen::Target describeTarget() {
    const char *name = std::getenv("TOKAMAK_KERNEL_TARGET");
    const char *passes = std::getenv("TOKAMAK_KERNEL_PASSES");
    auto target = findTarget(name ? name : "", passes ? passes : "");
    if (!target)
      llvm::report_fatal_error("TOKAMAK_KERNEL_TARGET is none of aarch64, x86-64, host, or "
                               "TOKAMAK_KERNEL_PASSES is no pass that it leaves out");
    return *target;
  }

  std::filesystem::path folder_;
  std::ofstream names_, launches_;
  std::mutex mutex_;
  std::map<std::string, int64_t> numbers_;   // of kernels of the corpus, by name
  std::map<const void *, int64_t> numberOf_; // by the code of this machine's kernel
  codegen::Target target_;
  KernelCompiler compiler_;
};

// The bytes of an array's values, including those before the first entry of a view.
int64_t bytesOf(const TokArray &array) {
  int64_t cells =
      array.layout == TOK_CSR ? array.rowOffsets[array.dims[0]] : array.dims[0] * array.dims[1];
  return cells * byteSize(static_cast<ElementType>(array.elementType));
}

ArrayRecord describe(const TokArray &array, RecordWriter &writer) {
  ArrayRecord record{array.elementType, array.layout, array.dims[0], array.dims[1], 0, 0, 0, 0};
  record.bytes = bytesOf(array);
  record.data = writer.appendData(array.data, record.bytes);
  if (array.layout == TOK_CSR) {
    int64_t rows = array.dims[0];
    record.rowOffsets = writer.appendData(array.rowOffsets, (rows + 1) * sizeof(int64_t));
    record.columnIndices =
        writer.appendData(array.columnIndices, array.rowOffsets[rows] * sizeof(int32_t));
  }
  return record;
}

} // namespace

llvm::FailureOr<tokamak::abi::KernelPlan>
CorpusCompiler::compile(plan::OperatorOp op, std::optional<std::string> schedule) {
  auto plan = compiler_.compile(op, schedule);
  KernelCorpus *corpus = KernelCorpus::recording();
  if (corpus && succeeded(plan))
    corpus->addKernel(op, schedule, *plan);
  return plan;
}

void codegen::recordLaunch(const tokamak::abi::KernelPlan &plan, const TokArguments &arguments,
                           int64_t scalars, int64_t scratchDoubles,
                           const std::vector<int64_t> &partialCells,
                           const std::vector<StepRecord> &steps, const double *partials) {
  KernelCorpus *corpus = KernelCorpus::recording();
  if (!corpus)
    return;
  std::optional<int64_t> number = corpus->numberOf(plan);
  if (!number) // compiled by a test of the compiler itself
    return;
  int64_t outputs = 0;
  std::vector<bool> areIntegers;
  for (const tokamak::abi::KernelOutput &output : plan.outputs) {
    if (output.kind == tokamak::abi::KernelOutput::Kind::Array)
      ++outputs;
    else
      areIntegers.push_back(output.isInteger);
  }
  RecordWriter writer;
  LaunchRecord launch{};
  launch.kernel = *number;
  launch.inputs = static_cast<int64_t>(plan.inputs.size());
  launch.outputs = outputs;
  launch.partials = static_cast<int64_t>(partialCells.size());
  launch.steps = static_cast<int64_t>(steps.size());
  launch.scratchDoubles = scratchDoubles;
  for (const StepRecord &step : steps)
    launch.slots = std::max(launch.slots, step.into + 1);
  writer.append(launch);
  FilePlace arrays = 0;
  for (int64_t i = 0; i < launch.inputs + outputs; ++i) {
    FilePlace place = writer.append(ArrayRecord{});
    arrays = i == 0 ? place : arrays;
  }
  std::vector<FilePlace> partialPlaces;
  for (size_t i = 0; i < partialCells.size(); ++i)
    partialPlaces.push_back(writer.append(
        PartialRecord{tokamak::abi::partialDoubles(partialCells[i]), areIntegers[i] ? 1 : 0, 0}));
  for (const StepRecord &step : steps)
    writer.append(step);

  for (int64_t i = 0; i < launch.inputs + outputs; ++i) {
    const TokArray &array =
        i < launch.inputs ? arguments.inputs[i] : arguments.outputs[i - launch.inputs];
    ArrayRecord record = describe(array, writer);
    writer.at<ArrayRecord>(arrays + i * static_cast<FilePlace>(sizeof(ArrayRecord))) = record;
  }
  for (size_t i = 0; i < partialCells.size(); ++i) {
    int64_t doubles = tokamak::abi::partialDoubles(partialCells[i]);
    FilePlace expected = writer.appendData(partials, doubles * sizeof(double));
    writer.at<PartialRecord>(partialPlaces[i]).expected = expected;
    partials += doubles;
  }
  const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  FilePlace namePlace = writer.appendData(name.c_str(), name.size() + 1);
  FilePlace scalarPlace = writer.appendData(arguments.scalars, scalars * sizeof(double));
  FilePlace sizePlace = writer.appendData(arguments.sizes, plan.sizes.size() * sizeof(int64_t));
  std::string &bytes = writer.finish();
  auto &header = writer.at<LaunchRecord>(0);
  header.test = namePlace;
  header.scalars = scalarPlace;
  header.sizes = sizePlace;
  header.bytes = static_cast<int64_t>(bytes.size());
  corpus->addLaunch(bytes);
}
