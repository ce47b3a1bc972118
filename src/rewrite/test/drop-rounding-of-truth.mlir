// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-rounding-of-truth))' %s | FileCheck %s

// CHECK-LABEL: func.func @truth(
// CHECK: %[[R:.*]] = tok.binary gt
// CHECK: return %[[R]]
func.func @truth(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary gt %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary round %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.unary abs %1 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @no_truth(
// CHECK: tok.unary sign
// CHECK: tok.unary exp
func.func @no_truth(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.binary sub %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary sign %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.binary eq %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.unary exp %2 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1, %3 : tensor<?x?xf64>, tensor<?x?xf64>
}
