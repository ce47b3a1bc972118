// RUN: tokamak-opt --tok-loop-invariant-code-motion %s | FileCheck %s

// exp(X) is computed before the loop; it can't fail.
// CHECK: tok.unary exp
// CHECK: tok.while
// CHECK-NOT: tok.unary exp
func.func @main(%x: tensor<?x?xf64>, %limit: f64) -> tensor<?x?xf64> {
  %r = tok.while carrying (%v = %x) : tensor<?x?xf64> {
    %s = tok.aggregate sum full %v : tensor<?x?xf64> -> f64
    %c = tok.binary lt %s, %limit : (f64, f64) -> i1
    tok.condition %c, %v : tensor<?x?xf64>
  } do {
    %e = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
    tok.yield %e : tensor<?x?xf64>
  }
  return %r : tensor<?x?xf64>
}
