// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-aggregate-vectors))' %s | FileCheck %s

// CHECK-LABEL: func.func @column_vector
func.func @column_vector(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %v = tok.assume %x [-1, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.aggregate sum full
  // CHECK: tok.cast
  %0 = tok.aggregate sum column %v : tensor<?x?xf64> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// A matrix is not touched, nor is the index of an extreme.
// CHECK-LABEL: func.func @must_not_fire
func.func @must_not_fire(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: tok.aggregate sum column
  %0 = tok.aggregate sum column %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %u = tok.assume %y [1, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.aggregate index_max row
  %1 = tok.aggregate index_max row %u : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.binary mul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
