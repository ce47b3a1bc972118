// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-flatten-appends))' %s | FileCheck %s

// CHECK-LABEL: func.func @flatten(
// CHECK: %[[X:.*]] = tok.assume %arg0
// CHECK: %[[Y:.*]] = tok.assume %arg1
// CHECK: %[[R:.*]] = tok.cbind %[[X]], %[[Y]], %[[X]]
// CHECK: return %[[R]]
func.func @flatten(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [4, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [4, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.cbind %y, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.cbind %x, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// Sizes that may not agree are reported for the call that appends them.
// CHECK-LABEL: func.func @no_flatten(
// CHECK-COUNT-2: tok.rbind
func.func @no_flatten(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.rbind %y, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.rbind %x, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
