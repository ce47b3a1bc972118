// Documents made from the same description of the command line as --help: they can't disagree.
//
//   std::cout << manualPage(app);                  // roff, for man
//   std::cout << completionScript(app, "bash");    // to be sourced
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
