// Generates docs/language-status.md: which parts of DML run and which do not yet.
//
//   std::cout << languageStatusMarkdown();
#ifndef TOKAMAK_FRONTEND_DML_LANGUAGESTATUS_H
#define TOKAMAK_FRONTEND_DML_LANGUAGESTATUS_H

#include <string>

namespace tokamak::frontend {

/// Markdown: the constructs of the language, then the builtins of Builtins.def by theme.
std::string languageStatusMarkdown();

} // namespace tokamak::frontend

#endif // TOKAMAK_FRONTEND_DML_LANGUAGESTATUS_H
