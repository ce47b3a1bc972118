#include "aot/ScriptModel.h"

#include "aot/ExpectedShapes.h"
#include "base/NearestNames.h"
#include "frontend/dml/FunctionSignatures.h"
#include "frontend/dml/LateCall.h"
#include "ir/plan/PlanDialect.h"
#include "ir/tok/SizesAttribute.h"
#include "pipeline/ExpectedSizes.h"
#include "runtime/image/DeepStack.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <fmt/format.h>

using namespace tokamak;
using namespace tokamak::aot;
using frontend::DeclaredDataType;
using frontend::DeclaredType;
using frontend::DeclaredValueType;
using frontend::FunctionSignature;
using Kind = frontend::LateCall::Kind;

const codegen::Target &aot::targetNamed(const std::string &name) {
  if (name == "native")
    return codegen::hostTarget();
  if (name == "x86-64-v3")
    return codegen::x86Target();
  if (name == "x86-64-v4")
    return codegen::wideX86Target();
  if (name == "aarch64")
    return codegen::aarch64Target();
  throw Error(
      fmt::format("'{}' is none of the targets native, x86-64-v3, x86-64-v4, aarch64", name));
}

namespace {

// What a parameter or result is in C. Throws Error for types that C programs can't pass.
TokModelType modelType(const FunctionSignature &function, const FunctionSignature::Parameter &value,
                       const char *what) {
  if (value.type.dataType == DeclaredDataType::Matrix)
    return TOK_MODEL_MATRIX;
  if (value.type.dataType != DeclaredDataType::Scalar)
    throw Error(fmt::format(
        "{}: the {} '{}' is of type {}; compiled functions take and give matrices, numbers, "
        "booleans and strings",
        function.name, what, value.name, value.typeText()));
  switch (value.type.valueType) {
  case DeclaredValueType::Integer:
    return TOK_MODEL_INTEGER;
  case DeclaredValueType::Boolean:
    return TOK_MODEL_BOOLEAN;
  case DeclaredValueType::String:
    return TOK_MODEL_TEXT;
  default:
    return TOK_MODEL_DOUBLE;
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

class ScriptCompiler {
public:
  ScriptCompiler(const std::string &text, const ModelOptions &options, exec::ObjectKeeper &objects,
                 support::DiagnosticEngine &diagnostics)
      : text_(text), options_(options), diagnostics_(diagnostics), shapes_(options.shapes),
        kernels_({.target = options.target,
                  .threads = options.script.program.threads,
                  .cacheCapacity = SIZE_MAX,
                  .namePrefix = options.output.name + "_kernel_",
                  .keepObject = objects.sink()}),
        model_{options.output.name, options.target, &objects, {}} {}

  std::optional<Model> compile() {
    if (options_.entries.empty()) {
      shapes_.checkNames({});
      if (!addMain())
        return std::nullopt;
      return std::move(model_);
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
    checkFunctionNames(model_.name, options_.entries);
    shapes_.checkNames(parameters);
    checkFixed(parameters);
    for (const FunctionSignature &signature : signatures)
      if (!addFunction(signature))
        return std::nullopt;
    return std::move(model_);
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
    ModelEntry entry{signature.name, signature.comment, {}, {}, {}};
    frontend::LateCall call{
        signature.name, options_.script.path, {}, frontend::LateCall::Result::AllAsList};
    std::vector<std::vector<Size>> sizes; // of parameters
    for (const auto &parameter : signature.parameters) {
      if (auto fixed = options_.fixed.find(parameter.name); fixed != options_.fixed.end()) {
        call.literals.emplace_back(parameter.name, literalOf(parameter, fixed->second));
        continue;
      }
      TokModelType type = modelType(signature, parameter, "parameter");
      call.arguments.push_back({kindOf(type), parameter.name});
      bool hasSizes = type == TOK_MODEL_MATRIX || type == TOK_MODEL_INTEGER;
      sizes.push_back(hasSizes ? shapes_.of(parameter.name, type == TOK_MODEL_MATRIX ? 2 : 0)
                               : std::vector<Size>());
      std::string comment = parameter.typeText();
      if (type == TOK_MODEL_MATRIX)
        comment += fmt::format(", planned for {} x {}", sizeText(sizes.back()[0]),
                               sizeText(sizes.back()[1]));
      if (parameter.defaultText)
        comment += fmt::format(" ({} in the script, if it isn't given)", *parameter.defaultText);
      entry.parameters.push_back({parameter.name, type, comment});
    }
    for (const auto &result : signature.outputs)
      entry.results.push_back(
          {result.name, modelType(signature, result, "result"), result.typeText()});

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

  static std::string sizeText(const Size &size) {
    if (size.isConstant())
      return std::to_string(size.constantValue());
    auto [low, high] = size.range();
    return size.range() == Size::ofArrays ? "any" : fmt::format("{}..{}", low, high);
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
    return source.module && add({"main", "", {}, {}, {}}, source);
  }

  bool add(ModelEntry entry, Source &source) {
    diagnostics_.clear();
    (*source.module)
        ->setAttr(pipeline::sizesAgreeAttributeName, mlir::UnitAttr::get(&source.context));
    support::MlirDiagnosticForwarder forwarder(&source.context, diagnostics_);
    exec::ProgramOptions options = options_.script.program;
    options.kernels = &kernels_;
    std::unique_ptr<exec::Program> program = exec::Program::compile(*source.module, options);
    if (!program)
      return false;
    entry.program = program->planAhead();
    model_.entries.push_back(std::move(entry));
    return true;
  }

  const std::string &text_;
  const ModelOptions &options_;
  support::DiagnosticEngine &diagnostics_;
  ExpectedShapes shapes_;
  codegen::KernelCompiler kernels_;
  Model model_;
};

} // namespace

std::optional<Model> aot::compileScript(const std::string &text, const ModelOptions &options,
                                        exec::ObjectKeeper &objects,
                                        support::DiagnosticEngine &diagnostics) {
  return ScriptCompiler(text, options, objects, diagnostics).compile();
}
