// What the user may have meant by a word of the command line that nothing is called by.
//
//   complaintAbout(app, {"rum", "f.dml"})               // unknown command 'rum'; did you mean
//   'run'? complaintAbout(app, {"run", "f.dml", "--treads=2"}) // unknown option '--treads'; did
//   you mean ...
#ifndef TOKAMAK_TOOLS_TOKAMAK_WORDSUGGESTIONS_H
#define TOKAMAK_TOOLS_TOKAMAK_WORDSUGGESTIONS_H

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tokamak {

// Nothing where the command and the names of all options are known; whether they are used as they
// should be is not looked at.
std::optional<std::string> complaintAbout(const CLI::App &app,
                                          const std::vector<std::string> &words);

} // namespace tokamak
#endif
