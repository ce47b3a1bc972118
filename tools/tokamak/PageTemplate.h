// The page of `tokamak explain --html` without facts: tools/tokamak/page, with its style and script
// in one text, embedded at build time. `factsMark` stands where the facts belong.
//
//   std::string html(pageTemplate());
//   html.replace(html.find(factsMark), factsMark.size(), facts);
#ifndef TOKAMAK_TOOLS_TOKAMAK_PAGETEMPLATE_H
#define TOKAMAK_TOOLS_TOKAMAK_PAGETEMPLATE_H

#include <string_view>

namespace tokamak {

inline constexpr std::string_view factsMark = "/*facts*/";
std::string_view pageTemplate();

} // namespace tokamak
#endif
