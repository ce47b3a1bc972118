// libpcre2, opened when a program first uses a regular expression. Its headers are not needed: these are the functions that are
// used, whose names are the library's without "pcre2_" and "_8".
//
//   const PatternLibrary &library = PatternLibrary::instance();     // Error if it can't be opened
//   int error = 0;
//   size_t place = 0;
//   void *code = library.compile("a+", 2, PatternLibrary::utf, &error, &place, nullptr);
#ifndef TOKAMAK_RUNTIME_TRANSFORM_PATTERNLIBRARY_H
#define TOKAMAK_RUNTIME_TRANSFORM_PATTERNLIBRARY_H

#include <cstddef>
#include <cstdint>

namespace tokamak::runtime {

struct PatternLibrary {
  // Options: texts are UTF-8, and match nowhere in what isn't; a match begins and ends where the text does.
  static constexpr uint32_t utf = 0x00080000, invalidUtf = 0x04000000, anchored = 0x80000000,
                            endAnchored = 0x20000000;
  static constexpr int noMatch = -1;          // result of match
  static constexpr int noSubstring = -49;     // of substring_number_from_name
  static constexpr size_t unset = ~size_t{0}; // offset of a group

  void *(*compile)(const char *pattern, size_t length, uint32_t options, int *error, size_t *place,
                   void *context) = nullptr;
  void (*code_free)(void *code) = nullptr;
  int (*get_error_message)(int error, char *text, size_t room) = nullptr;
  void *(*match_data_create_from_pattern)(const void *code, void *context) = nullptr;
  void (*match_data_free)(void *data) = nullptr;
  // The number of groups with a match, or what is below 0: noMatch, or an error.
  int (*match)(const void *code, const char *text, size_t length, size_t from, uint32_t options,
               void *data, void *context) = nullptr;
  size_t *(*get_ovector_pointer)(void *data) = nullptr;
  uint32_t (*get_ovector_count)(void *data) = nullptr;
  int (*substring_number_from_name)(const void *code, const char *name) = nullptr;

  // Throws Error if the library can't be opened or lacks a function.
  static const PatternLibrary &instance();
};

} // namespace tokamak::runtime
#endif
