// Suggestions for unknown commands and options on the command line.
//
//   complaintAbout(app, {"rum", "f.dml"})
//       // unknown command 'rum'; did you mean 'run'?
//   complaintAbout(app, {"run", "f.dml", "--treads=2"})
//       // unknown option '--treads'; did you mean ...
#ifndef TOKAMAK_TOOLS_TOKAMAK_WORDSUGGESTIONS_H
#define TOKAMAK_TOOLS_TOKAMAK_WORDSUGGESTIONS_H

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tokamak {

// Returns nothing if the command and all option names are known; does not check how they are used.
std::optional<std::string> complaintAbout(const CLI::App &app,
                                          const std::vector<std::string> &words);

} // namespace tokamak
#endif
