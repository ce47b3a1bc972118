// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-join-aggregates))' %s | FileCheck %s

// CHECK-LABEL: func.func @join(
// CHECK: %[[S:.*]] = tok.aggregate sum full %arg0
// CHECK: %[[M:.*]] = tok.aggregate min full %arg0
// CHECK: return %[[S]], %[[M]]
func.func @join(%x: tensor<?x?xf64>) -> (f64, f64) {
  %0 = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %2 = tok.aggregate min column %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %3 = tok.aggregate min full %2 : tensor<?x?xf64> -> f64
  return %1, %3 : f64, f64
}

// Another aggregate inside, or one that is needed itself.
// CHECK-LABEL: func.func @no_join(
// CHECK: tok.aggregate max row
// CHECK: tok.aggregate sum full %0
// CHECK: tok.aggregate sum row
// CHECK: tok.aggregate sum full %2
func.func @no_join(%x: tensor<?x?xf64>) -> (f64, f64, tensor<?x?xf64>) {
  %0 = tok.aggregate max row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %2 = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %3 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
  return %1, %3, %2 : f64, f64, tensor<?x?xf64>
}
