#include "runtime/transform/JavaHash.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tokamak::runtime {
namespace {

// The next character in UTF-16.
struct CodeUnits {
  uint32_t first, second; // the second one is 0 if there is none
};

CodeUnits nextCodeUnits(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  uint32_t lead = byte(at);
  size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  if (more == 0 || at + more >= text.size()) {
    ++at;
    return {lead, 0};
  }
  uint32_t point = lead & (0x3fU >> more);
  for (size_t i = 1; i <= more; ++i)
    point = point << 6 | (byte(at + i) & 0x3f);
  at += more + 1;
  if (point < 0x10000)
    return {point, 0};
  point -= 0x10000;
  return {0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff)};
}

} // namespace

int32_t hashOf(std::string_view text) {
  uint32_t hash = 0;
  for (size_t at = 0; at < text.size();) {
    CodeUnits units = nextCodeUnits(text, at);
    hash = 31 * hash + units.first;
    if (units.second != 0)
      hash = 31 * hash + units.second;
  }
  return static_cast<int32_t>(hash);
}

int32_t hashOf(int64_t number) {
  auto bits = static_cast<uint64_t>(number);
  return static_cast<int32_t>(static_cast<uint32_t>(bits ^ bits >> 32));
}

int32_t hashOf(double number) {
  constexpr double anyNan = std::numeric_limits<double>::quiet_NaN();
  return hashOf(std::bit_cast<int64_t>(std::isnan(number) ? anyNan : number));
}

int64_t bucketOf(int32_t hash, int64_t buckets) { return std::abs(int64_t{hash}) % buckets + 1; }

int64_t bucketOfToken(int32_t hash, int64_t buckets) {
  int64_t rest = hash % buckets;
  return (rest < 0 ? rest + buckets : rest) + 1;
}

} // namespace tokamak::runtime
