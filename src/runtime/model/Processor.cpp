#include "runtime/model/Processor.h"

#include "abi/ProcessorFeatures.h"

using namespace tokamak;

std::vector<std::string_view> runtime::missingFeatures([[maybe_unused]] uint64_t needed) {
  std::vector<std::string_view> missing;
#if defined(__x86_64__)
  uint64_t bit = 1;
  auto check = [&](std::string_view name, bool has) {
    if ((needed & bit) != 0 && !has)
      missing.push_back(name);
    bit <<= 1;
  };
#define CHECK(name) check(name, __builtin_cpu_supports(name));
  TOK_X86_FEATURES(CHECK)
#undef CHECK
#endif
  return missing;
}
