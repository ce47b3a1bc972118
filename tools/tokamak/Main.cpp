#include "tokamak/Commands.h"
#include "tokamak/CrashSignals.h"
#include "tokamak/ExhaustedMemory.h"
#include "tokamak/InterruptSignals.h"
#include "tokamak/Reproducer.h"
#include "tokamak/StandardStreams.h"

#include "base/MemoryErrors.h"
#include "frontend/dml/LanguageStatus.h"
#include "frontend/onnx/OperatorTable.h"

#include <iostream>
#include <new>

using namespace tokamak;

static int run(int argc, char **argv) {
  CommandLine line;
  if (auto status = parseCommandLine(argc, argv, line))
    return *status;
  switch (line.command) {
  case Command::Compile:
    return compileCommand(line);
  case Command::Doctor:
    return doctorCommand(line);
  case Command::LanguageStatus:
    std::cout << frontend::languageStatusMarkdown();
    return Success;
  case Command::OnnxOperators:
    std::cout << onnx::operatorTableMarkdown();
    return Success;
  default:
    return scriptCommand(line);
  }
}

// Reports an error of a command without a script, or before the script is read: it has no source
// place.
static int reportError(const Error &error) {
  bool isInternal = error.kind() == ErrorKind::Internal;
  std::cerr << "tokamak: " << (isInternal ? "internal error: " : "error: ") << error.message()
            << '\n';
  if (!isInternal)
    return Rejected;
  writeReproducer(error.what());
  return InternalFailure;
}

// Runs the command and reports every failure.
static int runGuarded(int argc, char **argv) {
  try {
    prepareReproducer(argc, argv);
    reportCrashes();
    endWhereMemoryIsRefused();
    stopOnInterrupt();
    return run(argc, argv);
  } catch (const Error &error) {
    return reportError(error);
  } catch (const std::bad_alloc &) {
    return reportError(refusedMemory());
  } catch (const std::exception &error) {
    return reportError(Error(error.what(), ErrorKind::Internal));
  }
}

int main(int argc, char **argv) {
  openStandardStreams();
  int status = runGuarded(argc, argv);
  if (status != Success)
    return status;
  try {
    flushOutput();
    return status;
  } catch (const Error &error) {
    std::cerr << "tokamak: error: " << error.message() << '\n';
    return RunFailed;
  }
}
