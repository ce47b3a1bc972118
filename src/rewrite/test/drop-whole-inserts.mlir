// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-whole-inserts))' %s | FileCheck %s

// CHECK-LABEL: func.func @whole_insert(
// CHECK: %[[Y:.*]] = tok.assume %arg1
// CHECK-NOT: tok.insert
// CHECK: return %[[Y]]
func.func @whole_insert(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [4, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [4, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %rows = tok.constant 4 : i64
  %columns = tok.constant 5 : i64
  %0 = tok.insert %x, %y, %one, %rows, %one, %columns : (tensor<?x?xf64>, tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @insert_of_unknown_size(
// CHECK: tok.insert
func.func @insert_of_unknown_size(%a: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [4, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %rows = tok.constant 4 : i64
  %columns = tok.constant 5 : i64
  %0 = tok.insert %x, %y, %one, %rows, %one, %columns : (tensor<?x?xf64>, tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
