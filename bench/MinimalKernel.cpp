// The smallest static MLIR program that compiles a kernel, a lower bound for the time of
// Tokamak's first kernel: it builds sum(X*Y*Z) with explicit vectors, lowers and
// compiles it at O2, and calls it.

#include "MinimalDialects.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstdio>
#include <vector>

using namespace mlir;

namespace {

// func @k1(x, y, z : memref<?xf64>, n : index) -> f64, for n a multiple of 32.
OwningOpRef<ModuleOp> buildKernel(MLIRContext &context) {
  OpBuilder builder(&context);
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  Type array = MemRefType::get({ShapedType::kDynamic}, builder.getF64Type());
  auto type =
      builder.getFunctionType({array, array, array, builder.getIndexType()}, builder.getF64Type());
  auto function = builder.create<func::FuncOp>(location, "k1", type);
  builder.setInsertionPointToStart(function.addEntryBlock());

  auto vector = VectorType::get({8}, builder.getF64Type());
  Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
  Value stride = builder.create<arith::ConstantIndexOp>(location, 32);
  Value nothing = builder.create<arith::ConstantOp>(
      location, DenseElementsAttr::get(vector, builder.getF64FloatAttr(0.0).getValue()));
  auto loop = builder.create<scf::ForOp>(
      location, zero, function.getArgument(3), stride,
      ValueRange{nothing, nothing, nothing, nothing},
      [&](OpBuilder &body, Location at, Value i, ValueRange sums) {
        SmallVector<Value> next;
        for (int k = 0; k < 4; ++k) {
          Value offset = body.create<arith::ConstantIndexOp>(at, 8 * k);
          Value index = body.create<arith::AddIOp>(at, i, offset);
          Value product;
          for (int argument = 0; argument < 3; ++argument) {
            Value cells =
                body.create<vector::LoadOp>(at, vector, function.getArgument(argument), index);
            product = product ? body.create<arith::MulFOp>(at, product, cells).getResult() : cells;
          }
          next.push_back(body.create<arith::AddFOp>(at, sums[k], product));
        }
        body.create<scf::YieldOp>(at, next);
      });
  Value sum = loop.getResult(0);
  for (int k = 1; k < 4; ++k)
    sum = builder.create<arith::AddFOp>(location, sum, loop.getResult(k));
  Value total = builder.create<vector::ReductionOp>(location, vector::CombiningKind::ADD, sum);
  builder.create<func::ReturnOp>(location, total);
  return module;
}

bool lower(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertIndexToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  return succeeded(passes.run(module));
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

int runKernel(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  OwningOpRef<ModuleOp> module = buildKernel(context);
  if (!lower(*module))
    return 1;

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*module, *llvmContext);
  auto host = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  auto machine = llvm::cantFail(host.createTargetMachine());
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setTargetTriple(machine->getTargetTriple().str());
  optimise(*llvmModule, *machine);

  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host).create());
  llvm::cantFail(
      jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(llvmModule), std::move(llvmContext))));
  using Kernel =
      double (*)(double *, double *, int64_t, int64_t, int64_t, double *, double *, int64_t,
                 int64_t, int64_t, double *, double *, int64_t, int64_t, int64_t, int64_t);
  auto kernel = llvm::cantFail(jit->lookup("k1")).toPtr<Kernel>();
  std::vector<double> x(1024, 2), y(1024, 3), z(1024, 0.5);
  double sum = kernel(x.data(), x.data(), 0, 1024, 1, y.data(), y.data(), 0, 1024, 1, z.data(),
                      z.data(), 0, 1024, 1, 1024);
  std::printf("%g\n", sum);
  return sum == 3072 ? 0 : 1;
}

} // namespace

int main() {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  return runKernel(context);
}
