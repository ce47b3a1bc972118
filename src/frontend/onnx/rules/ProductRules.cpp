// Products of matrices, and places that other arrays name.
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// A vector is a row on the left and a column on the right, and is missing in the result.
void importMatMul(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0), y = node.operand(1);
  bool isRow = node.rank(0) == 1, isColumn = node.rank(1) == 1;
  if (node.rank(0) == 0 || node.rank(1) == 0)
    throw Error("a product of arrays without dimensions");
  x = isRow ? graph.unsqueeze(x, {0}) : x;
  y = isColumn ? graph.unsqueeze(y, {1}) : y;
  Value product = graph.matmul(x, y);
  int64_t rank = GraphBuilder::rankOf(product);
  Numbers missing;
  if (isRow)
    missing.push_back(rank - 2);
  if (isColumn)
    missing.push_back(rank - 1);
  node.setResult(0, graph.squeeze(product, missing));
}

void importGemm(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  node.ignore({"beta"}); // where nothing is added
  if (node.version() < 7)
    node.ignore({"broadcast"}); // what is added always is
  Value a = node.operand(0), b = node.operand(1);
  if (node.integer("transA", 0) != 0)
    a = graph.permute(a, {1, 0});
  if (node.integer("transB", 0) != 0)
    b = graph.permute(b, {1, 0});
  auto scaled = [&](Value x, double factor) {
    return factor == 1 ? x : graph.binary(Binary::Mul, x, graph.real(factor));
  };
  Value y = scaled(graph.matmul(a, b), node.real("alpha", 1));
  if (node.hasOperand(2))
    y = graph.binary(Binary::Add, y, scaled(node.operand(2), node.real("beta", 1)));
  node.setResult(0, y);
}

// Of the matrices in the last two dimensions.
void importDet(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0);
  if (rank < 2)
    throw Error("a matrix has two dimensions");
  Values sizes = graph.sizes(node.operand(0)), leading(sizes.begin(), sizes.end() - 2);
  Value matrices =
      graph.view(node.operand(0), {graph.product(leading), sizes[rank - 2], sizes[rank - 1]});
  Value all = graph.native("determinants", {matrices}, 1, GraphBuilder::elementOf(matrices));
  node.setResult(0, graph.view(all, leading));
}

//===- places --------------------------------------------------------------------------------===//

void importGatherElements(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  Value x = node.operand(0);
  int64_t dimension = node.axis(node.integer("axis", 0), node.rank(0));
  Value along = graph.checkedIndices(node.operand(1), graph.size(x, dimension));
  node.setResult(0, graph.takeElements(x, along, dimension));
}

void importOneHot(NodeImporter &node) {
  GraphBuilder &graph = node.graph();
  int64_t rank = node.rank(0), axis = node.axis(node.integer("axis", -1), rank + 1);
  Value depth = graph.inIntegers(node.scalarAt(1));
  Value indices = graph.unsqueeze(graph.fromZero(node.operand(0), depth), {axis});
  Value places = graph.places(depth, graph.builder().getI64Type());
  Value isThere = graph.binary(Binary::Eq, indices, graph.startingAt(places, axis, rank + 1));
  auto valueAt = [&](int64_t place) {
    return graph.part(node.operand(2), 0, graph.integer(place));
  };
  node.setResult(0, graph.select(isThere, valueAt(1), valueAt(0)));
}

constexpr ImportRule rules[] = {
    {"Det", 11, importDet},      {"GatherElements", 11, importGatherElements},
    {"Gemm", 1, importGemm},     {"MatMul", 1, importMatMul},
    {"OneHot", 9, importOneHot},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::productRules() { return rules; }
