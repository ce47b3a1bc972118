// RUN: tokamak-opt --tok-canonicalize %s | FileCheck %s

// What is not used is erased, and a sum of numbers is a number.
// CHECK-NOT: tok.unary
// CHECK: %[[FIVE:.*]] = tok.constant 5 : i64
// CHECK: return %[[FIVE]]
func.func @main(%x: tensor<?x?xf64>) -> i64 {
  %two = tok.constant 2 : i64
  %three = tok.constant 3 : i64
  %0 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.binary add %two, %three : (i64, i64) -> i64
  return %1 : i64
}
