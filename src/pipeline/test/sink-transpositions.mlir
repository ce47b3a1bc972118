// RUN: tokamak-opt --tok-static-phase %s | FileCheck %s
// RUN: tokamak-opt --loop-invariant-code-motion --tok-sink-transpositions %s | FileCheck %s --check-prefix=ALONE

// The transposition stays with its product, in the block of the loop.
// ALONE: tok.while
// ALONE: } do {
// ALONE: %[[T:.*]] = tok.transpose
// ALONE-NEXT: tok.matmul %[[T]]
// CHECK-LABEL: func.func @main
// CHECK: tok.while
// CHECK: tok.execute @[[BLOCK:block_[0-9]+]](
// CHECK: func.func private @[[BLOCK]]
// CHECK: tok.transpose
// CHECK: tok.matmul
func.func @main() {
  %n = tok.constant 1000 : i64
  %k = tok.constant 5 : i64
  %one = tok.constant 1 : i64
  %value = tok.constant 2.0 : f64
  %limit = tok.constant 1.0e9 : f64
  %x = tok.fill %value, %n, %k : (f64, i64, i64) -> tensor<?x?xf64>
  %start = tok.fill %value, %k, %one : (f64, i64, i64) -> tensor<?x?xf64>
  %r = tok.while carrying (%v = %start) : tensor<?x?xf64> {
    %s = tok.aggregate sum full %v : tensor<?x?xf64> -> f64
    %c = tok.binary lt %s, %limit : (f64, f64) -> i1
    tok.condition %c, %v : tensor<?x?xf64>
  } do {
    %t = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
    %u = tok.matmul %x, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %w = tok.matmul %t, %u : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield %w : tensor<?x?xf64>
  }
  tok.print %r : (tensor<?x?xf64>) -> ()
  return
}
