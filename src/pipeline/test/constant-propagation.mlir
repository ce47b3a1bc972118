// RUN: tokamak-opt --tok-constant-propagation %s | FileCheck %s

// Both branches give 3, so that the sum is 5.
// CHECK: %[[FIVE:.*]] = tok.constant 5 : i64
// CHECK: return %[[FIVE]]
func.func @main(%condition: i1) -> i64 {
  %two = tok.constant 2 : i64
  %three = tok.constant 3 : i64
  %0 = tok.if %condition -> i64 {
    tok.yield %three : i64
  } else {
    tok.yield %three : i64
  }
  %1 = tok.binary add %0, %two : (i64, i64) -> i64
  return %1 : i64
}
