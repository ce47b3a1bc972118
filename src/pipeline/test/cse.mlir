// RUN: tokamak-opt --tok-cse %s | FileCheck %s

// CHECK: %[[E:.*]] = tok.unary exp
// CHECK-NOT: tok.unary exp
// CHECK: return %[[E]], %[[E]]
func.func @main(%x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
  return %0, %1 : tensor<?x?xf64>, tensor<?x?xf64>
}
