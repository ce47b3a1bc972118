// RUN: tokamak-opt --tok-outline-blocks %s | FileCheck %s

// Functions that loops call are executed in loops, and so are those that they call.
// CHECK: func.func private @block_0
// CHECK-SAME: tok.block, tok.in_loop}
func.func @inner(%x: tensor<?x?xf64>) -> f64 {
  %0 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  return %1 : f64
}
func.func @outer(%x: tensor<?x?xf64>) -> f64 {
  %0 = tok.call @inner(%x) : (tensor<?x?xf64>) -> f64
  return %0 : f64
}

// CHECK: func.func private @block_1
// CHECK-SAME: tok.block, tok.in_loop, tok.in_tight_loop}
// CHECK: func.func private @block_2
// CHECK-SAME: tok.block, tok.in_loop}
// CHECK: func.func private @block_3
// CHECK-SAME: tok.block, tok.in_loop}
// CHECK: func.func private @block_4
// CHECK-SAME: tok.block}
func.func @main(%x: tensor<?x?xf64>, %n: i64, %start: f64) -> f64 {
  %r = tok.for %i = %n to %n step %n carrying (%s = %start) : f64 {
    // A loop with another one in it.
    %a = tok.binary mul %x, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %t = tok.aggregate sum full %a : tensor<?x?xf64> -> f64
    %u = tok.for %j = %n to %n step %n carrying (%v = %t) : f64 {
      %b = tok.binary add %x, %v : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
      %c = tok.aggregate sum full %b : tensor<?x?xf64> -> f64
      tok.yield %c : f64
    }
    tok.yield %u : f64
  }
  %q = tok.for %i = %n to %n step %n carrying (%s = %r) : f64 {
    // A loop with a call.
    %a = tok.binary mul %x, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %t = tok.call @outer(%a) : (tensor<?x?xf64>) -> f64
    tok.yield %t : f64
  }
  %e = tok.binary mul %x, %q : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %f = tok.aggregate sum full %e : tensor<?x?xf64> -> f64
  return %f : f64
}
