#include "runtime/transform/PatternLibrary.h"

#include "base/OptionalLibrary.h"

namespace tokamak::runtime {

static PatternLibrary openLibrary() {
  const OptionalLibrary opened({"libpcre2-8.so.0"},
                               "regular expressions need the library libpcre2-8", "libpcre2-8-0");
  PatternLibrary library;
  opened.bind("pcre2_compile_8", library.compile);
  opened.bind("pcre2_code_free_8", library.code_free);
  opened.bind("pcre2_get_error_message_8", library.get_error_message);
  opened.bind("pcre2_match_data_create_from_pattern_8", library.match_data_create_from_pattern);
  opened.bind("pcre2_match_data_free_8", library.match_data_free);
  opened.bind("pcre2_match_8", library.match);
  opened.bind("pcre2_get_ovector_pointer_8", library.get_ovector_pointer);
  opened.bind("pcre2_get_ovector_count_8", library.get_ovector_count);
  opened.bind("pcre2_substring_number_from_name_8", library.substring_number_from_name);
  return library;
}

const PatternLibrary &PatternLibrary::instance() {
  static const PatternLibrary library = openLibrary();
  return library;
}

} // namespace tokamak::runtime
