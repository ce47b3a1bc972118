#include "codegen/LlvmLowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"

#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#if LLVM_ADDRESS_SANITIZER_BUILD
// A Tokamak that is built with AddressSanitizer instruments its kernels, too.
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#endif

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

#ifdef NDEBUG
static constexpr bool verifies = false;
#else
static constexpr bool verifies = true;
#endif

// The assembler reads the files; TOKAMAK_BITCODE_FOLDER is their folder (CMakeLists.txt).
#define TOKAMAK_EMBED(symbol, file)                                                                \
  __asm__(".section .rodata\n"                                                                     \
          ".balign 16\n" symbol "Begin:\n"                                                         \
          ".incbin \"" TOKAMAK_BITCODE_FOLDER "/" file "\"\n" symbol "End:\n"                      \
          ".byte 0\n"                                                                              \
          ".text\n")
#include "codegen/VectorMath.bc.h"
#include "codegen/VectorMathAvx512.bc.h"
TOKAMAK_EMBED("tokamakVectorMath", "VectorMath.bc");
TOKAMAK_EMBED("tokamakVectorMathAvx512", "VectorMathAvx512.bc");
extern "C" const char tokamakVectorMathBegin[], tokamakVectorMathEnd[],
    tokamakVectorMathAvx512Begin[], tokamakVectorMathAvx512End[];

static llvm::StringRef between(const char *begin, const char *end) {
  return {begin, static_cast<size_t>(end - begin)};
}

llvm::StringRef codegen::vectorMathBitcode() {
  return between(tokamakVectorMathBegin, tokamakVectorMathEnd);
}

llvm::StringRef codegen::vectorMathBitcode(const llvm::TargetMachine &machine) {
  bool hasAvx512 = machine.getTargetTriple().isX86() &&
                   machine.getMCSubtargetInfo()->checkFeatures("+avx512f,+avx512vl");
  return hasAvx512 ? between(tokamakVectorMathAvx512Begin, tokamakVectorMathAvx512End)
                   : vectorMathBitcode();
}

static DialectRegistry translations() {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return registry;
}

LoweringContext::LoweringContext() : context_(translations(), MLIRContext::Threading::DISABLED) {
  context_.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                       scf::SCFDialect, vector::VectorDialect>();
  RewritePatternSet set(&context_);
  populateSCFToControlFlowConversionPatterns(set);
  cf::populateControlFlowToLLVMConversionPatterns(types_, set);
  arith::populateArithToLLVMConversionPatterns(types_, set);
  populateVectorToLLVMConversionPatterns(types_, set);
  patterns_ = FrozenRewritePatternSet(std::move(set));
  target_.addLegalOp<ModuleOp>();
}

std::unique_ptr<llvm::Module> LoweringContext::lower(ModuleOp module,
                                                     llvm::LLVMContext &llvmContext) {
  if (verifies && failed(verify(module)))
    return nullptr;
  if (failed(applyPartialConversion(module, target_, patterns_)))
    return nullptr;
  return translateModuleToLLVMIR(module, llvmContext, module.getName().value_or("kernel"),
                                 /*disableVerification=*/!verifies);
}

// Inlines the functions that say so into all that call them.
static void inlineFunctions(llvm::Module &module) {
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    if (function.isDeclaration() || !function.hasFnAttribute(llvm::Attribute::AlwaysInline))
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(function.users())) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*llvm::cast<llvm::CallBase>(user), info, /*MergeAttributes=*/false,
                           /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false);
    }
    function.eraseFromParent();
  }
}

static llvm::Error linkVectorMath(llvm::Module &module, const llvm::TargetMachine &machine) {
  bool isNeeded = llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("tokamak_vector_");
  });
  if (!isNeeded)
    return llvm::Error::success();
  auto library = llvm::getLazyBitcodeModule(
      llvm::MemoryBufferRef(vectorMathBitcode(machine), "VectorMath"), module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError("the vector math does not link");
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || !function.getName().starts_with("tokamak_vector_"))
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    // The bitcode was compiled for some fixed CPU; without these attributes the function is
    // compiled for the kernel's CPU.
    for (const char *attribute : {"target-cpu", "target-features", "tune-cpu",
                                  "min-legal-vector-width", "prefer-vector-width", "no-builtins"})
      function.removeFnAttr(attribute);
  }
  return llvm::Error::success();
}

// Vectors for which there are no registers lie on the stack. It is aligned to 16 bytes, so that those of 32
// or 64 bytes would lie in two cache lines, mostly.
static void alignStack(llvm::Module &module, const llvm::TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("stackrealign");
}

// A prefetch touches nothing that a kernel computes with. LLVM takes it for an access of what it points to, because of which
// nothing near it stays in registers.
static void separatePrefetches(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
        if (call->getIntrinsicID() == llvm::Intrinsic::prefetch)
          call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
}

llvm::Error codegen::optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // Arrays don't overlap, which is written at each access: that answers most questions at once, before
  // pointers are followed.
  functions.registerPass([] {
    llvm::AAManager aliases;
    aliases.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
    aliases.registerFunctionAnalysis<llvm::BasicAA>();
    return aliases;
  });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  separatePrefetches(module);
  inlineFunctions(module);
  llvm::FunctionPassManager passes;
  // Variables of tiles become registers.
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  // So do aggregates in memory that each step of a loop loads and stores, once the loop is known to have a first step.
  llvm::LoopPassManager ofLoops;
  ofLoops.addPass(llvm::LoopRotatePass());
  ofLoops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(ofLoops), /*UseMemorySSA=*/true));
  // What was loaded or stored before, too: across branches nothing else is redundant.
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
  if (llvm::Error error = linkVectorMath(module, machine))
    return error;
  inlineFunctions(module);
  alignStack(module, machine);
#if LLVM_ADDRESS_SANITIZER_BUILD
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::SanitizeAddress);
  llvm::ModulePassManager checks;
  checks.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions(), /*UseGlobalGC=*/false,
                                            /*UseOdrIndicator=*/false, llvm::AsanDtorKind::None,
                                            llvm::AsanCtorKind::None));
  checks.run(module, modules);
#endif
  if (verifies && llvm::verifyModule(module, &llvm::errs()))
    llvm::report_fatal_error("a kernel's LLVM IR is invalid");
  return llvm::Error::success();
}
