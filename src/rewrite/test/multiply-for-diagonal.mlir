// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-for-diagonal))' %s | FileCheck %s

// CHECK-LABEL: func.func @diagonal(
// CHECK: %[[T:.*]] = tok.transpose
// CHECK: %[[M:.*]] = tok.binary mul %{{.*}}, %[[T]]
// CHECK: %[[R:.*]] = tok.aggregate sum row %[[M]]
// CHECK: return %[[R]]
func.func @diagonal(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [30, 20] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.diag %0 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// The product is a vector: diag makes a matrix of it.
// CHECK-LABEL: func.func @no_diagonal(
// CHECK: tok.matmul
// CHECK: tok.diag
func.func @no_diagonal(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [30, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.diag %0 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
