// RUN: tokamak-opt --tok-fold-facts %s | FileCheck %s

// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: tensor<?x?xf64>) -> (i64, i64) {
  %a = tok.assume %x [-1, 10] : tensor<?x?xf64> -> tensor<?x?xf64>
  // What is not known stays.
  // CHECK: %[[ROWS:.*]] = tok.rows
  %rows = tok.rows %a : tensor<?x?xf64>
  // CHECK-NOT: tok.columns
  // CHECK: %[[ELEVEN:.*]] = tok.constant 11 : i64
  %columns = tok.columns %a : tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %more = tok.binary add %columns, %one : (i64, i64) -> i64
  // CHECK: return %[[ROWS]], %[[ELEVEN]]
  return %rows, %more : i64, i64
}
