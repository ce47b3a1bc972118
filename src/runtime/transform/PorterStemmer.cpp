#include "runtime/transform/PorterStemmer.h"

#include <span>
#include <string_view>

namespace tokamak::runtime {
namespace {

using View = std::string_view;

bool isConsonant(View text, size_t place) {
  char letter = text[place];
  if (letter == 'y')
    return place == 0 || !isConsonant(text, place - 1);
  return View("aeiou").find(letter) == View::npos;
}

// The paper's m: how often consonants follow vowels.
int measure(View stem) {
  int count = 0;
  for (size_t i = 1; i < stem.size(); ++i)
    count += isConsonant(stem, i) && !isConsonant(stem, i - 1);
  return count;
}

bool hasVowel(View stem) {
  for (size_t i = 0; i < stem.size(); ++i)
    if (!isConsonant(stem, i))
      return true;
  return false;
}

bool endsInDoubleConsonant(View stem) {
  size_t size = stem.size();
  return size >= 2 && stem[size - 1] == stem[size - 2] && isConsonant(stem, size - 1);
}

// The paper's *o, as in "hop": the last consonant is not w, x or y.
bool endsLikeHop(View stem) {
  size_t size = stem.size();
  return size >= 3 && isConsonant(stem, size - 3) && !isConsonant(stem, size - 2) &&
         isConsonant(stem, size - 1) && View("wxy").find(stem.back()) == View::npos;
}

bool isBefore(View suffix, const std::string &word, View &stem) {
  if (!word.ends_with(suffix))
    return false;
  stem = View(word).substr(0, word.size() - suffix.size());
  return true;
}

struct Rule {
  View suffix, replacement;
};

// The first suffix that the word ends in is replaced if the rest measures more than `more`.
void applyFirst(std::span<const Rule> rules, int more, std::string &word) {
  View stem;
  for (const Rule &rule : rules)
    if (isBefore(rule.suffix, word, stem)) {
      bool fits = rule.suffix != "ion" || stem.ends_with('s') || stem.ends_with('t');
      if (fits && measure(stem) > more)
        word = std::string(stem).append(rule.replacement);
      return;
    }
}

void dropPlural(std::string &word) {
  View stem;
  if (isBefore("sses", word, stem) || isBefore("ies", word, stem))
    word.resize(word.size() - 2);
  else if (!word.ends_with("ss") && word.ends_with('s'))
    word.pop_back();
}

void dropPastOrGerund(std::string &word) {
  View stem;
  if (isBefore("eed", word, stem)) {
    if (measure(stem) > 0)
      word.pop_back();
    return;
  }
  if (!(isBefore("ed", word, stem) || isBefore("ing", word, stem)) || !hasVowel(stem))
    return;
  word = std::string(stem);
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz"))
    word += 'e';
  else if (endsInDoubleConsonant(word) && View("lsz").find(word.back()) == View::npos)
    word.pop_back();
  else if (measure(word) == 1 && endsLikeHop(word))
    word += 'e';
}

// Of suffixes that end alike the longer one is first.
constexpr Rule twoSuffixes[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
    {"abli", "able"},   {"alli", "al"},     {"entli", "ent"}, {"ousli", "ous"}, {"eli", "e"},
    {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
    {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"}};
constexpr Rule derivations[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
constexpr Rule endings[] = {{"al", ""},   {"ance", ""}, {"ence", ""}, {"er", ""},    {"ic", ""},
                            {"able", ""}, {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
                            {"ent", ""},  {"ion", ""},  {"ou", ""},   {"ism", ""},   {"ate", ""},
                            {"iti", ""},  {"ous", ""},  {"ive", ""},  {"ize", ""}};

void dropLastE(std::string &word) {
  View stem;
  if (isBefore("e", word, stem)) {
    int size = measure(stem);
    if (size > 1 || (size == 1 && !endsLikeHop(stem)))
      word.pop_back();
  }
  if (word.ends_with("ll") && measure(word) > 1)
    word.pop_back();
}

} // namespace

std::string porterStem(std::string word) {
  if (word.size() <= 2)
    return word;
  dropPlural(word);
  dropPastOrGerund(word);
  View stem;
  if (isBefore("y", word, stem) && hasVowel(stem))
    word.back() = 'i';
  applyFirst(twoSuffixes, 0, word);
  applyFirst(derivations, 0, word);
  applyFirst(endings, 1, word);
  dropLastE(word);
  return word;
}

} // namespace tokamak::runtime
