#include "pipeline/BlockSignature.h"

#include "ir/plan/PlanDialect.h"
#include "ir/tok/OperatorNames.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::pipeline;

SmallVector<Operation *> pipeline::operationsWithKernels(func::FuncOp block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.getBody().front())
    if (isa<plan::OperatorOp>(op) ||
        (isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::AggregateOp>(op) &&
         llvm::any_of(op.getOperandTypes(), tok::isArray)))
      operations.push_back(&op);
  return operations;
}

static BlockSignature::Input inputOf(Type type) {
  using Kind = BlockSignature::Input::Kind;
  if (auto array = dyn_cast<RankedTensorType>(type))
    return {Kind::Array, static_cast<int>(array.getRank())};
  if (type.isInteger(64))
    return {Kind::Integer};
  return {tok::isNumber(type) ? Kind::Number : Kind::Other};
}

static std::string spellingOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<tok::UnaryOp, tok::BinaryOp>(
          [](auto named) { return std::string(spelling(named.getKind())); })
      .Case([](tok::IfElseOp) { return std::string("ifelse"); })
      .Default([](Operation *) { return std::string(); });
}

BlockSignature pipeline::signatureOf(const FrozenBlock &block) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tok::TokDialect, plan::PlanDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(block.bytecode, ParserConfig(&context));
  if (!module)
    internalError("a block can't be read");
  auto function = *module->getOps<func::FuncOp>().begin();
  BlockSignature signature;
  for (Type type : function.getArgumentTypes())
    signature.inputs.push_back(inputOf(type));
  SmallVector<Operation *> operations = operationsWithKernels(function);
  bool isAlone = llvm::all_of(function.getBody().front(), [&](Operation &op) {
    return isa<tok::ConstantOp, func::ReturnOp>(op) || llvm::is_contained(operations, &op);
  });
  if (!isAlone || operations.size() != 1)
    return signature;
  using Contents = BlockSignature::Contents;
  signature.contents = isa<plan::OperatorOp>(operations.front())   ? Contents::Operator
                       : isa<tok::AggregateOp>(operations.front()) ? Contents::Aggregate
                                                                   : Contents::Cells;
  signature.operation = spellingOf(operations.front());
  return signature;
}
