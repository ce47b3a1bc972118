#include "api/Model.h"

#include "api/TensorArrays.h"
#include "base/PlaceText.h"
#include "exec/Program.h"
#include "frontend/onnx/file/TypeText.h"
#include "ir/plan/PlanDialect.h"

#include <fmt/format.h>
#include <sstream>

using namespace tokamak;
using namespace tokamak::api;
using runtime::Array;
using runtime::ArrayReference;
using runtime::Value;

class Model::Main : public Function {
public:
  Main(Model &model, Signature signature)
      : Function(std::move(signature)), model_(model),
        inputs_(onnx::inputsWithoutValue(model.file_.model().graph)) {}

  std::shared_ptr<const runtime::List> call(std::span<Argument> arguments) override {
    std::vector<Value> values = model_.orRejected([&] { return bind(arguments); });
    Compiled &known = compiled(values);
    return run(known, std::move(values));
  }

  std::string explain(std::span<Argument> arguments, const exec::Explanations &explain) override {
    std::vector<Value> values = model_.orRejected([&] { return bind(arguments); });
    std::ostringstream text;
    std::unique_ptr<Compiled> made;
    {
      std::lock_guard lock(mutex_); // compiling opens the files of weights
      made = compile(values, model_.explaining(explain, text));
    }
    run(*made, std::move(values));
    return text.str();
  }

  exec::RunCounts counts() override {
    std::shared_lock lock(mutex_);
    exec::RunCounts sum;
    for (const auto &compiled : compiled_)
      addCounts(compiled->program->counts(), sum);
    return sum;
  }

  static Signature signatureOf(const onnx::Model &model) {
    Signature signature{"main", {}, {}, ""};
    for (const onnx::ValueInfo *input : onnx::inputsWithoutValue(model.graph))
      signature.parameters.push_back({std::string(input->name), onnx::typeText(input->type)});
    for (const onnx::ValueInfo &output : model.graph.outputs)
      signature.results.push_back({std::string(output.name), onnx::typeText(output.type)});
    return signature;
  }

private:
  // The model for inputs of these ranks, and with these cells and sizes where they decide ranks.
  struct Compiled {
    std::vector<int> ranks;
    std::map<size_t, ArrayReference> cells;       // by input
    std::map<size_t, std::vector<int64_t>> sizes; // likewise
    std::vector<const onnx::ValueInfo *> inputs;  // the parameters of the program
    std::vector<const onnx::ValueInfo *> results; // of which output each is
    std::unique_ptr<exec::Program> program;

    bool suits(std::span<const Value> values) const {
      for (size_t i = 0; i < ranks.size(); ++i)
        if (values[i].array()->shape().rank() != ranks[i])
          return false;
      for (const auto &[i, wanted] : sizes)
        if (!std::ranges::equal(values[i].array()->shape().sizes(), wanted))
          return false;
      for (const auto &[i, wanted] : cells)
        if (!(values[i].array()->shape() == wanted->shape()) ||
            std::memcmp(values[i].array()->rawBytes(), wanted->rawBytes(),
                        static_cast<size_t>(wanted->bytes())) != 0)
          return false;
      return true;
    }
  };

  std::vector<Value> bind(std::span<Argument> arguments) const {
    std::vector<Value> values(inputs_.size());
    std::vector<bool> given(inputs_.size());
    for (size_t position = 0; position < arguments.size(); ++position) {
      size_t place = signature().take(arguments[position], position, given);
      values[place] = converted(arguments[position].value, *inputs_[place]);
    }
    signature().checkComplete(given);
    return values;
  }

  // In the type of the model, with the sizes that it fixes.
  static ArrayReference converted(const Value &value, const onnx::ValueInfo &input) {
    std::optional<ElementType> type = onnx::heldElementTypeOf(input.type.dataType);
    auto refuse = [&](std::string_view given) -> Error {
      return Error(
          fmt::format("input '{}' is {}, got {}", input.name, onnx::typeText(input.type), given));
    };
    if (input.type.kind != onnx::Type::Kind::Tensor || !type)
      throw Error(fmt::format("input '{}' is {}, which is not supported here", input.name,
                              onnx::typeText(input.type)));
    ArrayReference array;
    if (value.isNumber()) {
      runtime::ArrayPointer number = Array::create(runtime::Shape(), ElementType::F64);
      *number->mutableData() = value.asDouble();
      array = number;
    } else if (value.isArray()) {
      array = Array::asDense(value.array());
    } else {
      throw refuse(value.describe());
    }
    const auto &shape = input.type.shape;
    bool suits = !shape || static_cast<int>(shape->size()) == array->shape().rank();
    for (int i = 0; suits && shape && i < array->shape().rank(); ++i)
      if (const auto *size = std::get_if<int64_t>(&(*shape)[i]); size && *size > 0)
        suits = *size == array->shape()[i];
    if (!suits)
      throw refuse("an array of size " + array->shape().text());
    return Array::withElementType(array, *type);
  }

  onnx::Tensor tensorOver(const onnx::ValueInfo &input, const Array &array) const {
    onnx::Tensor tensor;
    tensor.name = input.name;
    tensor.dataType = input.type.dataType;
    tensor.storage = onnx::CellStorage::Raw;
    tensor.dims.assign(array.shape().sizes().begin(), array.shape().sizes().end());
    tensor.raw = {reinterpret_cast<const char *>(array.rawBytes()),
                  static_cast<size_t>(array.bytes())};
    return tensor;
  }

  std::unique_ptr<Compiled> compile(std::span<const Value> values,
                                    const exec::ProgramOptions &options) {
    auto made = std::make_unique<Compiled>();
    std::vector<onnx::Tensor> tensors(values.size());
    onnx::KnownInputs known;
    for (size_t i = 0; i < values.size(); ++i) {
      made->ranks.push_back(values[i].array()->shape().rank());
      tensors[i] = tensorOver(*inputs_[i], *values[i].array());
      known.values[inputs_[i]->name] = &tensors[i];
    }
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<plan::PlanDialect>();
    context.printOpOnDiagnostic(false);
    onnx::ModelErrors errors(model_.file_.path());
    std::optional<onnx::ImportedModel> imported =
        onnx::importModel(model_.file_, known, context, errors);
    if (!imported) {
      try {
        errors.throwIfAny();
      } catch (const Error &error) {
        throw Rejected(error.message(), error.message() + "\n");
      }
      internalError("a model could not be imported");
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const ArrayReference &array = values[i].array();
      if (known.wanted.contains(inputs_[i]->name))
        made->cells[i] = array->copy();
      if (known.wantedSizes.contains(inputs_[i]->name))
        made->sizes[i].assign(array->shape().sizes().begin(), array->shape().sizes().end());
    }
    made->inputs = imported->inputs;
    made->results = imported->results;
    support::DiagnosticEngine diagnostics;
    {
      support::MlirDiagnosticForwarder forwarder(&context, diagnostics);
      made->program = exec::Program::compile(*imported->module, options);
    }
    if (!made->program) {
      std::string text;
      for (const support::Diagnostic *diagnostic : diagnostics.sorted())
        text += placeText({diagnostic->file, static_cast<int>(diagnostic->line), 0}) + ": " +
                diagnostic->message + "\n";
      throw Rejected(text.substr(0, text.find('\n')), text);
    }
    std::vector<Value> weights;
    for (const onnx::Tensor *weight : imported->weights)
      weights.emplace_back(arrayOver(*weight, &model_.file_.external()));
    Run run(model_, nullptr);
    made->program->holdWeights(std::move(weights), run.context);
    return made;
  }

  Compiled &compiled(std::span<const Value> values) {
    auto find = [&]() -> Compiled * {
      for (const std::unique_ptr<Compiled> &known : compiled_)
        if (known->suits(values))
          return known.get();
      return nullptr;
    };
    return findOrMake(mutex_, find, [&] {
      return compiled_.emplace_back(compile(values, model_.compileOptions_.program)).get();
    });
  }

  std::shared_ptr<const runtime::List> run(Compiled &compiled, std::vector<Value> values) {
    std::vector<Value> arguments;
    for (const onnx::ValueInfo *parameter : compiled.inputs)
      for (size_t i = 0; i < inputs_.size(); ++i)
        if (inputs_[i] == parameter)
          arguments.push_back(values[i]);
    values.clear();
    Run run(model_, nullptr);
    std::vector<Value> results = compiled.program->call("main", std::move(arguments), run.context);
    auto list = std::make_shared<runtime::List>();
    for (const onnx::ValueInfo &output : model_.file_.model().graph.outputs) {
      std::vector<Value> parts;
      for (size_t i = 0; i < results.size(); ++i)
        if (compiled.results[i] == &output)
          parts.push_back(inDeclaredType(std::move(results[i]), output));
      list->names.emplace_back(output.name);
      if (output.type.kind == onnx::Type::Kind::Tensor && parts.size() == 1) {
        list->elements.push_back(std::move(parts[0]));
      } else { // a sequence, or an optional that may be absent
        auto nested = std::make_shared<runtime::List>();
        nested->elements = std::move(parts);
        list->elements.emplace_back(std::shared_ptr<const runtime::List>(std::move(nested)));
      }
    }
    return list;
  }

  static Value inDeclaredType(Value result, const onnx::ValueInfo &output) {
    std::optional<ElementType> declared = onnx::heldElementTypeOf(output.type.dataType);
    return declared ? Value(Array::withElementType(result.array(), *declared)) : result;
  }

  Model &model_;
  const std::vector<const onnx::ValueInfo *> inputs_;
  std::shared_mutex mutex_; // guards what follows; it is compiled under it
  std::vector<std::unique_ptr<Compiled>> compiled_;
};

Model::Model(const std::string &path, RunOptions options)
    : Program(path, std::move(options)), file_(path),
      main_(std::make_unique<Main>(*this, Main::signatureOf(file_.model()))) {}

Model::Model(const std::string &name, std::string bytes, RunOptions options)
    : Program(name, std::move(options)), file_(name, std::move(bytes)),
      main_(std::make_unique<Main>(*this, Main::signatureOf(file_.model()))) {}

Model::~Model() = default;

std::vector<Function *> Model::functions() { return {main_.get()}; }

Function &Model::function(const std::string &name) {
  if (name != "main")
    throw Error(fmt::format("a model has one function, 'main', and no '{}'", name));
  return *main_;
}

void Model::run(const std::map<std::string, std::string> &) {
  throw Error("a model has no statements to run; call its function 'main' with its inputs")
      .note(main_->signature().text());
}

std::string Model::describe(const Error &error) {
  const SourcePlace &place = error.place();
  std::string text =
      fmt::format("{}: {}\n", place.isKnown() ? placeText(place) : file_.path(), error.message());
  for (const std::string &note : error.notes())
    text += fmt::format("  note: {}\n", note);
  return text;
}

exec::RunCounts Model::counts() { return main_->counts(); }
