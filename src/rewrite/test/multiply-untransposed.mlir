// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-untransposed))' %s | FileCheck %s

// CHECK-LABEL: func.func @turned(
// CHECK: %[[P:.*]] = tok.matmul %[[B:.*]], %[[A:.*]] :
// CHECK: %[[R:.*]] = tok.transpose %[[P]]
// CHECK: return %[[R]]
func.func @turned(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [40, 20] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %b : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// Of sizes that are not known a factor may be a vector.
// CHECK-LABEL: func.func @not_turned(
// CHECK-COUNT-2: tok.transpose %arg
// CHECK: tok.matmul
func.func @not_turned(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %b : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
