// The bucket that a text falls into when columns or tokens are hashed.
//
//   bucketOf("hello", 8)                // 3
#ifndef TOKAMAK_RUNTIME_TRANSFORM_TEXTHASH_H
#define TOKAMAK_RUNTIME_TRANSFORM_TEXTHASH_H

#include <cstdint>
#include <string_view>

namespace tokamak::runtime {

// s[0] * 31^(n-1) + ... + s[n-1], modulo 2^32, of the text in UTF-16: the hash of java.lang.String, with which SystemDS
// fills buckets, too.
int32_t textHash(std::string_view text);
// From 1 to `buckets`.
int64_t bucketOf(std::string_view text, int64_t buckets);

} // namespace tokamak::runtime
#endif
