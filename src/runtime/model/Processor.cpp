#include "runtime/model/Processor.h"

#include "abi/ProcessorFeatures.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace tokamak;

std::vector<std::string_view> runtime::missingFeatures(uint64_t needed) {
  std::vector<std::string_view> missing;
  uint64_t bit = 1;
  auto check = [&](std::string_view name, bool has) {
    if ((needed & bit) != 0 && !has)
      missing.push_back(name);
    bit <<= 1;
  };
#if defined(__x86_64__)
#define CHECK(name) check(name, __builtin_cpu_supports(name));
  TOK_X86_FEATURES(CHECK)
#elif defined(__aarch64__)
#define CHECK(name, word, place) check(name, (getauxval(word) >> (place) & 1) != 0);
  TOK_AARCH64_FEATURES(CHECK)
#endif
#undef CHECK
  return missing;
}
