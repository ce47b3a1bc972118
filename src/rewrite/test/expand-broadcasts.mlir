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

// Kernels repeat rows, columns and cells of matrices on either side.
// CHECK-LABEL: func.func @matrices
// CHECK-NOT: {{tok.expand|tok.view}}
func.func @matrices(%x: tensor<?x?xf64>, %v: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [4, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %v [1, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.binary add %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.binary mul %b, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary mul left_sizes %x, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.binary mul %1, %2 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %3 : tensor<?x?xf64>
}

// An operand of a smaller rank is shown in the larger one, whatever its sizes are.
// CHECK-LABEL: func.func @ranks
func.func @ranks(%x: tensor<?xf64>, %y: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  // CHECK: %[[ONE:.*]] = tok.constant 1
  // CHECK: %[[N:.*]] = tok.size %arg0[1]
  // CHECK: %[[V:.*]] = tok.view %arg0[%[[ONE]], %[[ONE]], %[[N]]]
  // CHECK: tok.binary sub %[[V]], %arg1
  %0 = tok.binary sub %x, %y : (tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// A matrix beside several is shown as one of them, and repeated.
// CHECK-LABEL: func.func @matrix_beside_several
func.func @matrix_beside_several(%x: tensor<?x?x?xf64>, %y: tensor<?x?xf64>, %c: i1) -> tensor<?x?x?xf64> {
  %a = tok.assume %x [4, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [5, 6] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: %[[V:.*]] = tok.view
  // CHECK: %[[E:.*]] = tok.expand %[[V]]
  // CHECK: tok.ifelse %arg2, %{{.*}}, %[[E]] : (i1, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %0 = tok.ifelse %c, %a, %b : (i1, tensor<?x?x?xf64>, tensor<?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// An operand that is not proved to have the result's sizes is left alone: expanding it would fail in other words.
// CHECK-LABEL: func.func @unproved
// CHECK-NOT: tok.expand
func.func @unproved(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64> {tok.sizes = ["s0", 5, 6]}) -> tensor<?x?x?xf64> {
  %a = tok.assume %x [4, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %0 = tok.binary add %a, %y : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}
