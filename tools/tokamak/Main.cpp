#include "tokamak/Commands.h"
#include "tokamak/InterruptSignals.h"

#include "frontend/dml/LanguageStatus.h"

#include <csignal>
#include <iostream>

// A crash is a bug of ours: it says so and leaves a reproducer.
static const tokamak::CommandLine *runningLine = nullptr;

static void reportCrash(int signal) {
  std::signal(signal, SIG_DFL);
  std::cerr << "tokamak: internal error: signal " << signal << '\n';
  if (runningLine)
    tokamak::writeReproducer(*runningLine, "signal " + std::to_string(signal));
  std::_Exit(tokamak::InternalFailure);
}

int main(int argc, char **argv) {
  tokamak::CommandLine line;
  if (auto status = tokamak::parseCommandLine(argc, argv, line))
    return *status;
  runningLine = &line;
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE})
    std::signal(signal, reportCrash);
  tokamak::stopOnInterrupt();
  try {
    switch (line.command) {
    case tokamak::Command::Doctor:
      return tokamak::doctorCommand();
    case tokamak::Command::LanguageStatus:
      std::cout << tokamak::frontend::languageStatusMarkdown();
      return tokamak::Success;
    default:
      return tokamak::scriptCommand(line);
    }
  } catch (const std::exception &error) {
    std::cerr << "tokamak: internal error: " << error.what() << '\n';
    tokamak::writeReproducer(line, error.what());
    return tokamak::InternalFailure;
  }
}
