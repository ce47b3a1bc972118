// Texts of a frame, cut into tokens: one document in each row.
//
//   TokenizeSpec spec = TokenizeSpec::parse(
//       R"({"algo": "split", "out": "count", "id_cols": [1], "tokenize_col": 2})", frame);
//   FramePointer counts = tokenize(frame, spec);          // document, token, how often
#ifndef TOKAMAK_RUNTIME_TRANSFORM_TOKENIZER_H
#define TOKAMAK_RUNTIME_TRANSFORM_TOKENIZER_H

#include "runtime/values/Frame.h"

namespace tokamak::runtime {

struct TokenizeSpec {
  std::string separator = "\\s+";        // a regular expression
  int64_t leastWords = 1, mostWords = 1; // of a token; more than one word: n-grams
  // Long: one row for each (token, how often), (place of the token in the text, token), or (bucket, how often). Wide: one
  // row for each document.
  enum class Output : uint8_t { Count, Position, Hash } output = Output::Count;
  bool isWide = false;
  bool isSorted = false;  // tokens by the alphabet; otherwise as they come
  int64_t buckets = 0;    // of hashes
  int64_t mostTokens = 0; // of a document; 0: all
  std::vector<int64_t> documentColumns;
  int64_t textColumn = 0;

  // Throws Error for what is no JSON, unknown keys and columns that there are not.
  static TokenizeSpec parse(std::string_view text, const Frame &frame);
};

// The columns that name the document, as texts, then those of the output. Throws Error.
FramePointer tokenize(const Frame &frame, const TokenizeSpec &spec);

} // namespace tokamak::runtime
#endif
