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

// A value may be missing where its variable is not assigned on every path: what reads it stays, and what
// reads the other variable of the branch is hoisted.
// CHECK-LABEL: func.func @missing(
// CHECK: tok.if
// CHECK: tok.unary exp
// CHECK: tok.for
// CHECK: tok.aggregate sum full
func.func @missing(%x: tensor<?x?xf64>, %n: i64, %c: i1, %start: f64) -> f64 {
  %one = tok.constant 1 : i64
  %w, %v = tok.if %c -> tensor<?x?xf64>, tensor<?x?xf64> {
    tok.yield %x, %x : tensor<?x?xf64>, tensor<?x?xf64>
  } else {
    %u = tok.undef "W" : tensor<?x?xf64>
    tok.yield %u, %x : tensor<?x?xf64>, tensor<?x?xf64>
  }
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : f64 {
    %e = tok.unary exp %v : tensor<?x?xf64> -> tensor<?x?xf64>
    %a = tok.aggregate sum full %e : tensor<?x?xf64> -> f64
    %b = tok.aggregate sum full %w : tensor<?x?xf64> -> f64
    %0 = tok.binary add %a, %b : (f64, f64) -> f64
    %1 = tok.binary add %s, %0 : (f64, f64) -> f64
    tok.yield %1 : f64
  }
  return %r : f64
}

// Loops, calls and returns pass the missing value on.
// CHECK-LABEL: func.func @passed_on(
// CHECK: tok.call @same
// CHECK-NEXT: tok.for
// CHECK: tok.aggregate sum full
func.func @passed_on(%n: i64, %start: f64) -> f64 {
  %one = tok.constant 1 : i64
  %u = tok.undef "W" : tensor<?x?xf64>
  %l = tok.for %i = %one to %n step %one carrying (%w = %u) : tensor<?x?xf64> {
    tok.yield %w : tensor<?x?xf64>
  }
  %c = tok.call @same(%l) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : f64 {
    %a = tok.aggregate sum full %c : tensor<?x?xf64> -> f64
    %1 = tok.binary add %s, %a : (f64, f64) -> f64
    tok.yield %1 : f64
  }
  return %r : f64
}
func.func private @same(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  return %x : tensor<?x?xf64>
}
