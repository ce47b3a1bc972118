// An operand of a smaller rank is shown in the larger one.
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-raise-ranks))' %s | FileCheck %s

// Whatever its sizes are.
// CHECK-LABEL: func.func @ranks
func.func @ranks(%x: tensor<?xf64>, %y: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  // CHECK: %[[ONE:.*]] = tok.constant 1
  // CHECK: %[[N:.*]] = tok.size %arg0[1]
  // CHECK: %[[V:.*]] = tok.view %arg0[%[[ONE]], %[[ONE]], %[[N]]]
  // CHECK: tok.binary sub %[[V]], %arg1
  %0 = tok.binary sub %x, %y : (tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @matrix_beside_several
func.func @matrix_beside_several(%x: tensor<?x?x?xf64>, %y: tensor<?x?xf64>, %c: i1) -> tensor<?x?x?xf64> {
  // CHECK: %[[V:.*]] = tok.view %arg1[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  // CHECK: tok.ifelse %arg2, %arg0, %[[V]] : (i1, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %0 = tok.ifelse %c, %x, %y : (i1, tensor<?x?x?xf64>, tensor<?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}

// Of one rank already; kernels repeat dimensions of size 1.
// CHECK-LABEL: func.func @same
// CHECK-NOT: {{tok.expand|tok.view}}
func.func @same(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %a = tok.assume %x [4, 1, 1] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [1, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %0 = tok.binary add %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %0 : tensor<?x?x?xf64>
}
