// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-absorb-transpositions))' %s | FileCheck %s

// CHECK-LABEL: func.func @left
func.func @left(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK-NOT: tok.transpose
  // CHECK: tok.native "matmul_transposed_left"(%arg0, %arg1)
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// The predicted time is that of the native.
// CHECK-LABEL: func.func @predicted
func.func @predicted(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: tok.native "matmul_transposed_left"(%arg0, %arg1) {predicted_ns = 1.500000e+03 : f64}
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %b {predicted_ns = 1500.0 : f64} : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// A transposed matrix that is needed itself stays.
// CHECK-LABEL: func.func @shared
func.func @shared(%a: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  // CHECK: %[[T:.*]] = tok.transpose %arg0
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  // CHECK: tok.native "matmul_transposed_right"(%arg0, %arg0)
  %1 = tok.matmul %a, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // CHECK: return %[[T]]
  return %0, %1 : tensor<?x?xf64>, tensor<?x?xf64>
}

// Two transposed factors, the same one twice: one copy remains.
// CHECK-LABEL: func.func @both
func.func @both(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  // CHECK: %[[T:.*]] = tok.transpose %arg0
  // CHECK: tok.native "matmul_transposed_left"(%arg0, %[[T]])
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
