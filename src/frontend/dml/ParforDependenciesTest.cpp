#include "frontend/dml/Import.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::frontend;

namespace {

// Whether the loops are accepted in a program with matrices A and B (20x20), a scalar a, a list C
// and functions f, g and h.
bool isAccepted(const std::string &loops) {
  std::string text =
      "f = function(matrix[double] X, matrix[double] Y) return (matrix[double] U, matrix[double] "
      "V) {\n"
      "  U = X\n  V = Y\n}\n"
      "g = function(double x, double s = sum(A)) return (double r) { r = x + s }\n"
      "h = function(matrix[double] A, double s = sum(A)) return (double r) { r = s }\n"
      "A = matrix(0, rows=20, cols=20)\nB = A + 1\na = 1\nC = list(A, B)\nn = nrow(A)\n" +
      loops + "\nprint(sum(A) + sum(B) + a + length(C) + n)\n";
  mlir::MLIRContext context;
  SourceManager sources;
  support::DiagnosticEngine engine;
  auto module = importDml(sources, "test.dml", text, {}, context, engine);
  if (!module && !engine.sorted().empty()) {
    const std::string &message = engine.sorted().front()->message;
    EXPECT_NE(message.find("parfor"), std::string::npos) << loops << ": " << message;
  }
  return static_cast<bool>(module);
}

TEST(ParforDependencies, acceptsIndependentIterations) {
  for (const char *loops : {
           "parfor (i in 1:10) { b = i + a }",
           "parfor (i in 2:10) { b = A[i, 1] + A[i + 1, 1] }",
           "parfor (i in 1:10) { c = i; A[i, 1] = as.matrix(c) }",
           "parfor (i in 1:9) { A[i, 1] = B[i, 1] + B[i + 1, 1] }",
           "parfor (i in 1:10) { A[i, 1] = B[i, 1]; A[i + 10, 1] = B[i + 10, 1] }",
           "parfor (i in 1:2) { A[2 * i + 10, 1] = B[i, 1]; A[5 * i, 1] = B[i, 1] }",
           "parfor (i in 10:15) { A[i, 1] = A[i - 9, 1]; }",
           "parfor (i in 1:20) { A[1, i] = 1; A[2, i] = 2 }",
           "parfor (i in 1:4) { A[2 * i, 1] = A[2 * i + 1, 1] }",
           "parfor (i in 1:4) { A[2 * i, ] = A[2 * i + 1, ] }",
           "parfor (i in 1:19) { A[i + 1.0, 1] = 1; A[1, i + 1.0] = 1 }",
           "parfor (i in 1:9) { A[2.0 * i, 1] = 1; A[1, 2.0 * i] = 1 }",
           "parfor (i in 1:20) { A[1:10, i] = B[1:10, i]; A[11:20, i] = B[11:20, i] }",
           "parfor (i in 1:20) { A[1:10, i] = B[1:10, i]; A[11:nrow(A), i] = B[11:20, i] }",
           "parfor (i in 1:20) { k = i; A[i, k] = 1 }",
           "parfor (i in 1:20) { parfor (j in 1:20) { A[i, j] = B[i, j] } }",
           "for (i in 2:20) { parfor (j in 1:20) { A[i, j] = A[i - 1, j] + B[i, j] } }",
           "parfor (i in 1:5) { for (j in 2:10) { B[i, j] = B[i, j - 1] + A[i, j] } }",
           "parfor (i in 1:10) { A += i; A += i * B }",
           "parfor (i in 1:2) { C[i] = C[i] }",
           "parfor (i in 10:1) { A[i, 1] = B[i, 1] }",
           "parfor (i in 1:10, check=0) { a = a + i }",
           "parfor (i in 1:n) { A[n + 1 - i, 1] = i }",
           "parfor (i in 1:3) { for (j in 4:6) { A[j, i] = 1 }; for (j in 1:3) { A[j, i] = 2 } }",
           "parfor (i in 1:20) { for (i in 1:3) { b = i } }",
           "parfor (i in 1:20) { A[i, 1] = g(i, 7) }",
           "parfor (i in 1:20) { A[i, 1] = g(i, s = 7) }",
           "parfor (i in 1:20) { A[i, 1] = h(B) }",
           "parfor (i in 1.5:9) { A[i, 1] = A[i + 9, 1] }",
           "parfor (i in 1:20) { A[2.7, i] = A[3:3, 1] }",
           "parfor (i in 1:n) { parfor (j in 1:n, check=0) { if (sum(A[1, j]) == 0) A[1, i] = 1 } "
           "}",
           "parfor (i in 1:n) { parfor (j in 1:n, check=0) { A[as.scalar(B[i, j]), 1] = 1 } }",
           "parfor (i in 1:n) { parfor (j in 1:n, check=0) { if (i > j) { A[1, j] = 1 } } }",
       })
    EXPECT_TRUE(isAccepted(loops)) << loops;
}

TEST(ParforDependencies, rejectsDependentIterations) {
  for (const char *loops : {
           "parfor (i in 1:10) { b = i + a; a = b }",
           "parfor (i in 2:10) { A[i, 1] = A[i - 1, 1] }",
           "parfor (i in 1:10) { A[i, 1] = 1; A[2 * i, 1] = 2 }",
           "parfor (i in 1:4) { A[2 * i + 10, 1] = 1; A[5 * i, 1] = 1 }",
           "parfor (i in 10:15) { A[i, 1] = A[i - 5, 1] }",
           "parfor (i in 1:10) { A[1, i + 3] = A[1, i] }",
           "parfor (i in 2:10) { s = sum(A[i - 1, 1]); A[i, 1] = s }",
           "parfor (i in 10:2) { A[i, 1] = A[i - 1, 1] }",
           "parfor (i in 2:10) { A[i, 1] = 1; A[i - 1, 1] = 1 }",
           "parfor (i in 1:2) { A[i + 7.3, 1] = 1; A[1, i + 7.3] = 1 }",
           "parfor (i in 1:20) { A[1:10, i] = B[1:10, i]; A[i, 5] = 1 }",
           "parfor (i in 1:19) { A[i:i, 1] = 1; A[i:(i + 1), 1] = B[1:2, 1] }",
           "parfor (i in 1:20) { A[, ] = B }",
           "parfor (i in 1:20) { A[1, i] = 1; A[2, as.scalar(B[i, 1])] = 1 }",
           "parfor (i in 1:20) { for (j in 1:20) { A[1, j] = B[i, j] } }",
           "parfor (i in 2:20) { for (j in 1:20) { A[i, j] = A[i - 1, j] } }",
           "parfor (j in 1:2) { parfor (i in 1:2) { A[i, 1] = 7 * j + i } }",
           "parfor (i in 1:2) { print(sum(A)); A[i, 1] = 1 }",
           "parfor (i in 2:10) { [A[i - 1, ], A[i, ]] = f(B[i, ], A[i, ]) }",
           "parfor (i in 1:10) { A = A + i }",
           "parfor (i in 1:10) { if (i == 1) { A = B * i } else { Y = B * i } }",
           "parfor (i in 1:10) { A += i * B; A += i * A }",
           "parfor (i in 1:10) { A += i; A = i * B }",
           "parfor (i in 1:10) { a += i }",
           "parfor (i in 1:2) { C = list(C[i], B) }",
           "parfor (i in 2:3) { C[i] = C[i - 1] }",
           "parfor (i in 1:10) { D = B * i }\nB = B * D",
           "parfor (i in 1:16) { for (i in 1:3) { A[i, 1] = A[i, 1] + 1 } }",
           "parfor (i in 1:3) { for (i in 4:6) { b = i }; A[i, 1] = 1 }",
           "j = as.scalar(B[1, 1])\n"
           "parfor (i in 1:3) { A[i, 1] = A[j, 1]; for (j in 10:12) { b = j } }",
           "parfor (i in 1:20) { A[i, 1] = g(i) }",
           "parfor (i in 1:20) { A[i, 1] = h(A) }",
           "parfor (i in 0.5:3) { A[i + 4, 1] = A[i + 1, 1] }",
           "parfor (i in (0.5 * n - 9.5):3) { A[i + 4, 1] = A[i + 1, 1] }",
           "parfor (i in 2:8) { A[2:2, i] = A[2.7, i - 1] }",
           "parfor (i in 1:10) { A[i * 0.1 * 10, 1] = A[i, 1] }",
           "parfor (i in 1:2) { parfor (j in 1:2, check=0) { A[j, 1] = A[j + 1, 1] + i } }",
           "parfor (i in 1:2) { if (n > 2) { parfor (j in 1:2, check=0) { A[j, 1] = i } } }",
           "parfor (i in 1:2) { parfor (j in 1:2, check=0) { if (j > i) A = B } }",
           "parfor (i in 1:n) { parfor (j in 1:n, check=1) { if (sum(A[1, j]) == 0) A[1, i] = 1 } "
           "}",
           "parfor (i in 1:n) { for (j in 1:n) { if (sum(A[1, j]) == 0) A[1, i] = 1 } }",
           "parfor (i in 1:9) { parfor (j in 1:9, check=0) { b = i }\nif (n > 2) A[i, 1] = A[i + "
           "1, 1] }",
       })
    EXPECT_FALSE(isAccepted(loops)) << loops;
}

} // namespace
