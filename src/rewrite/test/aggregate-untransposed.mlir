// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-aggregate-untransposed))' %s | FileCheck %s

// CHECK-LABEL: func.func @turned(
// CHECK: tok.aggregate sum full %arg0
// CHECK: %[[C:.*]] = tok.aggregate max column %arg0
// CHECK: tok.transpose %[[C]]
// CHECK: tok.aggregate min full %arg0
func.func @turned(%x: tensor<?x?xf64>) -> (f64, tensor<?x?xf64>, f64) {
  %0 = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %2 = tok.aggregate max row %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %3 = tok.native "rev"(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.aggregate min full %3 : tensor<?x?xf64> -> f64
  return %1, %2, %4 : f64, tensor<?x?xf64>, f64
}

// The index of an extreme, and the rows of a reversed matrix, are others.
// CHECK-LABEL: func.func @not_turned(
// CHECK: tok.aggregate index_max row %0
// CHECK: tok.aggregate sum row %2
func.func @not_turned(%x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.aggregate index_max row %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.native "rev"(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.aggregate sum row %2 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1, %3 : tensor<?x?xf64>, tensor<?x?xf64>
}
