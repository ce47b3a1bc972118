// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-by-reciprocals))' %s | FileCheck %s

// CHECK-LABEL: func.func @powers_of_two(
// CHECK: %[[EIGHTH:.*]] = tok.constant 1.250000e-01
// CHECK: %[[SHARE:.*]] = tok.binary mul %arg0, %[[EIGHTH]] : (tensor<?x?xf32>, f64)
// CHECK: %[[LARGE:.*]] = tok.constant -4.0
// CHECK: tok.binary mul %[[SHARE]], %[[LARGE]]
func.func @powers_of_two(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %eight = tok.constant 8 : i64
  %quarter = tok.constant -0.25 : f64
  %0 = tok.binary div %x, %eight : (tensor<?x?xf32>, i64) -> tensor<?x?xf32>
  %1 = tok.binary div %0, %quarter : (tensor<?x?xf32>, f64) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// Other reciprocals are rounded, those of extreme powers lose bits, and c / X is no product.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-5: tok.binary div
// CHECK-NOT: tok.binary mul
func.func @others(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %three = tok.constant 3.0 : f64
  %least = tok.constant 1.0e-310 : f64
  %zero = tok.constant 0.0 : f64
  %infinity = tok.constant 0x7FF0000000000000 : f64
  %two = tok.constant 2.0 : f64
  %0 = tok.binary div %x, %three : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary div %0, %least : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %2 = tok.binary div %1, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %3 = tok.binary div %2, %infinity : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %4 = tok.binary div %two, %3 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %4 : tensor<?x?xf64>
}
