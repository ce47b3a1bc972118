// Loads the fifteen dialects that the minimal programs share:
//
//   mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
//   loadDialects(context);
#ifndef TOKAMAK_BENCH_MINIMALDIALECTS_H
#define TOKAMAK_BENCH_MINIMALDIALECTS_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

inline void loadDialects(mlir::MLIRContext &context) {
  using namespace mlir;
  context.loadDialect<
      affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
      cf::ControlFlowDialect, complex::ComplexDialect, func::FuncDialect, index::IndexDialect,
      linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
      scf::SCFDialect, tensor::TensorDialect, ub::UBDialect, vector::VectorDialect>();
}

#endif
