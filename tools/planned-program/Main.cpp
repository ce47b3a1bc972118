// The main program of an ahead-of-time compiled script: runs an image with the kernels that are
// linked in. It needs neither MLIR nor LLVM.
//
//   program IMAGE [THREADS]
#include "abi/KernelTable.h"
#include "base/PlaceText.h"
#include "runtime/image/Executor.h"
#include "runtime/image/PlannedProgram.h"
#include "runtime/parallel/TileScheduler.h"

#include <cstdlib>
#include <iostream>
#include <span>

using namespace tokamak;

static runtime::KernelCode findKernel(const std::string &name) {
  for (const TokKernelEntry &entry : std::span(tokKernels, tokKernelCount))
    if (name == entry.name)
      return {entry.kernel, entry.merge};
  return {};
}

static void report(const Error &error) {
  const SourcePlace &place = error.place();
  if (place.isKnown())
    std::cerr << placeText(place) << ": ";
  std::cerr << "error: " << error.message() << '\n';
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: " << argv[0] << " IMAGE [THREADS]\n";
    return 2;
  }
  try {
    runtime::PlannedProgram program = runtime::PlannedProgram::read(argv[1], findKernel);
    runtime::PlanTable plans(program);
    runtime::Scheduler scheduler(argc == 3 ? std::atoi(argv[2]) : 1);
    runtime::ExecutionContext context;
    context.output = &std::cout;
    context.scheduler = &scheduler;
    runtime::Executor(program.image, &plans, context).run();
    std::cout.flush();
    return 0;
  } catch (const Error &error) {
    std::cout.flush();
    report(error);
    return error.kind() == ErrorKind::Internal ? 70 : 1;
  }
}
