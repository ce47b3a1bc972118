#include "runtime/transform/PorterStemmer.h"

#include <gtest/gtest.h>
#include <utility>

namespace tokamak::runtime {
namespace {

// The examples of the paper, and words that are no words.
TEST(PorterStemmer, StripsSuffixes) {
  constexpr std::pair<const char *, const char *> stems[] = {
      {"caresses", "caress"}, {"ponies", "poni"}, {"ties", "ti"}, {"caress", "caress"},
      {"cats", "cat"}, {"feed", "feed"}, {"agreed", "agre"}, {"plastered", "plaster"},
      {"bled", "bled"}, {"motoring", "motor"}, {"sing", "sing"}, {"conflated", "conflat"},
      {"troubled", "troubl"}, {"sized", "size"}, {"hopping", "hop"}, {"tanned", "tan"},
      {"falling", "fall"}, {"hissing", "hiss"}, {"fizzed", "fizz"}, {"failing", "fail"},
      {"filing", "file"}, {"happy", "happi"}, {"sky", "sky"}, {"relational", "relat"},
      {"conditional", "condit"}, {"rational", "ration"}, {"valenci", "valenc"},
      {"hesitanci", "hesit"}, {"digitizer", "digit"}, {"conformabli", "conform"},
      {"radicalli", "radic"}, {"differentli", "differ"}, {"vileli", "vile"},
      {"analogousli", "analog"}, {"vietnamization", "vietnam"}, {"predication", "predic"},
      {"operator", "oper"}, {"feudalism", "feudal"}, {"decisiveness", "decis"},
      {"hopefulness", "hope"}, {"callousness", "callous"}, {"formaliti", "formal"},
      {"sensitiviti", "sensit"}, {"sensibiliti", "sensibl"}, {"triplicate", "triplic"},
      {"formative", "form"}, {"formalize", "formal"}, {"electriciti", "electr"},
      {"electrical", "electr"}, {"hopeful", "hope"}, {"goodness", "good"}, {"revival", "reviv"},
      {"allowance", "allow"}, {"inference", "infer"}, {"airliner", "airlin"},
      {"gyroscopic", "gyroscop"}, {"adjustable", "adjust"}, {"defensible", "defens"},
      {"irritant", "irrit"}, {"replacement", "replac"}, {"adjustment", "adjust"},
      {"dependent", "depend"}, {"adoption", "adopt"}, {"homologou", "homolog"},
      {"communism", "commun"}, {"activate", "activ"}, {"angulariti", "angular"},
      {"homologous", "homolog"}, {"effective", "effect"}, {"bowdlerize", "bowdler"},
      {"probate", "probat"}, {"rate", "rate"}, {"cease", "ceas"}, {"controll", "control"},
      {"roll", "roll"}, {"is", "is"}, {"RUNNING", "RUNNING"}, {"boys", "boi"},
      {"yellow", "yellow"}, {"dying", "dy"}, {"ion", "ion"}, {"ies", "i"}, {"eed", "eed"},
      {"bed", "bed"}};
  for (auto [word, stem] : stems)
    EXPECT_EQ(porterStem(word), stem) << word;
}

} // namespace
} // namespace tokamak::runtime
