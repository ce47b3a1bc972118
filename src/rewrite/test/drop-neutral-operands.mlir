// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-neutral-operands))' %s | FileCheck %s

// CHECK-LABEL: func.func @neutral(
// CHECK-NOT: tok.binary
// CHECK: return %arg0, %arg0, %arg0, %arg0
func.func @neutral(%x: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %one = tok.constant 1.0 : f64
  %integer = tok.constant 1 : i64
  %zero = tok.constant 0.0 : f64
  %0 = tok.binary mul %x, %one : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary mul %integer, %x : (i64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary pow %x, %integer : (tensor<?x?xf64>, i64) -> tensor<?x?xf64>
  %3 = tok.binary sub %x, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return %0, %1, %2, %3 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// -0 + 0 is 0 and 0 - 0 is 0; 0 * NaN is NaN; 1 / X and 1 ^ X are not X.
// CHECK-LABEL: func.func @not_neutral(
// CHECK-COUNT-6: tok.binary
func.func @not_neutral(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1.0 : f64
  %zero = tok.constant 0.0 : f64
  %minus_zero = tok.constant -0.0 : f64
  %0 = tok.binary add %x, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary sub %zero, %0 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary mul %1, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %3 = tok.binary div %one, %2 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.binary pow %one, %3 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %5 = tok.binary sub %4, %minus_zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return %5 : tensor<?x?xf64>
}
