// What kernels can't repeat by themselves is repeated before.
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-expand-broadcasts))' %s | FileCheck %s

// CHECK-LABEL: func.func @middle
func.func @middle(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %a = tok.assume %x [4, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [1, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  // CHECK-DAG: %[[A:.*]] = tok.assume %arg0
  // CHECK-DAG: %[[B:.*]] = tok.assume %arg1
  // CHECK: %[[S1:.*]] = tok.size %[[A]][1]
  // CHECK: %[[S2:.*]] = tok.size %[[A]][2]
  // CHECK: %[[S3:.*]] = tok.size %[[B]][3]
  // CHECK: %[[E:.*]] = tok.expand %[[B]][%[[S1]], %[[S2]], %[[S3]]]
  // CHECK: tok.binary add %[[A]], %[[E]]
  %0 = tok.binary add %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// Both sides are repeated; the last dimension is left to the kernel.
// CHECK-LABEL: func.func @both
func.func @both(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %a = tok.assume %x [4, 1, 1] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [1, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  // CHECK-COUNT-2: tok.expand
  %0 = tok.binary add %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// Rows, columns and cells are repeated by kernels; so is a size that both share though nobody knows it.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: tok.expand
func.func @plain(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>, %z: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %a = tok.assume %x [1, 1, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.aggregate sum row %y : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %0 = tok.binary add %y, %a : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %1 = tok.binary sub %0, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %1 : tensor<?x?x?xf64>
}

// Not known which side is repeated: left alone.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tok.expand
func.func @unknown(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %0 = tok.binary add %x, %y : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// Matrices follow DML's rule: the right one may be a vector, nothing is to be done.
// CHECK-LABEL: func.func @matrices
// CHECK-NOT: tok.expand
func.func @matrices(%x: tensor<?x?xf64>, %v: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary add %x, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
