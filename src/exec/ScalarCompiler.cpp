#include "exec/ScalarCompiler.h"

#include "base/UncheckedByThreadSanitizer.h"
#include "codegen/LlvmLowering.h"
#include "codegen/MachineCode.h"
#include "exec/ScalarEmission.h"

#include "llvm/Target/TargetMachine.h"

#include <chrono>

using namespace tokamak;
using namespace tokamak::exec;
using runtime::CompiledCalls;
using runtime::Image;
using runtime::ImageFunction;
using runtime::Instruction;
using runtime::Opcode;
using runtime::ScalarFunction;
using runtime::ScalarFunctions;
using runtime::ScalarLoop;
using runtime::Slot;
using runtime::SlotType;

namespace {

class LoopEmission final : public ScalarEmission {
public:
  LoopEmission(const Image &image, const ImageFunction &function, const ScalarLoop &loop,
               llvm::Module &module)
      : ScalarEmission({image, function, loop.head, loop.end, loop.types, loop.callees},
                       declare(module)),
        loop_(loop), words_(code_->getArg(0)), isAssigned_(loop.types.size()) {}

  void run() {
    begin();
    remaining_ = builder_.CreateAlloca(builder_.getInt64Ty());
    builder_.CreateStore(code_->getArg(1), remaining_);
    leftAt_ = builder_.CreateAlloca(builder_.getInt32Ty());
    leaving_ = newBlock();
    for (Slot slot = 0; slot < static_cast<Slot>(variables_.size()); ++slot)
      if (variables_[slot]) {
        llvm::Value *word = builder_.CreateLoad(builder_.getInt64Ty(), wordOf(slot));
        builder_.CreateStore(fromWord(word, typeOf(loop_.types[slot])), variables_[slot]);
      }
    emitInstructions();
    leave(loop_.end);
    emitLeaving();
  }

private:
  // int32_t loop(int64_t *words, int64_t iterations, CompiledCalls *calls)
  static llvm::Function *declare(llvm::Module &module) {
    llvm::LLVMContext &context = module.getContext();
    llvm::Type *pointer = llvm::PointerType::getUnqual(context);
    auto *type =
        llvm::FunctionType::get(llvm::Type::getInt32Ty(context),
                                {pointer, llvm::Type::getInt64Ty(context), pointer}, false);
    auto *code = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "loop", module);
    code->addFnAttr(llvm::Attribute::NoUnwind);
    return code;
  }

  llvm::Value *wordOf(Slot slot, int32_t number = 0) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), words_,
                                               ScalarLoop::wordsPerSlot * slot + number);
  }
  // Of a matrix: 0 the address of its cells, 1 its rows, 2 its columns.
  llvm::Value *ofMatrix(Slot slot, int32_t number) {
    return builder_.CreateLoad(builder_.getInt64Ty(), wordOf(loop_.matrixOf[slot], number));
  }

  void noteAssigned(Slot slot) override { isAssigned_[slot] = true; }
  llvm::Value *calls() override { return code_->getArg(2); }
  llvm::Value *nestedCalls() override {
    llvm::Value *place = builder_.CreateConstInBoundsGEP1_64(
        builder_.getInt8Ty(), calls(), static_cast<uint64_t>(offsetof(CompiledCalls, nested)));
    return builder_.CreateLoad(builder_.getInt64Ty(), place);
  }

  // Interpretation goes on at the instruction; where something fails, it says what is wrong.
  void leave(int32_t instruction) override {
    builder_.CreateStore(builder_.getInt32(instruction), leftAt_);
    builder_.CreateBr(leaving_);
  }

  // All numbers that the loop assigns go back.
  void emitLeaving() {
    builder_.SetInsertPoint(leaving_);
    for (Slot slot = 0; slot < static_cast<Slot>(variables_.size()); ++slot)
      if (variables_[slot] && isAssigned_[slot])
        builder_.CreateStore(toWord(valueOf(slot)), wordOf(slot));
    builder_.CreateRet(builder_.CreateLoad(builder_.getInt32Ty(), leftAt_));
  }

  // Counts as an iteration.
  void jumpBack(int32_t target) override {
    llvm::Value *left = builder_.CreateSub(builder_.CreateLoad(builder_.getInt64Ty(), remaining_),
                                           builder_.getInt64(1));
    builder_.CreateStore(left, remaining_);
    llvm::BasicBlock *pausing = newBlock();
    builder_.CreateCondBr(builder_.CreateICmpSGT(left, builder_.getInt64(0)), blockOf(target),
                          pausing);
    builder_.SetInsertPoint(pausing);
    leave(target);
  }

  // The address of a cell; leaves the loop if it is outside of the matrix.
  llvm::Value *cell(const Instruction &instruction, int32_t rowOperand, int32_t columnOperand) {
    Slot matrix = operand(instruction, 0);
    llvm::Value *columns = ofMatrix(matrix, 2);
    llvm::Value *row = builder_.CreateSub(value(instruction, rowOperand), builder_.getInt64(1));
    llvm::Value *column =
        builder_.CreateSub(value(instruction, columnOperand), builder_.getInt64(1));
    leaveIf(builder_.CreateOr(builder_.CreateICmpUGE(row, ofMatrix(matrix, 1)),
                              builder_.CreateICmpUGE(column, columns)));
    llvm::Value *place = builder_.CreateAdd(builder_.CreateMul(row, columns), column);
    llvm::Value *cells = builder_.CreateIntToPtr(ofMatrix(matrix, 0), builder_.getPtrTy());
    return builder_.CreateInBoundsGEP(builder_.getDoubleTy(), cells, place);
  }

  void emit(const Instruction &instruction) override {
    bool isOfMatrix = instruction.operandCount > 0 && type(instruction, 0) == SlotType::Matrix;
    switch (instruction.opcode) {
    case Opcode::Move:
    case Opcode::Copy:
      if (!isOfMatrix)
        ScalarEmission::emit(instruction);
      return;
    case Opcode::Rows:
      return assign(instruction, ofMatrix(operand(instruction, 0), 1));
    case Opcode::Columns:
      return assign(instruction, ofMatrix(operand(instruction, 0), 2));
    case Opcode::Length:
      return assign(instruction, builder_.CreateMul(ofMatrix(operand(instruction, 0), 1),
                                                    ofMatrix(operand(instruction, 0), 2)));
    case Opcode::ReadCell:
      return assign(instruction,
                    builder_.CreateLoad(builder_.getDoubleTy(), cell(instruction, 1, 3)));
    case Opcode::WriteCell: {
      llvm::Value *address = cell(instruction, 2, 4);
      builder_.CreateStore(asDouble(value(instruction, 1)), address);
      return;
    }
    default:
      return ScalarEmission::emit(instruction);
    }
  }

  const ScalarLoop &loop_;
  llvm::Value *words_;
  std::vector<bool> isAssigned_; // by slot
  llvm::BasicBlock *leaving_ = nullptr;
  llvm::Value *remaining_ = nullptr, *leftAt_ = nullptr;
};

// {bool reachedEnd, results...} function(CompiledCalls *calls, int64_t nested, arguments...)
class FunctionEmission final : public ScalarEmission {
public:
  FunctionEmission(const Image &image, const ScalarFunction &scalar, llvm::Function *code)
      : ScalarEmission({image, image.functions[scalar.function], 0,
                        static_cast<int32_t>(image.functions[scalar.function].instructions.size()),
                        scalar.types, scalar.callees},
                       code),
        scalar_(scalar) {}

  static llvm::Function *declare(const Image &image, const ScalarFunction &scalar, int32_t number,
                                 llvm::Module &module) {
    llvm::LLVMContext &context = module.getContext();
    auto typeOf = [&](SlotType type) -> llvm::Type * {
      return type == SlotType::Boolean   ? llvm::Type::getInt1Ty(context)
             : type == SlotType::Integer ? llvm::Type::getInt64Ty(context)
                                         : llvm::Type::getDoubleTy(context);
    };
    llvm::SmallVector<llvm::Type *> parameters = {llvm::PointerType::getUnqual(context),
                                                  llvm::Type::getInt64Ty(context)};
    for (int32_t i = 0; i < image.functions[scalar.function].parameterCount; ++i)
      parameters.push_back(typeOf(scalar.types[i]));
    llvm::SmallVector<llvm::Type *> results = {llvm::Type::getInt1Ty(context)};
    for (SlotType type : scalar.results)
      results.push_back(typeOf(type));
    auto *type =
        llvm::FunctionType::get(llvm::StructType::get(context, results), parameters, false);
    auto *code = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                        nameOfScalarFunction(number), module);
    code->addFnAttr(llvm::Attribute::NoUnwind);
    return code;
  }

  void run() {
    begin();
    for (unsigned i = 2; i < code_->arg_size(); ++i)
      builder_.CreateStore(code_->getArg(i), variables_[i - 2]);
    llvm::BasicBlock *instructions = newBlock();
    countTo(instructions);
    builder_.SetInsertPoint(instructions);
    emitInstructions();
    builder_.CreateUnreachable(); // the last instruction returns
  }

private:
  llvm::Value *calls() override { return code_->getArg(0); }
  llvm::Value *nestedCalls() override { return code_->getArg(1); }

  void leave(int32_t) override {
    llvm::Value *place = builder_.CreateConstInBoundsGEP1_64(
        builder_.getInt8Ty(), calls(), static_cast<uint64_t>(offsetof(CompiledCalls, hasGivenUp)));
    builder_.CreateStore(builder_.getInt8(1), place);
    builder_.CreateRet(llvm::Constant::getNullValue(code_->getReturnType()));
  }

  void jumpBack(int32_t target) override { countTo(blockOf(target)); }

  // Calls and iterations count until the run is asked whether to go on.
  void countTo(llvm::BasicBlock *next) {
    llvm::Type *word = builder_.getInt64Ty();
    llvm::Value *remaining = builder_.CreateConstInBoundsGEP1_64(
        builder_.getInt8Ty(), calls(), static_cast<uint64_t>(offsetof(CompiledCalls, remaining)));
    llvm::Value *left =
        builder_.CreateSub(builder_.CreateLoad(word, remaining), builder_.getInt64(1));
    builder_.CreateStore(left, remaining);
    llvm::BasicBlock *asking = newBlock(), *leaving = newBlock();
    builder_.CreateCondBr(builder_.CreateICmpSGT(left, builder_.getInt64(0)), next, asking);
    builder_.SetInsertPoint(asking);
    llvm::Value *place = builder_.CreateConstInBoundsGEP1_64(
        builder_.getInt8Ty(), calls(), static_cast<uint64_t>(offsetof(CompiledCalls, goOn)));
    llvm::Value *goOn = builder_.CreateLoad(builder_.getPtrTy(), place);
    auto *type = llvm::FunctionType::get(builder_.getInt8Ty(), {builder_.getPtrTy()}, false);
    llvm::Value *isToGoOn =
        builder_.CreateTrunc(builder_.CreateCall(type, goOn, {calls()}), builder_.getInt1Ty());
    builder_.CreateCondBr(isToGoOn, next, leaving);
    builder_.SetInsertPoint(leaving);
    leave(current_);
  }

  void emit(const Instruction &instruction) override {
    if (instruction.opcode != Opcode::Return)
      return ScalarEmission::emit(instruction);
    llvm::Value *results = llvm::Constant::getNullValue(code_->getReturnType());
    results = builder_.CreateInsertValue(results, builder_.getTrue(), 0);
    for (size_t i = 0; i < scalar_.results.size(); ++i)
      results = builder_.CreateInsertValue(results, value(instruction, static_cast<int32_t>(i)),
                                           static_cast<unsigned>(i) + 1);
    builder_.CreateRet(results);
  }

  const ScalarFunction &scalar_;
};

void emitFunctions(const Image &image, const ScalarFunctions &functions, llvm::Module &module) {
  std::vector<llvm::Function *> code;
  for (int32_t i = 0; i < functions.size(); ++i)
    code.push_back(FunctionEmission::declare(image, functions[i], i, module));
  for (int32_t i = 0; i < functions.size(); ++i)
    FunctionEmission(image, functions[i], code[i]).run();
}

// bool entry(CompiledCalls *calls, int64_t *words): calls a function, with arguments and results in
// words.
void emitEntry(llvm::Function *callee, llvm::Module &module) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *word = builder.getInt64Ty();
  auto *type =
      llvm::FunctionType::get(builder.getInt8Ty(), {builder.getPtrTy(), builder.getPtrTy()}, false);
  auto *code = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "entry", module);
  code->addFnAttr(llvm::Attribute::NoUnwind);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", code));
  llvm::Value *calls = code->getArg(0);
  auto wordOf = [&](unsigned number) {
    return builder.CreateConstInBoundsGEP1_64(word, code->getArg(1), number);
  };
  llvm::Value *nested = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), calls, static_cast<uint64_t>(offsetof(CompiledCalls, nested)));
  llvm::SmallVector<llvm::Value *> arguments = {calls, builder.CreateLoad(word, nested)};
  for (unsigned i = 2; i < callee->arg_size(); ++i) {
    llvm::Value *argument = builder.CreateLoad(word, wordOf(i - 2));
    llvm::Type *wanted = callee->getArg(i)->getType();
    arguments.push_back(wanted->isDoubleTy() ? builder.CreateBitCast(argument, wanted)
                                             : builder.CreateTrunc(argument, wanted));
  }
  llvm::Value *results = builder.CreateCall(callee, arguments);
  unsigned count = llvm::cast<llvm::StructType>(results->getType())->getNumElements();
  for (unsigned i = 1; i < count; ++i) {
    llvm::Value *result = builder.CreateExtractValue(results, i);
    result = result->getType()->isDoubleTy() ? builder.CreateBitCast(result, word)
                                             : builder.CreateZExt(result, word);
    builder.CreateStore(result, wordOf(i - 1));
  }
  builder.CreateRet(
      builder.CreateZExt(builder.CreateExtractValue(results, 0), builder.getInt8Ty()));
}

} // namespace

template <typename Emit>
std::shared_ptr<codegen::MachineCode> ScalarCompiler::compileModule(const Emit &emit) {
  UncheckedByThreadSanitizer section;
  auto start = std::chrono::steady_clock::now();
  if (!emitter_) {
    auto emitter = codegen::CodeEmitter::create(codegen::hostTarget());
    if (!emitter) {
      llvm::consumeError(emitter.takeError());
      return nullptr;
    }
    emitter_ = std::move(*emitter);
  }
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  llvm::Module module("scalars", context);
  module.setDataLayout(emitter_->machine().createDataLayout());
  module.setTargetTriple(emitter_->machine().getTargetTriple().str());
  emit(module);
  if (llvm::Error error = codegen::optimize(module, emitter_->machine()))
    internalError("code of scalars can't be compiled: " + llvm::toString(std::move(error)));
  auto linked = codegen::MachineCode::link(emitter_->emitObject(module)->getMemBufferRef());
  if (!linked)
    internalError("code of scalars can't be linked: " + llvm::toString(linked.takeError()));
  statistics_.nanoseconds +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count();
  return *linked;
}

std::shared_ptr<const runtime::CompiledLoop>
ScalarCompiler::compileLoop(const Image &image, const ImageFunction &function, int32_t head,
                            int32_t end, const runtime::Value *slots) {
  std::optional<ScalarLoop> loop = runtime::scalarLoopAt(image, function, head, end, slots);
  if (!loop)
    return nullptr;
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = loops_.try_emplace({&function.instructions[head], loop->types});
  if (!isNew)
    return entry->second;
  auto linked = compileModule([&](llvm::Module &module) {
    if (loop->functions)
      emitFunctions(image, *loop->functions, module);
    LoopEmission(image, function, *loop, module).run();
  });
  if (!linked)
    return nullptr;
  auto compiled = std::make_shared<runtime::CompiledLoop>();
  compiled->loop = std::move(*loop);
  compiled->code = reinterpret_cast<decltype(compiled->code)>(linked->address("loop"));
  compiled->memory = std::move(linked);
  entry->second = std::move(compiled);
  ++statistics_.loops;
  return entry->second;
}

std::shared_ptr<const runtime::CompiledFunction>
ScalarCompiler::compileFunction(const Image &image, int32_t function,
                                const std::vector<SlotType> &arguments) {
  std::lock_guard lock(mutex_);
  auto [entry, isNew] = functions_.try_emplace({&image.functions[function], arguments});
  if (!isNew)
    return entry->second;
  ScalarFunctions functions(image);
  std::optional<int32_t> number = functions.find(function, arguments);
  if (!number)
    return nullptr;
  auto linked = compileModule([&](llvm::Module &module) {
    emitFunctions(image, functions, module);
    emitEntry(module.getFunction(nameOfScalarFunction(*number)), module);
  });
  if (!linked)
    return nullptr;
  auto compiled = std::make_shared<runtime::CompiledFunction>();
  compiled->arguments = arguments;
  compiled->results = functions[*number].results;
  compiled->code = reinterpret_cast<decltype(compiled->code)>(linked->address("entry"));
  compiled->memory = std::move(linked);
  entry->second = std::move(compiled);
  ++statistics_.functions;
  return entry->second;
}

ScalarCompiler::Statistics ScalarCompiler::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}
