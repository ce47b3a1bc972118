#include "aot/ModelObject.h"

#include "codegen/CodeEmitter.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace tokamak;
using namespace tokamak::aot;

llvm::ArrayRef<ContextFunction> aot::contextFunctions() {
  static constexpr ContextFunction functions[] = {
      {"context_create", "tokamak_model_context_create", "p", ""},
      {"context_free", "tokamak_model_context_free", "v", "p"},
      {"context_set_threads", "tokamak_model_context_set_threads", "v", "pi"},
      {"context_set_seed", "tokamak_model_context_set_seed", "v", "pl"},
      {"context_set_output", "tokamak_model_context_set_output", "v", "ppp"},
      {"context_error", "tokamak_model_context_error", "p", "p"},
      {"context_error_file", "tokamak_model_context_error_file", "p", "p"},
      {"context_error_line", "tokamak_model_context_error_line", "i", "p"},
      {"context_error_column", "tokamak_model_context_error_column", "i", "p"},
      {"matrix_free", "tokamak_model_matrix_free", "v", "p"},
      {"tensor_free", "tokamak_model_tensor_free", "v", "p"},
  };
  return functions;
}

namespace {

// The name of a native as an identifier, which its symbol ends with (runtime/natives/Native.h).
const char *identifierOf(NativeKind kind) {
  static constexpr const char *identifiers[] = {
#define TOKAMAK_NATIVE(Name, ...) #Name,
#include "base/Natives.def"
  };
  return identifiers[static_cast<size_t>(kind)];
}

class ObjectBuilder {
public:
  ObjectBuilder(const Model &model, const llvm::DataLayout &layout, llvm::StringRef triple)
      : model_(model), module_(std::make_unique<llvm::Module>(model.name, context_)) {
    module_->setDataLayout(layout);
    module_->setTargetTriple(triple);
    module_->setPICLevel(llvm::PICLevel::BigPIC);
  }

  llvm::Module &build() {
    llvm::Constant *model =
        table({number(TOK_MODEL_VERSION), number(TOK_ABI_VERSION), text(model_.name), entries(),
               number(model_.entries.size()), kernels(), number(kernelCount_), natives(),
               number(nativeCount_), number(codegen::featuresNeeded(*model_.target))},
              "model", /*isConstant=*/true);
    for (auto [index, entry] : llvm::enumerate(model_.entries))
      addFunction(entry, index, model);
    for (const ContextFunction &function : contextFunctions())
      addContextFunction(function);
    if (llvm::verifyModule(*module_, &llvm::errs()))
      internalError("the functions of the model are no valid LLVM IR");
    return *module_;
  }

private:
  llvm::IntegerType *i64() { return llvm::Type::getInt64Ty(context_); }
  llvm::PointerType *pointer() { return llvm::PointerType::getUnqual(context_); }
  llvm::Constant *number(uint64_t value) { return llvm::ConstantInt::get(i64(), value); }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(pointer()); }

  llvm::GlobalVariable *variable(llvm::Constant *value, llvm::StringRef name, bool isConstant) {
    return new llvm::GlobalVariable(*module_, value->getType(), isConstant,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
  }
  llvm::Constant *bytes(llvm::StringRef contents, bool endsWithZero) {
    auto *value = llvm::ConstantDataArray::getString(context_, contents, endsWithZero);
    llvm::GlobalVariable *made = variable(value, "text", true);
    made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return made;
  }
  llvm::Constant *text(llvm::StringRef contents) { return bytes(contents, true); }
  // All members have eight bytes: there is no padding, on any target.
  llvm::Constant *row(llvm::ArrayRef<llvm::Constant *> members) {
    return llvm::ConstantStruct::getAnon(members);
  }
  llvm::Constant *table(llvm::ArrayRef<llvm::Constant *> members, llvm::StringRef name,
                        bool isConstant) {
    return variable(row(members), name, isConstant);
  }
  llvm::Constant *rows(llvm::ArrayRef<llvm::Constant *> members, llvm::StringRef name,
                       bool isConstant = true) {
    if (members.empty())
      return null();
    auto *type = llvm::ArrayType::get(members.front()->getType(), members.size());
    return variable(llvm::ConstantArray::get(type, members), name, isConstant);
  }

  // A function of this name that is defined elsewhere. It is only referred to: its type doesn't matter.
  llvm::Constant *external(const std::string &name) {
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), false);
    return llvm::cast<llvm::Constant>(module_->getOrInsertFunction(name, type).getCallee());
  }

  llvm::Constant *kernels() {
    llvm::SmallVector<llvm::Constant *> members;
    for (const auto &[name, merges] : kernelsOf(model_))
      members.push_back(
          row({text(name), external(name), merges ? external(name + "_merge") : null()}));
    kernelCount_ = members.size();
    return rows(members, "kernels");
  }
  llvm::Constant *natives() {
    llvm::SmallVector<llvm::Constant *> members;
    for (NativeKind kind : nativesOf(model_)) {
      std::string_view name = rowOf(kind).name;
      members.push_back(row({text({name.data(), name.size()}),
                             external(std::string("tokamak_native_") + identifierOf(kind))}));
    }
    nativeCount_ = members.size();
    return rows(members, "natives");
  }
  llvm::Constant *values(llvm::ArrayRef<ModelValue> values) {
    llvm::SmallVector<llvm::Constant *> members;
    for (const ModelValue &value : values)
      members.push_back(
          row({text(value.name), number(value.type), number(static_cast<uint64_t>(value.cells)),
               number(value.sizes.size()), sizes(value.sizes)}));
    return rows(members, "values");
  }
  llvm::Constant *sizes(llvm::ArrayRef<int64_t> sizes) {
    return rows(llvm::map_to_vector(
                    sizes, [&](int64_t size) { return number(static_cast<uint64_t>(size)); }),
                "sizes");
  }
  llvm::Constant *weights(llvm::ArrayRef<ModelWeight> weights) {
    llvm::SmallVector<llvm::Constant *> members;
    for (const ModelWeight &weight : weights) {
      auto *cells = llvm::cast<llvm::GlobalVariable>(bytes(weight.cells, false));
      cells->setAlignment(llvm::Align(64)); // as arrays of the runtime have
      members.push_back(row({number(static_cast<uint64_t>(weight.type)),
                             number(weight.sizes.size()), sizes(weight.sizes), cells}));
    }
    return rows(members, "weights");
  }
  llvm::Constant *entries() {
    llvm::SmallVector<llvm::Constant *> members;
    for (const ModelEntry &entry : model_.entries) {
      std::string image = entry.program.bytes();
      members.push_back(
          row({text(entry.name), bytes(image, false), number(image.size()),
               values(entry.parameters), values(entry.results), number(entry.parameters.size()),
               number(entry.results.size()), weights(entry.weights), number(entry.weights.size()),
               number(entry.preparation ? *entry.preparation + 1 : 0), null()}));
    }
    return rows(members, "entries", /*isConstant=*/false);
  }

  llvm::Type *typeOf(TokModelType type) {
    switch (type) {
    case TOK_MODEL_DOUBLE:
      return llvm::Type::getDoubleTy(context_);
    case TOK_MODEL_INTEGER:
      return i64();
    case TOK_MODEL_BOOLEAN:
      return llvm::Type::getInt32Ty(context_);
    default:
      return pointer();
    }
  }

  llvm::Constant *valueOf(const std::variant<bool, int64_t, double, std::string> &value) {
    if (const auto *truth = std::get_if<bool>(&value))
      return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), *truth ? 1 : 0);
    if (const auto *integer = std::get_if<int64_t>(&value))
      return number(static_cast<uint64_t>(*integer));
    if (const auto *number = std::get_if<double>(&value))
      return llvm::ConstantFP::get(context_, llvm::APFloat(*number));
    return text(std::get<std::string>(value));
  }

  // int scoring_score(scoring_context *, const tokamak_matrix *X, const scoring_score_options *options, tokamak_matrix *p)
  void addFunction(const ModelEntry &entry, uint64_t number, llvm::Constant *model) {
    llvm::SmallVector<llvm::Type *> types = {pointer()};
    llvm::SmallVector<llvm::Constant *> defaults; // as members of the struct, which has C's layout
    for (const ModelValue &parameter : entry.parameters)
      if (parameter.byDefault)
        defaults.push_back(valueOf(*parameter.byDefault));
      else
        types.push_back(typeOf(parameter.type));
    const size_t placeOfOptions = types.size();
    if (entry.hasOptions())
      types.push_back(pointer());
    const size_t firstResult = types.size();
    types.append(entry.results.size(), pointer());
    auto *i32 = llvm::Type::getInt32Ty(context_);
    auto *function = llvm::Function::Create(llvm::FunctionType::get(i32, types, false),
                                            llvm::GlobalValue::ExternalLinkage,
                                            functionName(model_, entry), *module_);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "", function));
    auto arrayOf = [&](llvm::Type *element, llvm::ArrayRef<llvm::Value *> values) {
      auto *type = llvm::ArrayType::get(element, std::max<size_t>(values.size(), 1));
      llvm::Value *array = builder.CreateAlloca(type);
      for (auto [i, value] : llvm::enumerate(values))
        builder.CreateStore(value, builder.CreateConstInBoundsGEP2_64(type, array, 0, i));
      return array;
    };
    auto asWord = [&](llvm::Value *value) {
      return value->getType()->isPointerTy()  ? builder.CreatePtrToInt(value, i64())
             : value->getType()->isDoubleTy() ? builder.CreateBitCast(value, i64())
                                              : builder.CreateSExt(value, i64());
    };
    llvm::Value *options = nullptr;
    llvm::StructType *optionsType = nullptr;
    if (entry.hasOptions()) {
      llvm::Constant *row = llvm::ConstantStruct::getAnon(defaults);
      optionsType = llvm::cast<llvm::StructType>(row->getType());
      llvm::Value *given = function->getArg(placeOfOptions);
      options =
          builder.CreateSelect(builder.CreateIsNull(given), variable(row, "defaults", true), given);
    }
    llvm::SmallVector<llvm::Value *> words, places;
    unsigned next = 1, member = 0;
    for (const ModelValue &parameter : entry.parameters)
      words.push_back(
          asWord(parameter.byDefault
                     ? builder.CreateLoad(typeOf(parameter.type),
                                          builder.CreateStructGEP(optionsType, options, member++))
                     : static_cast<llvm::Value *>(function->getArg(next++))));
    for (size_t i = 0; i < entry.results.size(); ++i)
      places.push_back(function->getArg(firstResult + i));
    llvm::Value *arguments = arrayOf(i64(), words);
    llvm::Value *results = arrayOf(pointer(), places);
    auto *callType =
        llvm::FunctionType::get(i32, {pointer(), i64(), pointer(), pointer(), pointer()}, false);
    builder.CreateRet(
        builder.CreateCall(module_->getOrInsertFunction("tokamak_model_call", callType),
                           {model, this->number(number), function->getArg(0), arguments, results}));
  }

  void addContextFunction(const ContextFunction &named) {
    auto typeOf = [&](char letter) -> llvm::Type * {
      return letter == 'p'   ? pointer()
             : letter == 'i' ? llvm::Type::getInt32Ty(context_)
             : letter == 'l' ? static_cast<llvm::Type *>(i64())
                             : llvm::Type::getVoidTy(context_);
    };
    llvm::SmallVector<llvm::Type *> types;
    for (char letter : llvm::StringRef(named.parameters))
      types.push_back(typeOf(letter));
    auto *type = llvm::FunctionType::get(typeOf(*named.result), types, false);
    auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                            model_.name + "_" + named.name, *module_);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "", function));
    llvm::SmallVector<llvm::Value *> arguments;
    for (llvm::Argument &argument : function->args())
      arguments.push_back(&argument);
    llvm::Value *result =
        builder.CreateCall(module_->getOrInsertFunction(named.ofRuntime, type), arguments);
    if (type->getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(result);
  }

  const Model &model_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  uint64_t kernelCount_ = 0, nativeCount_ = 0;
};

} // namespace

std::string aot::modelObject(const Model &model) {
  // Its functions run before it is known whether the processor is one that kernels are for.
  codegen::Target anyOfItsKind = *model.target;
  anyOfItsKind.cpu = llvm::Triple(anyOfItsKind.triple).isX86() ? "x86-64" : "generic";
  anyOfItsKind.features = "";
  std::unique_ptr<codegen::CodeEmitter> emitter =
      llvm::cantFail(codegen::CodeEmitter::create(anyOfItsKind));
  llvm::TargetMachine &machine = emitter->machine();
  ObjectBuilder builder(model, machine.createDataLayout(), machine.getTargetTriple().str());
  return emitter->emitObject(builder.build())->getBuffer().str();
}
