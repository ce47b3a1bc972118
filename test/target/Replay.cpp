// Runs the launches that tests of code generation recorded (src/codegen/testing/LaunchRecord.h) with the
// kernels that it is linked with, and compares every bit of their results; any NaN equals any NaN.
//
//   qemu-aarch64 replay FOLDER/launches
//
// For each test it prints `passed SUITE.TEST LAUNCHES` or `FAILED SUITE.TEST` and what differs first.
// The last line is `NANOSECONDS ns in kernels`. There is no C library: it is compiled for targets
// whose libraries are not installed.
#include "System.h"

#include "codegen/testing/LaunchRecord.h"

using namespace tokamak::codegen;

#define TOKAMAK_KERNEL(name)                                                                       \
  extern "C" int32_t name(const TokArguments *, const TokTile *, TokWorkspace *);
#define TOKAMAK_KERNEL_AND_MERGE(name)                                                             \
  TOKAMAK_KERNEL(name)                                                                             \
  extern "C" void name##_merge(const TokArguments *, double *, const double *);
#include "kernels.def"
#undef TOKAMAK_KERNEL
#undef TOKAMAK_KERNEL_AND_MERGE

namespace {

struct Kernel {
  const char *name;
  TokKernel run;
  TokMerge merge;
};

const Kernel kernels[] = {
#define TOKAMAK_KERNEL(name) {#name, name, nullptr},
#define TOKAMAK_KERNEL_AND_MERGE(name) {#name, name, name##_merge},
#include "kernels.def"
};

// Outputs, partial results and scratch are filled with this before a launch, as the launchers of the
// tests do it, so that a cell that was not to be written shows.
constexpr double unwritten = -7777;
constexpr int64_t mostArrays = 64, mostSlots = 4096;

// Memory of one launch, 64-byte aligned.
class Arena {
public:
  void clear() { used_ = 0; }
  char *allocate(int64_t bytes) {
    int64_t doubles = (bytes + 7) / 8 + 1;
    auto *data = reinterpret_cast<double *>(memory_ + used_);
    used_ += (doubles * 8 + 63) / 64 * 64;
    if (used_ > size)
      stop("a launch needs more memory than there is");
    for (int64_t i = 0; i < doubles; ++i)
      data[i] = unwritten;
    return reinterpret_cast<char *>(data);
  }
  // Whether what follows the `bytes` of an allocation is as it was.
  static bool isEndIntact(const char *data, int64_t bytes) {
    return *reinterpret_cast<const double *>(data + (bytes + 7) / 8 * 8) == unwritten;
  }

private:
  static constexpr int64_t size = int64_t(1) << 30;
  char *memory_ = reserve(size);
  int64_t used_ = 0;
};

// The bits of a cell of this type that are no NaN.
struct CellBits {
  int64_t bytes;
  uint64_t magnitude, infinity; // of floats; a NaN's magnitude is above infinity's
};
CellBits bitsOf(int64_t elementType) {
  switch (elementType) {
  case TOK_F64:
    return {8, 0x7fffffffffffffff, 0x7ff0000000000000};
  case TOK_F32:
    return {4, 0x7fffffff, 0x7f800000};
  case TOK_F16:
    return {2, 0x7fff, 0x7c00};
  case TOK_BF16:
    return {2, 0x7fff, 0x7f80};
  case TOK_I64:
  case TOK_U64:
    return {8, 0, 0};
  case TOK_I32:
  case TOK_U32:
    return {4, 0, 0};
  case TOK_I16:
  case TOK_U16:
    return {2, 0, 0};
  default:
    return {1, 0, 0};
  }
}

uint64_t cellAt(const char *data, int64_t bytes) {
  uint64_t cell = 0;
  for (int64_t i = 0; i < bytes; ++i)
    cell |= static_cast<uint64_t>(static_cast<uint8_t>(data[i])) << 8 * i;
  return cell;
}

struct Difference {
  const char *where; // null: there is none
  int64_t number, cell;
  uint64_t is, should;
};

// Compares `bytes` of results of this type.
Difference compare(const char *where, int64_t number, int64_t elementType, const char *is,
                   const char *should, int64_t bytes) {
  CellBits bits = bitsOf(elementType);
  auto isNan = [&](uint64_t cell) { return (cell & bits.magnitude) > bits.infinity; };
  for (int64_t i = 0; i + bits.bytes <= bytes; i += bits.bytes) {
    uint64_t left = cellAt(is + i, bits.bytes), right = cellAt(should + i, bits.bytes);
    if (left != right && !(isNan(left) && isNan(right)))
      return {where, number, i / bits.bytes, left, right};
  }
  return {};
}

class Launch {
public:
  Launch(const char *record, Arena &arena)
      : record_(record), header_(*reinterpret_cast<const LaunchRecord *>(record)), arena_(arena) {}

  Difference run() {
    arena_.clear();
    auto *arrays = reinterpret_cast<const ArrayRecord *>(record_ + sizeof(LaunchRecord));
    auto *partials =
        reinterpret_cast<const PartialRecord *>(arrays + header_.inputs + header_.outputs);
    auto *steps = reinterpret_cast<const StepRecord *>(partials + header_.partials);
    if (header_.inputs > mostArrays || header_.outputs > mostArrays || header_.slots > mostSlots)
      stop("a launch has more arrays or tiles than this program foresees");
    TokArray inputs[mostArrays], outputs[mostArrays];
    for (int64_t i = 0; i < header_.inputs; ++i)
      inputs[i] = array(arrays[i], const_cast<char *>(record_ + arrays[i].data));
    const ArrayRecord *results = arrays + header_.inputs;
    for (int64_t i = 0; i < header_.outputs; ++i)
      outputs[i] = array(results[i], arena_.allocate(results[i].bytes));
    int64_t slotDoubles = 0;
    for (int64_t i = 0; i < header_.partials; ++i)
      slotDoubles += partials[i].doubles;
    double *slots[mostSlots];
    for (int64_t i = 0; i < header_.slots; ++i)
      slots[i] = reinterpret_cast<double *>(arena_.allocate(slotDoubles * 8));
    TokArguments arguments{TOK_ABI_VERSION, inputs,
                           reinterpret_cast<const double *>(record_ + header_.scalars), outputs,
                           reinterpret_cast<const int64_t *>(record_ + header_.sizes)};
    runSteps(arguments, steps, slots);
    return difference(results, outputs, partials, reinterpret_cast<const char *>(slots[0]));
  }

private:
  TokArray array(const ArrayRecord &array, void *data) const {
    auto at = [&](FilePlace place) { return place == 0 ? nullptr : record_ + place; };
    return {data,
            {array.rows, array.columns},
            static_cast<uint8_t>(array.elementType),
            static_cast<uint8_t>(array.layout),
            /*bypassesCaches=*/1, // which changes no cell
            reinterpret_cast<const int64_t *>(at(array.rowOffsets)),
            reinterpret_cast<const int32_t *>(at(array.columnIndices))};
  }

  void runSteps(const TokArguments &arguments, const StepRecord *steps, double **slots) {
    const Kernel &kernel = kernels[header_.kernel];
    auto *scratch = reinterpret_cast<double *>(arena_.allocate(header_.scratchDoubles * 8));
    for (int64_t i = 0; i < header_.steps; ++i) {
      const StepRecord &step = steps[i];
      if (step.from >= 0) {
        kernel.merge(&arguments, slots[step.into], slots[step.from]);
        continue;
      }
      TokWorkspace workspace{scratch, slots[step.into], -1};
      if (kernel.run(&arguments, &step.tile, &workspace) != 0)
        stop("a kernel failed");
    }
  }

  Difference difference(const ArrayRecord *results, const TokArray *outputs,
                        const PartialRecord *partials, const char *slot) const {
    for (int64_t i = 0; i < header_.outputs; ++i) {
      auto *data = static_cast<const char *>(outputs[i].data);
      if (Difference found = compare("result", i, results[i].elementType, data,
                                     record_ + results[i].data, results[i].bytes);
          found.where)
        return found;
      if (!Arena::isEndIntact(data, results[i].bytes))
        return {"memory behind result", i};
    }
    int64_t bytes = 0;
    for (int64_t i = 0; i < header_.partials; ++i) {
      if (Difference found =
              compare("aggregate", i, partials[i].isInteger ? TOK_I64 : TOK_F64, slot + bytes,
                      record_ + partials[i].expected, partials[i].doubles * 8);
          found.where)
        return found;
      bytes += partials[i].doubles * 8;
    }
    if (!Arena::isEndIntact(slot, bytes))
      return {"memory behind aggregate", header_.partials};
    return {};
  }

  const char *record_;
  const LaunchRecord &header_;
  Arena &arena_;
};

// The launches of one test that follow each other.
struct TestReport {
  const char *name = nullptr;
  int64_t launches = 0;
  bool passed = true;

  void print() const {
    if (name)
      Line() << (passed ? "passed " : "FAILED ") << name << " " << launches;
  }
};

bool isSame(const char *a, const char *b) {
  while (*a && *a == *b)
    ++a, ++b;
  return *a == *b;
}

} // namespace

int run(int count, char **arguments) {
  if (count != 2)
    stop("usage: replay FILE");
  File file = map(arguments[1]);
  Arena arena;
  TestReport test;
  int64_t nanoseconds = 0;
  for (int64_t at = 0; at < file.bytes;) {
    auto *record = reinterpret_cast<const LaunchRecord *>(file.data + at);
    const char *name = file.data + at + record->test;
    if (!test.name || !isSame(test.name, name)) {
      test.print();
      test = {name};
    }
    ++test.launches;
    int64_t start = now();
    Difference found = Launch(file.data + at, arena).run();
    nanoseconds += now() - start;
    if (found.where && test.passed) {
      test.passed = false;
      Line() << kernels[record->kernel].name << ", launch " << test.launches << ": " << found.where
             << " " << found.number << ", cell " << found.cell << ": " << Hexadecimal{found.is}
             << " instead of " << Hexadecimal{found.should};
    }
    at += record->bytes;
  }
  test.print();
  Line() << nanoseconds << " ns in kernels";
  return 0;
}
