// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-double-reversal))' %s | FileCheck %s

// CHECK-LABEL: func.func @reverse(
// CHECK: return %arg0
func.func @reverse(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.native "rev"(%a) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.native "rev"(%0) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @no_reverse(
// CHECK: tok.native "cumsum"
// CHECK: tok.native "rev"
func.func @no_reverse(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.native "rev"(%a) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.native "cumsum"(%0) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.native "rev"(%1) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
