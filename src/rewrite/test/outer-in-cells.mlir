// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-outer-in-cells))' %s | FileCheck %s

// CHECK-LABEL: func.func @comparison
func.func @comparison(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> f64 {
  %u = tok.assume %x [-1, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %v = tok.assume %y [1, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %less = tok.constant "<" : !tok.string
  // CHECK: tok.binary lt
  %0 = tok.outer %u, %v, %less : (tensor<?x?xf64>, tensor<?x?xf64>, !tok.string) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  return %1 : f64
}

// Of any sizes.
// CHECK-LABEL: func.func @matrices
func.func @matrices(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> f64 {
  %less = tok.constant "<" : !tok.string
  // CHECK: tok.binary lt %
  %0 = tok.outer %x, %y, %less : (tensor<?x?xf64>, tensor<?x?xf64>, !tok.string) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  return %1 : f64
}

// Alone, nothing is gained.
// CHECK-LABEL: func.func @must_not_fire
func.func @must_not_fire(%u: tensor<?x?xf64>, %v: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %less = tok.constant "<" : !tok.string
  // CHECK: tok.outer
  %0 = tok.outer %u, %v, %less : (tensor<?x?xf64>, tensor<?x?xf64>, !tok.string) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
