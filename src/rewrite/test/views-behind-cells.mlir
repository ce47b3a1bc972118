// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-views-behind-cells))' %s | FileCheck %s

// Cells of a product's column are computed as a column, others being shown as one; what is returned is a vector.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[Z:.*]] = tok.matmul
// CHECK: %[[E:.*]] = tok.unary exp %[[Z]] : tensor<?x?xf64> -> tensor<?x?xf64>
// CHECK: %[[Y:.*]] = tok.view %arg2[%{{.*}}, %{{.*}}] : tensor<?xf64> -> tensor<?x?xf64>
// CHECK: %[[D:.*]] = tok.binary sub %[[E]], %[[Y]] : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
// CHECK: %[[V:.*]] = tok.view %[[D]][%{{.*}}] : tensor<?x?xf64> -> tensor<?xf64>
// CHECK: return %[[V]]
func.func @chain(%X: tensor<?x?xf64>, %w: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %one = tok.constant 1 : i64
  %k = tok.size %w[1] : tensor<?xf64>
  %0 = tok.view %w [%k, %one] : tensor<?xf64> -> tensor<?x?xf64>
  %1 = tok.matmul %X, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %n = tok.size %1[1] : tensor<?x?xf64>
  %2 = tok.view %1 [%n] : tensor<?x?xf64> -> tensor<?xf64>
  %3 = tok.unary exp %2 : tensor<?xf64> -> tensor<?xf64>
  %4 = tok.binary sub %3, %y : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %4 : tensor<?xf64>
}

// A row stays one; sums of all cells need no view.
// CHECK-LABEL: func.func @row(
// CHECK: %[[Z:.*]] = tok.matmul
// CHECK: %[[E:.*]] = tok.unary exp %[[Z]] : tensor<?x?xf64>
// CHECK: tok.aggregate sum full %[[E]] : tensor<?x?xf64> -> f64
func.func @row(%x: tensor<?xf64>, %W: tensor<?x?xf64>) -> f64 {
  %one = tok.constant 1 : i64
  %k = tok.size %x[1] : tensor<?xf64>
  %0 = tok.view %x [%one, %k] : tensor<?xf64> -> tensor<?x?xf64>
  %1 = tok.matmul %0, %W : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %n = tok.size %1[2] : tensor<?x?xf64>
  %2 = tok.view %1 [%n] : tensor<?x?xf64> -> tensor<?xf64>
  %3 = tok.unary exp %2 : tensor<?xf64> -> tensor<?xf64>
  %4 = tok.aggregate sum full %3 : tensor<?xf64> -> f64
  return %4 : f64
}

// What has several rows and columns is no vector.
// CHECK-LABEL: func.func @matrix(
// CHECK: tok.unary exp %{{.*}} : tensor<?xf64>
func.func @matrix(%X: tensor<?x?xf64>, %n: i64) -> tensor<?xf64> {
  %0 = tok.view %X [%n] : tensor<?x?xf64> -> tensor<?xf64>
  %1 = tok.unary exp %0 : tensor<?xf64> -> tensor<?xf64>
  return %1 : tensor<?xf64>
}

// A view of a size that may be another one is an error when it runs, and stays.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[V:.*]] = tok.view %{{.*}}[%arg1]
// CHECK: tok.unary exp %[[V]] : tensor<?xf64>
func.func @unknown(%X: tensor<?x?xf64>, %n: i64) -> tensor<?xf64> {
  %0 = tok.aggregate sum row %X : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.view %0 [%n] : tensor<?x?xf64> -> tensor<?xf64>
  %2 = tok.unary exp %1 : tensor<?xf64> -> tensor<?xf64>
  return %2 : tensor<?xf64>
}
