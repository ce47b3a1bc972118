// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-untransposed))' %s | FileCheck %s --check-prefix=TURNED
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-for-diagonal))' %s | FileCheck %s --check-prefix=DIAGONAL
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-multiply-for-slice))' %s | FileCheck %s --check-prefix=SLICE

// TURNED-LABEL: func.func @turned(
// TURNED: %[[P:.*]] = tok.matmul %[[B:.*]], %[[A:.*]] :
// TURNED: %[[R:.*]] = tok.transpose %[[P]]
// TURNED: return %[[R]]
func.func @turned(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [40, 20] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %b : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// Of sizes that are not known a factor may be a vector.
// TURNED-LABEL: func.func @not_turned(
// TURNED-COUNT-2: tok.transpose %arg
// TURNED: tok.matmul
func.func @not_turned(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %b : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// DIAGONAL-LABEL: func.func @diagonal(
// DIAGONAL: %[[T:.*]] = tok.transpose
// DIAGONAL: %[[M:.*]] = tok.binary mul %{{.*}}, %[[T]]
// DIAGONAL: %[[R:.*]] = tok.aggregate sum row %[[M]]
// DIAGONAL: return %[[R]]
func.func @diagonal(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [30, 20] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.diag %0 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// The product is a vector: diag makes a matrix of it.
// DIAGONAL-LABEL: func.func @no_diagonal(
// DIAGONAL: tok.matmul
// DIAGONAL: tok.diag
func.func @no_diagonal(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %x [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [30, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.diag %0 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// SLICE-LABEL: func.func @slice(
// SLICE: %[[A:.*]] = tok.slice
// SLICE: %[[R:.*]] = tok.matmul %[[A]]
// SLICE: return %[[R]]
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
// SLICE-LABEL: func.func @no_slice(
// SLICE: tok.matmul %[[A:[^,]*]], %[[B:[^ ]*]] :
// SLICE: tok.slice
// SLICE: tok.matmul %[[A]], %[[A]]
// SLICE: tok.slice
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
