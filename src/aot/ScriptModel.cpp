#include "aot/ScriptModel.h"

#include "base/NearestNames.h"
#include "frontend/dml/FunctionSignatures.h"
#include "frontend/dml/LateCall.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/Precision.h"
#include "ir/tok/SizesAttribute.h"
#include "runtime/image/DeepStack.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;
using frontend::DeclaredDataType;
using frontend::DeclaredValueType;
using frontend::FunctionSignature;
using Kind = frontend::LateCall::Kind;

namespace {

// What a parameter or result is in C. Throws Error for types that C programs can't pass.
ModelValue modelValue(const FunctionSignature &function, const FunctionSignature::Parameter &value,
                      const char *what, bool singlePrecision) {
  if (value.type.dataType == DeclaredDataType::Matrix) {
    if (!singlePrecision)
      return {value.name, TOK_MODEL_MATRIX, value.typeText()};
    return {value.name,
            TOK_MODEL_TENSOR,
            "matrix of 2 dimensions, TOKAMAK_F32",
            ElementType::F32,
            {-1, -1}};
  }
  if (value.type.dataType != DeclaredDataType::Scalar)
    throw Error(fmt::format(
        "{}: the {} '{}' is of type {}; compiled functions take and give matrices, numbers, "
        "booleans and strings",
        function.name, what, value.name, value.typeText()));
  switch (value.type.valueType) {
  case DeclaredValueType::Integer:
    return {value.name, TOK_MODEL_INTEGER, value.typeText()};
  case DeclaredValueType::Boolean:
    return {value.name, TOK_MODEL_BOOLEAN, value.typeText()};
  case DeclaredValueType::String:
    return {value.name, TOK_MODEL_TEXT, value.typeText()};
  default:
    return {value.name, TOK_MODEL_DOUBLE, value.typeText()};
  }
}

Kind kindOf(TokModelType type) {
  switch (type) {
  case TOK_MODEL_DOUBLE:
    return Kind::Double;
  case TOK_MODEL_INTEGER:
    return Kind::Integer;
  case TOK_MODEL_BOOLEAN:
    return Kind::Boolean;
  case TOK_MODEL_TEXT:
    return Kind::String;
  default:
    return Kind::Matrix;
  }
}

// The constant that is a parameter's default, as its type has it; nothing if it has none.
decltype(ModelValue::byDefault) defaultOf(const FunctionSignature::Parameter &parameter,
                                          TokModelType type) {
  if (!parameter.defaultConstant)
    return std::nullopt;
  const FunctionSignature::Constant &constant = *parameter.defaultConstant;
  const auto *text = std::get_if<std::string>(&constant);
  if (type == TOK_MODEL_TEXT || text)
    return type == TOK_MODEL_TEXT && text ? decltype(ModelValue::byDefault)(*text) : std::nullopt;
  double number = 0;
  int64_t integer = 0;
  if (const auto *real = std::get_if<double>(&constant)) {
    number = *real;
    if (type != TOK_MODEL_DOUBLE && (std::trunc(number) != number || std::abs(number) > 0x1p53))
      return std::nullopt;
    integer = type == TOK_MODEL_DOUBLE ? 0 : static_cast<int64_t>(number);
  } else {
    const auto *whole = std::get_if<int64_t>(&constant);
    integer = whole ? *whole : std::get<bool>(constant);
    number = static_cast<double>(integer);
  }
  switch (type) {
  case TOK_MODEL_DOUBLE:
    return number;
  case TOK_MODEL_INTEGER:
    return integer;
  case TOK_MODEL_BOOLEAN:
    return integer != 0;
  default:
    return std::nullopt;
  }
}

class ScriptCompiler {
public:
  ScriptCompiler(const std::string &text, const ModelOptions &options, exec::ObjectKeeper &objects,
                 support::DiagnosticEngine &diagnostics)
      : text_(text), options_(options), diagnostics_(diagnostics), shapes_(options.shapes),
        builder_(options, objects) {}

  std::optional<Model> compile() {
    if (options_.entries.empty()) {
      shapes_.checkNames({});
      if (!addMain())
        return std::nullopt;
      return builder_.take();
    }
    std::vector<FunctionSignature> signatures;
    std::vector<std::string> parameters;
    for (const std::string &name : options_.entries) {
      std::optional<FunctionSignature> found = signatureOf(name);
      if (!found)
        return std::nullopt;
      for (const auto &parameter : found->parameters)
        parameters.push_back(parameter.name);
      signatures.push_back(std::move(*found));
    }
    checkFunctionNames(builder_.name(), options_.entries);
    shapes_.checkNames(parameters);
    checkFixed(parameters);
    for (const FunctionSignature &signature : signatures)
      if (!addFunction(signature))
        return std::nullopt;
    return builder_.take();
  }

private:
  struct Source {
    mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
    mlir::OwningOpRef<mlir::ModuleOp> module;
    Source() {
      context.loadDialect<tok::TokDialect, plan::PlanDialect, mlir::func::FuncDialect>();
      context.printOpOnDiagnostic(false);
    }
  };

  // Nothing after errors in the script. Throws Error if there is no such function.
  std::optional<FunctionSignature> signatureOf(const std::string &name) {
    frontend::SourceManager sources;
    const std::string &path = options_.script.path;
    const frontend::ImportOptions &import = options_.script.import;
    std::vector<FunctionSignature> own;
    std::optional<FunctionSignature> found;
    runtime::runOnDeepStack([&] {
      own = frontend::signaturesOf(sources, path, text_, import, diagnostics_);
      if (!diagnostics_.hasErrors())
        found = frontend::signatureOf(sources, path, text_, name, import, diagnostics_);
    });
    if (diagnostics_.hasErrors() || found)
      return found;
    std::vector<std::string> names = import.libraryNames;
    for (const FunctionSignature &each : own)
      names.push_back(each.name);
    std::vector<std::string> near = nearestCandidates(name, names);
    throw Error(fmt::format("--entry {}: neither the script nor the library has such a function{}",
                            name,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front())));
  }

  bool addFunction(const FunctionSignature &signature) {
    const bool singlePrecision = options_.script.singlePrecision;
    ModelEntry entry{signature.name, signature.comment, {}, {}, {}, {}, {}};
    frontend::LateCall call{
        signature.name, options_.script.path, {}, frontend::LateCall::Result::AllAsList};
    std::vector<std::vector<Size>> sizes; // of parameters
    for (const auto &parameter : signature.parameters) {
      if (auto fixed = options_.fixed.find(parameter.name); fixed != options_.fixed.end()) {
        call.literals.emplace_back(parameter.name, literalOf(parameter, fixed->second));
        continue;
      }
      ModelValue value = modelValue(signature, parameter, "parameter", singlePrecision);
      value.byDefault = defaultOf(parameter, value.type);
      const bool isArray = kindOf(value.type) == Kind::Matrix;
      call.arguments.push_back({kindOf(value.type), parameter.name});
      sizes.push_back(isArray || value.type == TOK_MODEL_INTEGER
                          ? shapes_.of(parameter.name, isArray ? 2 : 0)
                          : std::vector<Size>());
      if (isArray)
        value.comment += fmt::format(", planned for {} x {}", sizeText(sizes.back()[0]),
                                     sizeText(sizes.back()[1]));
      if (parameter.defaultText)
        value.comment += value.byDefault ? ", " + *parameter.defaultText
                                         : fmt::format(" ({} in the script, if it isn't given)",
                                                       *parameter.defaultText);
      entry.parameters.push_back(std::move(value));
    }
    for (const auto &result : signature.outputs)
      entry.results.push_back(modelValue(signature, result, "result", singlePrecision));

    Source source;
    frontend::SourceManager sources;
    runtime::runOnDeepStack([&] {
      source.module =
          frontend::importLateCall(sources, options_.script.path, text_, call,
                                   options_.script.import, source.context, diagnostics_);
    });
    if (!source.module)
      return false;
    auto function = source.module->lookupSymbol<mlir::func::FuncOp>("eval");
    for (auto [number, expected] : llvm::enumerate(sizes))
      if (!expected.empty())
        function.setArgAttr(number, tok::expectedSizesAttributeName,
                            tok::sizesAttribute(&source.context, expected));
    return add(std::move(entry), source);
  }

  void checkFixed(std::span<const std::string> parameters) const {
    for (const auto &[name, value] : options_.fixed) {
      if (llvm::is_contained(parameters, name))
        continue;
      std::vector<std::string> near = nearestCandidates(name, parameters);
      throw Error(fmt::format(
          "--fix {}={}: no function that is compiled has such a parameter; {} {}", name, value,
          near.empty() ? "there are" : "did you mean",
          fmt::join(near.empty() ? parameters : std::span<const std::string>(near), ", ")));
    }
  }

  // The value of a parameter as DML writes it.
  static std::string literalOf(const FunctionSignature::Parameter &parameter,
                               const std::string &value) {
    auto expect = [&](bool holds, const char *what) {
      if (!holds)
        throw Error(fmt::format("--fix {}={}: expected {}", parameter.name, value, what));
      return value;
    };
    if (parameter.type.dataType != DeclaredDataType::Scalar)
      expect(false, "the name of a parameter that is no matrix");
    int64_t integer = 0;
    double number = 0;
    switch (parameter.type.valueType) {
    case DeclaredValueType::Integer:
      return expect(!llvm::StringRef(value).getAsInteger(10, integer), "a whole number");
    case DeclaredValueType::Boolean:
      return expect(value == "TRUE" || value == "FALSE", "TRUE or FALSE");
    case DeclaredValueType::String: {
      std::string text = "\"";
      for (char letter : value)
        text += (letter == '"' || letter == '\\' ? "\\" : "") + std::string(1, letter);
      return text + "\"";
    }
    default:
      return expect(!llvm::StringRef(value).getAsDouble(number) && std::isfinite(number),
                    "a number");
    }
  }

  // The statements of the script.
  bool addMain() {
    Source source;
    frontend::SourceManager sources;
    const std::string &path = options_.script.path;
    if (llvm::StringRef(path).ends_with(".mlir")) {
      support::MlirDiagnosticForwarder forwarder(&source.context, diagnostics_,
                                                 options_.onParseError);
      diagnostics_.addSource(path, text_);
      source.module = mlir::parseSourceString<mlir::ModuleOp>(text_, &source.context, path);
    } else {
      runtime::runOnDeepStack([&] {
        source.module = frontend::importDml(sources, path, text_, options_.script.import,
                                            source.context, diagnostics_);
      });
    }
    return source.module && add({"main", "", {}, {}, {}, {}, {}}, source);
  }

  bool add(ModelEntry entry, Source &source) {
    diagnostics_.clear();
    if (options_.script.singlePrecision)
      tok::useSinglePrecision(*source.module);
    support::MlirDiagnosticForwarder forwarder(&source.context, diagnostics_);
    return builder_.add(std::move(entry), *source.module);
  }

  const std::string &text_;
  const ModelOptions &options_;
  support::DiagnosticEngine &diagnostics_;
  ExpectedShapes shapes_;
  ModelBuilder builder_;
};

} // namespace

std::optional<Model> aot::compileScript(const std::string &text, const ModelOptions &options,
                                        exec::ObjectKeeper &objects,
                                        support::DiagnosticEngine &diagnostics) {
  return ScriptCompiler(text, options, objects, diagnostics).compile();
}
