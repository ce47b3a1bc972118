// The hashes of Java's values, with which SystemDS fills buckets, too, when columns or tokens are hashed.
//
//   bucketOf(hashOf("hello"), 8)                // 3
#ifndef TOKAMAK_RUNTIME_TRANSFORM_TEXTHASH_H
#define TOKAMAK_RUNTIME_TRANSFORM_TEXTHASH_H

#include <cstdint>
#include <string_view>

namespace tokamak::runtime {

// s[0] * 31^(n-1) + ... + s[n-1], modulo 2^32, of the text in UTF-16.
int32_t hashOf(std::string_view text);
// Both halves of the bits, combined by exclusive or; of a double, those of any NaN.
int32_t hashOf(int64_t number);
int32_t hashOf(double number);

// From 1 to `buckets`: that of a cell, by the size of the hash, and that of a token, by the hash modulo `buckets`.
int64_t bucketOf(int32_t hash, int64_t buckets);
int64_t bucketOfToken(int32_t hash, int64_t buckets);

} // namespace tokamak::runtime
#endif
