// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-fold-sizes))' %s | FileCheck %s

// CHECK-LABEL: func.func @known(
// CHECK-NOT: tok.{{rows|columns|length}}
// CHECK-DAG: %[[ROWS:.*]] = tok.constant 20 : i64
// CHECK-DAG: %[[COLUMNS:.*]] = tok.constant 30 : i64
// CHECK-DAG: %[[CELLS:.*]] = tok.constant 600 : i64
// CHECK: return %[[ROWS]], %[[COLUMNS]], %[[CELLS]]
func.func @known(%a: tensor<?x?xf64>) -> (i64, i64, i64) {
  %x = tok.assume %a [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.rows %x : tensor<?x?xf64>
  %1 = tok.columns %x : tensor<?x?xf64>
  %2 = tok.length %x : tensor<?x?xf64>
  return %0, %1, %2 : i64, i64, i64
}

// A symbol is no number.
// CHECK-LABEL: func.func @unknown(
// CHECK: tok.rows
// CHECK: tok.length
func.func @unknown(%a: tensor<?x?xf64>) -> (i64, i64) {
  %x = tok.assume %a [-1, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.rows %x : tensor<?x?xf64>
  %1 = tok.length %x : tensor<?x?xf64>
  return %0, %1 : i64, i64
}
