// The precompiled header of every folder that uses MLIR: MLIR's headers, our dialects, which nearly every such file reads,
// and what some files read but takes long (the LLVM dialect, object files).

// LLVM's allocators poison memory in inline functions where their user is built with AddressSanitizer; Debian's LLVM is
// not, and would read what was never made accessible again.
#include "llvm/Support/Compiler.h"
#if LLVM_ADDRESS_SANITIZER_BUILD
#define __asan_poison_memory_region(p, size)
#define __asan_unpoison_memory_region(p, size)
#endif

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/DebugInfo/DIContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include "StandardHeader.h"

#include "ir/plan/PlanDialect.h"
#include "frontend/onnx/file/Model.h"
#include "support/SourceDiagnostics.h"

// Instantiated here, not in each of the many files that use them: what makes an optional slow to compile.
static_assert(sizeof(std::optional<llvm::SmallVector<mlir::Value, 4>>) > 0);
static_assert(sizeof(std::optional<std::vector<std::string>>) > 0);
static_assert(!std::is_trivially_copy_constructible_v<llvm::SmallVector<mlir::Value, 2>>);
