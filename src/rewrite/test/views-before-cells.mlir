// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-views-before-cells))' %s | FileCheck %s

// The factor of a product is computed as a column; its size is that of the column then.
// CHECK-LABEL: func.func @factor(
// CHECK: %[[X:.*]] = tok.view %arg1[%{{.*}}, %{{.*}}] : tensor<?xf64> -> tensor<?x?xf64>
// CHECK: %[[E:.*]] = tok.unary exp %[[X]] : tensor<?x?xf64>
// CHECK: %[[Y:.*]] = tok.view %arg2[%{{.*}}, %{{.*}}]
// CHECK: %[[D:.*]] = tok.binary mul %[[E]], %[[Y]] : (tensor<?x?xf64>, tensor<?x?xf64>)
// CHECK: %[[N:.*]] = tok.size %[[D]][1]
// CHECK: %[[P:.*]] = tok.matmul %arg0, %[[D]]
// CHECK: return %[[P]], %[[N]]
func.func @factor(%A: tensor<?x?xf64>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<?x?xf64>, i64) {
  %one = tok.constant 1 : i64
  %0 = tok.unary exp %x : tensor<?xf64> -> tensor<?xf64>
  %1 = tok.binary mul %0, %y : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %n = tok.size %1[1] : tensor<?xf64>
  %2 = tok.view %1 [%n, %one] : tensor<?xf64> -> tensor<?x?xf64>
  %3 = tok.matmul %A, %2 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %3, %n : tensor<?x?xf64>, i64
}

// What is used as a vector, too, is computed as one.
// CHECK-LABEL: func.func @shared(
// CHECK: tok.unary exp %arg0 : tensor<?xf64>
func.func @shared(%x: tensor<?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>) {
  %one = tok.constant 1 : i64
  %0 = tok.unary exp %x : tensor<?xf64> -> tensor<?xf64>
  %n = tok.size %0[1] : tensor<?xf64>
  %1 = tok.view %0 [%one, %n] : tensor<?xf64> -> tensor<?x?xf64>
  return %1, %0 : tensor<?x?xf64>, tensor<?xf64>
}

// A view of a size that may be another one is an error when it runs, and stays.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[E:.*]] = tok.unary exp %arg0 : tensor<?xf64>
// CHECK: tok.view %[[E]][%arg1, %{{.*}}]
func.func @unknown(%x: tensor<?xf64>, %n: i64) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %0 = tok.unary exp %x : tensor<?xf64> -> tensor<?xf64>
  %1 = tok.view %0 [%n, %one] : tensor<?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
