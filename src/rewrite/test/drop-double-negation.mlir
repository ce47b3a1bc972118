// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-double-negation))' %s | FileCheck %s

// CHECK-LABEL: func.func @twice(
// CHECK: return %arg0
func.func @twice(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.unary neg %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @not_twice(
// CHECK: %[[A:.*]] = tok.unary abs
// CHECK: tok.unary neg %[[A]]
func.func @not_twice(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.unary abs %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.unary neg %1 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
