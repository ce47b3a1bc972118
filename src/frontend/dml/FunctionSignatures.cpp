#include "frontend/dml/FunctionSignatures.h"

#include "base/CellOperators.h"
#include "frontend/dml/ProgramLoader.h"

#include <fmt/format.h>

#include <cmath>

namespace tokamak::frontend {

std::string FunctionSignature::Parameter::typeText() const {
  if (type.dataType == DeclaredDataType::Scalar)
    return spelling(type.valueType);
  return fmt::format("{}[{}]", spelling(type.dataType), spelling(type.valueType));
}

// The lines of comments that end above `offset`, with at most one empty line between.
static std::string commentAbove(llvm::StringRef text, uint32_t offset) {
  llvm::StringRef before = text.take_front(offset);
  before = before.take_front(before.rfind('\n') + 1);
  llvm::SmallVector<llvm::StringRef> lines;
  before.drop_back(before.ends_with("\n")).split(lines, '\n');
  if (!lines.empty() && lines.back().trim().empty())
    lines.pop_back();
  std::string comment;
  for (llvm::StringRef line : llvm::reverse(lines)) {
    line = line.trim();
    if (!line.consume_front("#"))
      break;
    line.consume_front(" ");
    comment = line.str() + (comment.empty() ? "" : "\n") + comment;
  }
  return comment;
}

using Constant = FunctionSignature::Constant;

// A number; a boolean is 0 or 1. Nothing of a string.
static std::optional<double> numberOf(const Constant &constant) {
  if (const auto *number = std::get_if<double>(&constant))
    return *number;
  if (const auto *number = std::get_if<int64_t>(&constant))
    return static_cast<double>(*number);
  if (const auto *truth = std::get_if<bool>(&constant))
    return *truth ? 1 : 0;
  return std::nullopt;
}

// As scalars of a script are computed. Nothing of integers so large that their order of rounding would matter.
static std::optional<Constant> computed(tokamak::BinaryOperator op, const Constant &left,
                                        const Constant &right) {
  std::optional<double> a = numberOf(left), b = numberOf(right);
  if (!a || !b)
    return std::nullopt;
  double result = evaluate(op, *a, *b);
  const bool isReal = std::holds_alternative<double>(left) || std::holds_alternative<double>(right);
  switch (resultOf(op)) {
  case CellResult::Boolean:
    return result != 0;
  case CellResult::Double:
    return result;
  case CellResult::Number:
    if (isReal)
      return result;
    if (!(std::abs(result) <= 0x1p53))
      return std::nullopt;
    return static_cast<int64_t>(result);
  }
  return std::nullopt;
}

static std::optional<Constant> constantOf(const Expression &expression) {
  if (const auto *binary = llvm::dyn_cast<BinaryExpression>(&expression)) {
    auto left = constantOf(binary->left()), right = constantOf(binary->right());
    auto op = findBinaryBySpelling(spelling(binary->op()));
    return op && left && right ? computed(*op, *left, *right) : std::nullopt;
  }
  if (const auto *unary = llvm::dyn_cast<UnaryExpression>(&expression)) {
    auto operand = constantOf(unary->operand());
    if (!operand || unary->op() != UnaryOperator::Minus)
      return std::nullopt;
    if (const auto *number = std::get_if<double>(&*operand))
      return -*number;
    if (const auto *number = std::get_if<int64_t>(&*operand))
      return -*number;
    return std::nullopt;
  }
  if (const auto *literal = llvm::dyn_cast<IntegerLiteral>(&expression))
    return literal->value();
  if (const auto *literal = llvm::dyn_cast<DoubleLiteral>(&expression))
    return literal->value();
  if (const auto *literal = llvm::dyn_cast<BooleanLiteral>(&expression))
    return literal->value();
  if (const auto *literal = llvm::dyn_cast<StringLiteral>(&expression))
    return literal->value();
  return std::nullopt;
}

static std::vector<FunctionSignature::Parameter>
parametersOf(const std::vector<Parameter> &parameters, const SourceManager &sources) {
  std::vector<FunctionSignature::Parameter> result;
  for (const Parameter &parameter : parameters) {
    FunctionSignature::Parameter &made = result.emplace_back();
    made.name = parameter.name;
    made.type = parameter.type;
    if (!parameter.defaultValue)
      continue;
    made.defaultText = sources.text(parameter.defaultValue->range());
    made.defaultConstant = constantOf(*parameter.defaultValue);
  }
  return result;
}

static FunctionSignature signature(const FunctionDefinition &function, std::string name,
                                   const SourceManager &sources) {
  std::string_view text = sources.file(function.range.file).text();
  return {std::move(name), parametersOf(function.parameters, sources),
          parametersOf(function.outputs, sources),
          commentAbove({text.data(), text.size()}, function.nameRange.begin)};
}

std::vector<FunctionSignature> signaturesOf(SourceManager &sources, const std::string &path,
                                            const std::string &text, const ImportOptions &options,
                                            support::DiagnosticEngine &diagnostics) {
  SourceReporter reporter(sources, diagnostics);
  ProgramLoader loader(sources, reporter, options);
  LoadedFile *main = loader.loadMain(sources.add(path, text));
  std::vector<FunctionSignature> signatures;
  if (main && !diagnostics.hasErrors())
    for (const auto &function : main->program->functions)
      signatures.push_back(signature(*function, function->name, sources));
  return signatures;
}

std::optional<FunctionSignature> signatureOf(SourceManager &sources, const std::string &path,
                                             const std::string &text, const std::string &function,
                                             const ImportOptions &options,
                                             support::DiagnosticEngine &diagnostics) {
  SourceReporter reporter(sources, diagnostics);
  ProgramLoader loader(sources, reporter, options);
  LoadedFile *main = loader.loadMain(sources.add(path, text));
  const Function *found = main ? loader.find(function, *main).function : nullptr;
  if (!found)
    return std::nullopt;
  return signature(*found->definition, function, sources);
}

} // namespace tokamak::frontend
