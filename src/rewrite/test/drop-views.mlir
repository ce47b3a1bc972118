// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-views))' %s | FileCheck %s

// A row sum of any rank is shown with one column, which it has.
// CHECK-LABEL: func.func @same(
// CHECK: %[[SUM:.*]] = tok.aggregate sum row
// CHECK: tok.binary div %arg0, %[[SUM]]
func.func @same(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %one = tok.constant 1 : i64
  %a = tok.size %x[1] : tensor<?x?x?xf32>
  %b = tok.size %x[2] : tensor<?x?x?xf32>
  %0 = tok.aggregate sum row %x : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  %1 = tok.view %0 [%a, %b, %one] : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  %2 = tok.binary div %x, %1 : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %2 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK: %[[VIEW:.*]] = tok.view %arg0[%arg2, %arg1]
// CHECK: return %[[VIEW]]
func.func @twice(%x: tensor<?x?xf64>, %n: i64, %m: i64) -> tensor<?x?xf64> {
  %0 = tok.view %x [%n] : tensor<?x?xf64> -> tensor<?xf64>
  %1 = tok.view %0 [%m, %n] : tensor<?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// A column shown as a vector, and that as a column.
// CHECK-LABEL: func.func @back(
// CHECK: %[[SUM:.*]] = tok.aggregate sum row
// CHECK: return %[[SUM]]
func.func @back(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %n = tok.size %x[1] : tensor<?x?xf64>
  %0 = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.view %0 [%n] : tensor<?x?xf64> -> tensor<?xf64>
  %2 = tok.view %1 [%n, %one] : tensor<?xf64> -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// Sizes that are not known to be equal are checked by the view.
// CHECK-LABEL: func.func @unknown(
// CHECK: tok.view
func.func @unknown(%x: tensor<?x?xf64>, %n: i64, %m: i64) -> tensor<?x?xf64> {
  %0 = tok.view %x [%n, %m] : tensor<?x?xf64> -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
