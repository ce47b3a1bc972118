// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-sums-of-one))' %s | FileCheck %s

// CHECK-LABEL: func.func @column
func.func @column(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %v = tok.assume %x [-1, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK-NOT: tok.aggregate
  // CHECK: tok.binary add
  %0 = tok.aggregate sum row %v : tensor<?x?xf64> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @row
func.func @row(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %u = tok.assume %x [1, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.binary add
  %0 = tok.aggregate sum column %u : tensor<?x?xf64> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// Of more numbers than one, and other aggregates.
// CHECK-LABEL: func.func @must_not_fire
func.func @must_not_fire(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %v = tok.assume %x [-1, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.aggregate sum column
  %0 = tok.aggregate sum column %v : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.aggregate index_max row
  %1 = tok.aggregate index_max row %v : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.binary mul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
