// Documents generated from the description of the command line that --help uses, so that they
// always agree with it.
//
//   std::cout << manualPage(app);                  // roff, for man
//   std::cout << completionScript(app, "bash");    // for the shell to source
#ifndef TOKAMAK_TOOLS_TOKAMAK_COMMANDDOCUMENTS_H
#define TOKAMAK_TOOLS_TOKAMAK_COMMANDDOCUMENTS_H

#include <string>

namespace CLI {
class App;
}

namespace tokamak {

std::string manualPage(const CLI::App &app);
// `shell` is bash, zsh or fish.
std::string completionScript(const CLI::App &app, const std::string &shell);

} // namespace tokamak
#endif
