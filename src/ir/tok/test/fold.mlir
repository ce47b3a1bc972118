// Scalars fold to what they would be at run time; what fails at run time stays.
// RUN: tokamak-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @remainder_truncates
func.func @remainder_truncates() -> i64 {
  %a = tok.constant -7 : i64
  %b = tok.constant 2 : i64
  // CHECK: tok.constant -1 : i64
  %0 = tok.binary mod %a, %b : (i64, i64) -> i64
  return %0 : i64
}

// CHECK-LABEL: func.func @overflow_stays
func.func @overflow_stays() -> i64 {
  %a = tok.constant 9223372036854775807 : i64
  // CHECK: tok.binary mul
  %0 = tok.binary mul %a, %a : (i64, i64) -> i64
  return %0 : i64
}

// CHECK-LABEL: func.func @large_integers_compare_exactly
func.func @large_integers_compare_exactly() -> i1 {
  %a = tok.constant 9007199254740993 : i64
  %b = tok.constant 9007199254740992 : i64
  // CHECK: tok.binary eq
  %0 = tok.binary eq %a, %b : (i64, i64) -> i1
  return %0 : i1
}

// CHECK-LABEL: func.func @double_transpose
func.func @double_transpose(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %0 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  // CHECK: return %arg0
  return %1 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @constant_branch
func.func @constant_branch(%n: i64, %m: i64) -> i64 {
  %true = tok.constant true
  %0 = tok.if %true -> i64 {
    tok.yield %n : i64
  } else {
    tok.yield %m : i64
  }
  // CHECK-NEXT: return %arg0
  return %0 : i64
}
