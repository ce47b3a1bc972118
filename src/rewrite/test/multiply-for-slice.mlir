// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-for-slice))' %s | FileCheck %s

// CHECK-LABEL: func.func @slice(
// CHECK: %[[A:.*]] = tok.slice
// CHECK: %[[R:.*]] = tok.matmul %[[A]]
// CHECK: return %[[R]]
func.func @slice(%x: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [30, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %0 = tok.matmul %a, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %columns = tok.columns %y : tensor<?x?xf64>
  %1 = tok.slice %0, %two, %two, %one, %columns : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// Most of the product is needed; and an index that may be out of range is an error of its own.
// CHECK-LABEL: func.func @no_slice(
// CHECK: tok.matmul %[[A:[^,]*]], %[[B:[^ ]*]] :
// CHECK: tok.slice
// CHECK: tok.matmul %[[A]], %[[A]]
// CHECK: tok.slice
func.func @no_slice(%x: tensor<?x?xf64>, %b: tensor<?x?xf64>, %i: i64) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %a = tok.assume %x [30, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [30, 7] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %most = tok.constant 25 : i64
  %seven = tok.constant 7 : i64
  %all = tok.constant 30 : i64
  %0 = tok.matmul %a, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.slice %0, %one, %most, %one, %seven : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  %2 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.slice %2, %i, %i, %one, %all : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %1, %3 : tensor<?x?xf64>, tensor<?x?xf64>
}
