#include "tokamak/InterruptSignals.h"

#include "base/Interrupt.h"
#include "tokamak/Commands.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

static void onInterrupt(int) {
  auto say = [](const char *text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
      return; // nobody listens
  };
  if (tokamak::isInterruptRequested())
    _exit(tokamak::Interrupted);
  tokamak::requestInterrupt();
  say("tokamak: stopping; once more stops at once\n");
}

void tokamak::stopOnInterrupt() {
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART; // whoever reads or writes goes on, and asks soon
  for (int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}
