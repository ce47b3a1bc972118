// tokamak-conformance FOLDER...: runs cases of ONNX's conformance suites and prints a line for each:
//
//   passed      FOLDER
//   unsupported FOLDER: node 0 (Det, opset 11): the operator 'Det' is not supported yet
//
// Fails if a case does. `./dev test onnx` runs it.
#include "tokamak-conformance/Case.h"

#include <fmt/format.h>

using namespace tokamak::conformance;

int main(int argc, char **argv) {
  Resources resources;
  bool failed = false;
  for (int i = 1; i < argc; ++i) {
    Outcome outcome = runCase(argv[i], resources);
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
