// tokamak-conformance [--of-largest SHARE] FOLDER...: runs cases of ONNX's conformance suites and prints a line for each:
//
//   passed      FOLDER
//   unsupported FOLDER: node 0 (Det, opset 11): the operator 'Det' is not supported yet
//
// Fails if a case does. With --of-largest, results may be off by so much of the largest cell. `./dev test onnx` runs it.
#include "tokamak-conformance/Case.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

using namespace tokamak::conformance;

int main(int argc, char **argv) {
  Resources resources;
  bool failed = false;
  std::optional<double> shareOfLargest;
  int first = 1;
  if (argc > 2 && std::string_view(argv[1]) == "--of-largest") {
    shareOfLargest = std::strtod(argv[2], nullptr);
    first = 3;
  }
  for (int i = first; i < argc; ++i) {
    Outcome outcome = runCase(argv[i], resources, shareOfLargest);
    switch (outcome.kind) {
    case Outcome::Kind::Passed:
      fmt::print("passed      {}\n", argv[i]);
      break;
    case Outcome::Kind::Unsupported:
      fmt::print("unsupported {}: {}\n", argv[i], outcome.reason);
      break;
    case Outcome::Kind::Failed:
      fmt::print("failed      {}: {}\n", argv[i], outcome.reason);
      failed = true;
      break;
    }
    std::fflush(stdout);
  }
  return failed ? 1 : 0;
}
