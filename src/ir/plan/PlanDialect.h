// The `plan` dialect: fused operators between fusion and code generation (PlanOps.td).
//
//   for (plan::OperatorOp op : block.getOps<plan::OperatorOp>())
//     tok::Facts facts = plan::bodyFacts(op).lookup(value);
#ifndef TOKAMAK_IR_PLAN_PLANDIALECT_H
#define TOKAMAK_IR_PLAN_PLANDIALECT_H

#include "ir/tok/TokDialect.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "PlanDialect.h.inc"
#define GET_OP_CLASSES
#include "PlanOps.h.inc"

#include "llvm/ADT/DenseMap.h"

namespace tokamak::plan {

enum class FusionTemplate : uint8_t { Cell, Row, MultiAgg, Outer };
llvm::StringRef name(FusionTemplate fusionTemplate);
FusionTemplate templateOf(OperatorOp op);

// The facts of the operands (block arguments) and of every value in the body, inferred from
// `sizes`.
llvm::DenseMap<mlir::Value, tok::Facts> bodyFacts(OperatorOp op);

} // namespace tokamak::plan
#endif
