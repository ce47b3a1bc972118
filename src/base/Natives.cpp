#include "base/Natives.h"

#include <algorithm>
#include <map>

namespace tokamak {
namespace {

NativeOperand operandNamed(std::string_view name) {
  static const std::map<std::string_view, NativeOperand> kinds = {
      {"value", NativeOperand::Value},   {"array", NativeOperand::Array},
      {"number", NativeOperand::Number}, {"string", NativeOperand::String},
      {"scalar", NativeOperand::Scalar}, {"list", NativeOperand::List},
      {"frame", NativeOperand::Frame}};
  return kinds.at(name);
}

bool dropSuffix(std::string_view &text, std::string_view suffix) {
  bool has = text.ends_with(suffix);
  text.remove_suffix(has ? suffix.size() : 0);
  return has;
}

// "array, number?"
std::vector<NativeSignature::Part> partsOf(std::string_view text) {
  std::vector<NativeSignature::Part> parts;
  while (!text.empty()) {
    size_t comma = text.find(", ");
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 2);
    bool isRepeated = dropSuffix(word, "..."), mayBeAbsent = dropSuffix(word, "?");
    parts.push_back({operandNamed(word), mayBeAbsent, isRepeated});
  }
  return parts;
}

NativeSignature parseSignature(std::string_view text) {
  size_t arrow = text.find("->");
  std::string_view operands = text.substr(0, arrow), results = text.substr(arrow + 2);
  dropSuffix(operands, " ");
  results.remove_prefix(results.starts_with(" ") ? 1 : 0);
  return {partsOf(operands), partsOf(results)};
}

const NativeRow rows[] = {
#define TOKAMAK_NATIVE(Name, mnemonic, SIGNATURE, SHAPE, ACCESS, RANKS, EFFECT, PER, FLOPS, ROWS,  \
                       ERRORS, MEANING)                                                            \
  {NativeKind::Name,                                                                               \
   #mnemonic,                                                                                      \
   parseSignature(SIGNATURE),                                                                      \
   NativeShape::SHAPE,                                                                             \
   NativeAccess::ACCESS,                                                                           \
   NativeRanks::RANKS,                                                                             \
   NativeEffect::EFFECT,                                                                           \
   NativeCost::PER,                                                                                \
   FLOPS,                                                                                          \
   RowSplit::ROWS,                                                                                 \
   NativeErrors::ERRORS,                                                                           \
   NativeMeaning::MEANING},
#include "base/Natives.def"
};

} // namespace

bool NativeSignature::takes(size_t count) const {
  size_t least = operands.size();
  while (least > 0 && (operands[least - 1].mayBeAbsent || operands[least - 1].isRepeated))
    --least;
  bool isRepeated = !operands.empty() && operands.back().isRepeated;
  return count >= least && (isRepeated || count <= operands.size());
}

const NativeSignature::Part &NativeSignature::operand(size_t number) const {
  return operands[std::min(number, operands.size() - 1)];
}

size_t NativeRow::movedOperands(size_t operands) const {
  switch (errors) {
  case NativeErrors::Moves1:
    return 1;
  case NativeErrors::Moves2:
    return 2;
  case NativeErrors::MovesAll:
    return operands;
  default:
    return 0;
  }
}

bool NativeRow::hasSizesFromCells() const {
  return shape == NativeShape::Unknown || shape == NativeShape::Sequence ||
         shape == NativeShape::NonEmpty || shape == NativeShape::Found;
}

const NativeRow &rowOf(NativeKind kind) { return rows[static_cast<size_t>(kind)]; }

const NativeRow *findNativeRow(std::string_view name) {
  static const std::map<std::string_view, const NativeRow *> index = [] {
    std::map<std::string_view, const NativeRow *> found;
    for (const NativeRow &row : rows)
      found.emplace(row.name, &row);
    return found;
  }();
  auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

std::span<const NativeRow> allNativeRows() { return rows; }

} // namespace tokamak
