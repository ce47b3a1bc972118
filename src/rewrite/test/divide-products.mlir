// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-divide-products))' %s | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[E:.*]] = tok.unary exp
// CHECK: %[[S:.*]] = tok.aggregate sum row %[[E]]
// CHECK: %[[P:.*]] = tok.matmul %[[E]], %[[B:[^ ]*]] :
// CHECK: %[[R:.*]] = tok.binary div %[[P]], %[[S]]
// CHECK: return %[[R]]
func.func @softmax(%x: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [30, 7] : tensor<?x?xf64> -> tensor<?x?xf64>
  %m = tok.aggregate max row %a : tensor<?x?xf64> -> tensor<?x?xf64>
  %d = tok.binary sub %a, %m : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = tok.unary exp %d : tensor<?x?xf64> -> tensor<?x?xf64>
  %s = tok.aggregate sum row %e : tensor<?x?xf64> -> tensor<?x?xf64>
  %p = tok.binary div %e, %s : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = tok.matmul %p, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// A product with more columns; shares that are a result; sums of exponentials that may overflow; of another array.
// CHECK-LABEL: func.func @others(
// CHECK: tok.matmul
// CHECK-NEXT: tok.matmul
// CHECK-NOT: tok.binary div
// CHECK: tok.matmul
// CHECK-NOT: tok.binary div
func.func @others(%x: tensor<?x?xf64>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %wide = tok.assume %b [30, 31] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %c [30, 7] : tensor<?x?xf64> -> tensor<?x?xf64>
  %m = tok.aggregate max row %a : tensor<?x?xf64> -> tensor<?x?xf64>
  %d = tok.binary sub %a, %m : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = tok.unary exp %d : tensor<?x?xf64> -> tensor<?x?xf64>
  %s = tok.aggregate sum row %e : tensor<?x?xf64> -> tensor<?x?xf64>
  %f = tok.unary exp %a : tensor<?x?xf64> -> tensor<?x?xf64>
  %t = tok.aggregate sum row %f : tensor<?x?xf64> -> tensor<?x?xf64>
  %p0 = tok.binary div %e, %s : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %p1 = tok.binary div %e, %s : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %p2 = tok.binary div %f, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %p3 = tok.binary div %e, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r0 = tok.matmul %p0, %wide : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r1 = tok.matmul %p1, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r2 = tok.matmul %p2, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r3 = tok.matmul %p3, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r0, %r1, %r2, %r3, %p1 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// There may be no columns: then the product has zeros, which 0 must not divide.
// CHECK-LABEL: func.func @perhaps_empty(
// CHECK: tok.binary div
// CHECK: tok.matmul
// CHECK-NOT: tok.binary div
func.func @perhaps_empty(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %m = tok.aggregate max row %a : tensor<?x?xf64> -> tensor<?x?xf64>
  %d = tok.binary sub %a, %m : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %e = tok.unary exp %d : tensor<?x?xf64> -> tensor<?x?xf64>
  %s = tok.aggregate sum row %e : tensor<?x?xf64> -> tensor<?x?xf64>
  %p = tok.binary div %e, %s : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = tok.matmul %p, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
