// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-whole-slices))' %s | FileCheck %s

// CHECK-LABEL: func.func @whole_slice(
// CHECK-NOT: tok.slice
func.func @whole_slice(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %rows = tok.rows %x : tensor<?x?xf64>
  %columns = tok.columns %x : tensor<?x?xf64>
  %0 = tok.slice %x, %one, %rows, %one, %columns : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @part(
// CHECK: tok.slice
func.func @part(%x: tensor<?x?xf64>, %rows: i64) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %columns = tok.columns %x : tensor<?x?xf64>
  %0 = tok.slice %x, %one, %rows, %one, %columns : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
