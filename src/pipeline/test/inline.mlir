// RUN: tokamak-opt --tok-inline %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: tok.call @scale
// CHECK: tok.binary mul
// A recursion stays a call.
// CHECK: tok.call @endless
// CHECK-NOT: func.func private @scale
func.func @main(%x: tensor<?x?xf64>, %n: i64) -> i64 {
  %0 = tok.call @scale(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  tok.print %0 : (tensor<?x?xf64>) -> ()
  %1 = tok.call @endless(%n) : (i64) -> i64
  return %1 : i64
}

func.func private @scale(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %two = tok.constant 2.0 : f64
  %0 = tok.binary mul %x, %two : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

func.func private @endless(%n: i64) -> i64 {
  %0 = tok.call @endless(%n) : (i64) -> i64
  return %0 : i64
}
