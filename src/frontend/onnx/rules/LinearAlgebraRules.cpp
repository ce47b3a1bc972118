// Operators of the domain `tokamak`: linear algebra that ONNX has no operators for, as DML defines it. Lazy arrays are
// written with them (python/tokamak/arrays).
//
//   Solve(A, b)   the x with A x = b, or of the least squares where A has more rows than columns
//   Inverse(A)    of a square matrix
//   Cholesky(A)   the lower triangle L with A = L L^T
//   Eigen(A)      eigenvalues of a symmetric matrix, ascending, n x 1, and its eigenvectors in the columns
//   Svd(A)        U, n x k, S, the k x k diagonal of singular values, descending, and V, m x k, with A = U S V^T
//   Qr(A)         the reflections in the columns of H, n x k, and the reduced n x m matrix R, as DML's qr has them
//   Lu(A)         P, L and U of a square matrix, with P A = L U
#include "frontend/onnx/ImportRules.h"

#include "base/Error.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::onnx;

using mlir::Value;

namespace {

// Matrices of all operands, computed in doubles; results have the type of the first operand.
void importNative(NodeImporter &node, StringRef native, size_t results) {
  GraphBuilder &graph = node.graph();
  Values operands;
  for (size_t i = 0; i < node.operandCount(); ++i) {
    if (node.rank(i) != 2)
      throw Error("a matrix has two dimensions");
    operands.push_back(graph.cast(node.operand(i), ElementType::F64));
  }
  mlir::Type matrix = operands.front().getType();
  auto call = graph.builder().create<tok::CallNativeOp>(
      graph.location(), SmallVector<mlir::Type>(results, matrix), native, operands);
  for (size_t i = 0; i < std::min(results, node.resultCount()); ++i)
    node.setResult(i, graph.cast(call.getResult(i), node.elementType(0)));
}

void importSolve(NodeImporter &node) { importNative(node, "solve", 1); }
void importInverse(NodeImporter &node) { importNative(node, "inv", 1); }
void importCholesky(NodeImporter &node) { importNative(node, "cholesky", 1); }
void importEigen(NodeImporter &node) { importNative(node, "eigen", 2); }
void importSvd(NodeImporter &node) { importNative(node, "svd", 3); }
void importQr(NodeImporter &node) { importNative(node, "qr", 2); }
void importLu(NodeImporter &node) { importNative(node, "lu", 3); }

constexpr ImportRule rules[] = {
    {"tokamak.Solve", 1, importSolve},
    {"tokamak.Inverse", 1, importInverse},
    {"tokamak.Cholesky", 1, importCholesky},
    {"tokamak.Eigen", 1, importEigen},
    {"tokamak.Svd", 1, importSvd},
    {"tokamak.Qr", 1, importQr},
    {"tokamak.Lu", 1, importLu},
};

} // namespace

llvm::ArrayRef<ImportRule> onnx::linearAlgebraRules() { return rules; }
