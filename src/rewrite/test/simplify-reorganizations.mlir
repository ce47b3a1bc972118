// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-whole-slices))' %s | FileCheck %s --check-prefix=SLICE
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-whole-inserts))' %s | FileCheck %s --check-prefix=INSERT
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-flatten-appends))' %s | FileCheck %s --check-prefix=FLATTEN
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-append-untransposed))' %s | FileCheck %s --check-prefix=APPEND
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-double-reversal))' %s | FileCheck %s --check-prefix=REVERSE

// SLICE-LABEL: func.func @whole_slice(
// SLICE-NOT: tok.slice
func.func @whole_slice(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %rows = tok.rows %x : tensor<?x?xf64>
  %columns = tok.columns %x : tensor<?x?xf64>
  %0 = tok.slice %x, %one, %rows, %one, %columns : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// SLICE-LABEL: func.func @part(
// SLICE: tok.slice
func.func @part(%x: tensor<?x?xf64>, %rows: i64) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %columns = tok.columns %x : tensor<?x?xf64>
  %0 = tok.slice %x, %one, %rows, %one, %columns : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// INSERT-LABEL: func.func @whole_insert(
// INSERT: %[[Y:.*]] = tok.assume %arg1
// INSERT-NOT: tok.insert
// INSERT: return %[[Y]]
func.func @whole_insert(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [4, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [4, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %rows = tok.constant 4 : i64
  %columns = tok.constant 5 : i64
  %0 = tok.insert %x, %y, %one, %rows, %one, %columns : (tensor<?x?xf64>, tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// INSERT-LABEL: func.func @insert_of_unknown_size(
// INSERT: tok.insert
func.func @insert_of_unknown_size(%a: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [4, 5] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %rows = tok.constant 4 : i64
  %columns = tok.constant 5 : i64
  %0 = tok.insert %x, %y, %one, %rows, %one, %columns : (tensor<?x?xf64>, tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// FLATTEN-LABEL: func.func @flatten(
// FLATTEN: %[[X:.*]] = tok.assume %arg0
// FLATTEN: %[[Y:.*]] = tok.assume %arg1
// FLATTEN: %[[R:.*]] = tok.cbind %[[X]], %[[Y]], %[[X]]
// FLATTEN: return %[[R]]
func.func @flatten(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [4, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.assume %b [4, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.cbind %y, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.cbind %x, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// Sizes that may not agree are reported for the call that appends them.
// FLATTEN-LABEL: func.func @no_flatten(
// FLATTEN-COUNT-2: tok.rbind
func.func @no_flatten(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.rbind %y, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.rbind %x, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// APPEND-LABEL: func.func @append(
// APPEND: %[[R:.*]] = tok.rbind %arg0, %arg1
// APPEND: return %[[R]]
func.func @append(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.transpose %b : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.cbind %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.transpose %2 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %3 : tensor<?x?xf64>
}

// APPEND-LABEL: func.func @no_append(
// APPEND: tok.cbind
// APPEND: tok.transpose
func.func @no_append(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.cbind %0, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.transpose %1 : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// REVERSE-LABEL: func.func @reverse(
// REVERSE: return %arg0
func.func @reverse(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.native "rev"(%a) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.native "rev"(%0) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// REVERSE-LABEL: func.func @no_reverse(
// REVERSE: tok.native "cumsum"
// REVERSE: tok.native "rev"
func.func @no_reverse(%a: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.native "rev"(%a) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.native "cumsum"(%0) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.native "rev"(%1) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}
