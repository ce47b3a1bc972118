// In front of an operation that is wrong, and that control may get to, stands one that fails.
// RUN: tokamak-opt --tok-report-contradictions %s 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @maybe
// CHECK: tok.if
// CHECK-NEXT: %[[TEXT:.*]] = tok.constant "%*%: the inner dimensions differ: 4x3 %*% 4x3"
// CHECK-NEXT: tok.raise %[[TEXT]]
// CHECK-NEXT: tok.matmul
func.func @maybe(%x: tensor<?x?xf64>, %c: i1) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  tok.if %c {
    %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield
  } else {
    tok.yield
  }
  return
}

// CHECK-LABEL: func.func @away
// CHECK: tok.if
// CHECK-NEXT: %[[TEXT:.*]] = tok.constant "seq: the increment 1.0 does not lead from 1.0 to 0.0"
// CHECK-NEXT: tok.raise %[[TEXT]]
// CHECK-NEXT: tok.seq
func.func @away(%c: i1) {
  %one = tok.constant 1.0 : f64
  %zero = tok.constant 0.0 : f64
  tok.if %c {
    %0 = tok.seq %one, %zero, %one : (f64, f64, f64) -> tensor<?x?xf64>
    tok.yield
  } else {
    tok.yield
  }
  return
}
