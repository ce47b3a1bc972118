// Builds the operators of BlockOperator.h.
#include "codegen/testing/BlockOperator.h"

#include "ir/plan/BodyBuilder.h"
#include "ir/tok/ElementTypes.h"
#include "ir/tok/InferFacts.h"
#include "ir/tok/SizesAttribute.h"
#include "reference/BodyMeaning.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <regex>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::codegen;

namespace {

using SizesOfValues = llvm::DenseMap<Value, SmallVector<Size>>;

SizesOfValues inferSizes(func::FuncOp block, ArrayRef<Size> ofOperands) {
  llvm::DenseMap<Value, tok::Facts> facts;
  SizesOfValues sizes;
  for (auto [number, argument] : llvm::enumerate(block.getArguments()))
    if (tok::isArray(argument.getType()))
      facts[argument] = tok::Facts::matrix(ofOperands[2 * number], ofOperands[2 * number + 1]);
  for (Operation &operation : block.getBody().front()) {
    SmallVector<tok::Facts> operands, results(operation.getNumResults());
    for (Value operand : operation.getOperands())
      operands.push_back(facts.lookup(operand));
    tok::inferFacts(&operation, operands, results);
    for (auto [result, fact] : llvm::zip(operation.getResults(), results))
      facts[result] = fact;
  }
  for (auto &[value, fact] : facts)
    sizes[value].assign(fact.dims.begin(), fact.dims.end());
  return sizes;
}

Value untransposed(Value value) {
  auto transpose = value.getDefiningOp<tok::TransposeOp>();
  return transpose ? transpose.getOperand() : Value();
}

// The rows and the longest columns of what the block iterates over: of everything but the right
// operands of products, transposes, and what is summed over rows.
plan::Shape spaceOf(func::FuncOp block, const SizesOfValues &sizes) {
  plan::Shape space{Size::constant(1), Size::constant(1), {}};
  auto visit = [&](Value value) {
    auto known = sizes.find(value);
    if (!tok::isArray(value.getType()) || known == sizes.end())
      return;
    plan::Shape shape = plan::Shape::of(known->second);
    if (space.hasOneRow())
      space.rows = shape.rows;
    auto isLonger = [](const Size &a, const Size &b) {
      return a.isConstant() && (!b.isConstant() || a.constantValue() < b.constantValue());
    };
    if (!shape.hasOneColumn() && (space.hasOneColumn() || isLonger(space.columns, shape.columns)))
      space.columns = shape.columns;
  };
  for (Operation &operation : block.getBody().front()) {
    if (auto product = dyn_cast<tok::MatmulOp>(operation)) {
      Value left = untransposed(product.getLhs());
      visit(left ? left : product.getLhs());
      visit(left ? product.getRhs() : product.getResult());
    } else if (auto aggregate = dyn_cast<tok::AggregateOp>(operation)) {
      visit(aggregate.getOperand());
    } else if (isa<tok::UnaryOp, tok::BinaryOp, tok::IfElseOp, tok::CastOp>(operation)) {
      llvm::for_each(operation.getOperands(), visit);
      visit(operation.getResult(0));
    }
  }
  return space;
}

// Whether the value is computed at the entries of the drivers.
bool isAtEntries(Value value) {
  auto product = value.getDefiningOp<tok::MatmulOp>();
  return product ? untransposed(product.getRhs()) && !untransposed(product.getLhs())
                 : !value.getDefiningOp<tok::AggregateOp>();
}

plan::OperatorOp buildOperator(func::FuncOp block, const SizesOfValues &sizes,
                               ArrayRef<int64_t> drivers, ArrayRef<int64_t> csr) {
  OpBuilder builder(block);
  auto kernel = builder.create<func::FuncOp>(block.getLoc(), "kernel",
                                             builder.getFunctionType(block.getArgumentTypes(), {}));
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  plan::Shape space = drivers.empty()
                          ? spaceOf(block, sizes)
                          : plan::Shape::of(sizes.lookup(block.getArgument(drivers.front())));
  auto listOf = [&](ValueRange values) {
    SmallVector<Attribute> lists;
    for (Value value : values)
      lists.push_back(tok::sizesAttribute(builder.getContext(), tok::isArray(value.getType())
                                                                    ? sizes.lookup(value)
                                                                    : SmallVector<Size>()));
    return builder.getArrayAttr(lists);
  };
  ValueRange results = block.getBody().front().getTerminator()->getOperands();
  SmallVector<int64_t> sparseResults;
  for (auto [number, result] : llvm::enumerate(results))
    if (!drivers.empty() && tok::isArray(result.getType()) && isAtEntries(result) &&
        plan::Shape::of(sizes.lookup(result)) == space)
      sparseResults.push_back(number);
  auto attribute = [&](ArrayRef<int64_t> numbers) { return builder.getDenseI64ArrayAttr(numbers); };
  auto op = builder.create<plan::OperatorOp>(
      block.getLoc(), results.getTypes(), kernel.getArguments(), listOf(block.getArguments()),
      listOf(results), builder.getArrayAttr({}), StringAttr(), attribute(csr), attribute(drivers),
      attribute(sparseResults));
  Block *region = builder.createBlock(&op.getBody());
  for (BlockArgument argument : block.getArguments())
    region->addArgument(argument.getType(), argument.getLoc());
  auto sizesOf = [&](Value value) -> ArrayRef<Size> { return sizes.find(value)->second; };
  auto operand = [&](Value value) -> plan::BodyOperand {
    auto argument = dyn_cast<BlockArgument>(value);
    return {value, argument ? region->getArgument(argument.getArgNumber()) : BlockArgument()};
  };
  SmallVector<plan::BodyStep> steps;
  for (Operation &operation : block.getBody().front().without_terminator()) {
    if (isa<tok::TransposeOp, tok::ConstantOp>(operation))
      continue;
    auto &operands = steps.emplace_back(&operation).operands;
    for (Value value : operation.getOperands())
      operands.push_back(operand(value));
    auto product = dyn_cast<tok::MatmulOp>(operation);
    if (Value left = product ? untransposed(product.getLhs()) : Value())
      operands[0] = operand(left);
    else if (Value right = product ? untransposed(product.getRhs()) : Value())
      operands[1] = {product.getRhs(), operand(right).argument, /*isTransposed=*/true};
  }
  SmallVector<plan::BodyResult> written;
  for (Value result : results)
    written.push_back({result});
  plan::buildBody(op, space, steps, written, sizesOf);
  return op;
}

SmallVector<int64_t> numbersIn(const std::string &text) {
  SmallVector<int64_t> numbers;
  static const std::regex number("\\d+");
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
    numbers.push_back(std::stoll(it->str()));
  return numbers;
}

} // namespace

BlockOperator codegen::parseBlockOperator(MLIRContext &context, const std::string &text,
                                          const std::string &cells) {
  static const std::regex header(
      R"(\s*block sizes \[([^\]]*)\](?: driver \[([^\]]*)\])?(?: csr \[([^\]]*)\])?)");
  std::smatch match;
  if (!std::regex_search(text, match, header)) {
    ADD_FAILURE() << "no block: " << text;
    return {};
  }
  std::string source = "func.func @block" + match.suffix().str();
  for (auto [name, type] :
       {std::pair("$M", "tensor<?x?x" + cells + ">"), {"$F", "tensor<?x?xf32>"}})
    for (size_t at; (at = source.find(name)) != std::string::npos;)
      source.replace(at, 2, type);
  SmallVector<Size> sizes;
  SmallVector<StringRef> words;
  std::string list = match[1].str();
  StringRef(list).split(words, ',');
  for (StringRef word : words)
    sizes.push_back(
        *Size::parse(std::string_view(word.trim(" \"").data(), word.trim(" \"").size())));
  BlockOperator result;
  result.module = parseSourceString<ModuleOp>(source, &context);
  if (!result.module) {
    ADD_FAILURE() << source;
    return result;
  }
  result.block = *result.module->getOps<func::FuncOp>().begin();
  result.op = buildOperator(result.block, inferSizes(result.block, sizes),
                            numbersIn(match[2].str()), numbersIn(match[3].str()));
  EXPECT_TRUE(succeeded(verify(result.op))) << text;
  return result;
}

std::vector<Matrix> codegen::interpretBody(plan::OperatorOp op, const std::vector<Matrix> &inputs,
                                           const std::vector<double> &scalars) {
  std::vector<reference::CellArray> operands;
  auto input = inputs.begin();
  auto scalar = scalars.begin();
  for (Type type : op.getInputs().getTypes()) {
    ElementType cells = *tok::elementTypeOf(type);
    if (tok::isArray(type)) {
      operands.push_back(arrayOf({input->rows, input->columns}, input->cells, cells));
      ++input;
    } else {
      operands.push_back(arrayOf({}, {*scalar++}, cells));
    }
  }
  std::vector<Matrix> results;
  for (auto [result, type] :
       llvm::zip(reference::meaningOf(op, std::move(operands)), op.getResultTypes()))
    results.push_back(matrixOf(std::move(result), *tok::elementTypeOf(type)));
  return results;
}
