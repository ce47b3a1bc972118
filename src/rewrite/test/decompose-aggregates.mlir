// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-decompose-aggregates))' %s | FileCheck %s

// CHECK-LABEL: func.func @mean
func.func @mean(%x: tensor<?x?xf64>) -> f64 {
  // CHECK: %[[S:.*]] = tok.aggregate sum full %arg0
  // CHECK: %[[N:.*]] = tok.length %arg0
  // CHECK: tok.binary div %[[S]], %[[N]]
  %0 = tok.aggregate mean full %x : tensor<?x?xf64> -> f64
  return %0 : f64
}

// CHECK-LABEL: func.func @row_deviation
func.func @row_deviation(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: %[[S:.*]] = tok.aggregate sum row %arg0
  // CHECK: %[[M:.*]] = tok.binary div %[[S]]
  // CHECK: %[[R:.*]] = tok.binary sub %arg0, %[[M]]
  // CHECK: %[[T:.*]] = tok.aggregate sum row %[[R]]
  // CHECK: %[[B:.*]] = tok.binary div %[[T]]
  // CHECK: %[[C:.*]] = tok.binary add %[[M]], %[[B]]
  // CHECK: %[[D:.*]] = tok.binary sub %arg0, %[[C]]
  // CHECK: %[[Q:.*]] = tok.binary pow %[[D]]
  // CHECK: tok.aggregate sum row %[[Q]]
  // CHECK: tok.unary sqrt
  %0 = tok.aggregate sd row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
