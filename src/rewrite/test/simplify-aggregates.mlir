// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-aggregate-untransposed))' %s | FileCheck %s --check-prefix=TURNED
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-join-aggregates))' %s | FileCheck %s --check-prefix=JOIN

// TURNED-LABEL: func.func @turned(
// TURNED: tok.aggregate sum full %arg0
// TURNED: %[[C:.*]] = tok.aggregate max column %arg0
// TURNED: tok.transpose %[[C]]
// TURNED: tok.aggregate min full %arg0
func.func @turned(%x: tensor<?x?xf64>) -> (f64, tensor<?x?xf64>, f64) {
  %0 = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %2 = tok.aggregate max row %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %3 = tok.native "rev"(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.aggregate min full %3 : tensor<?x?xf64> -> f64
  return %1, %2, %4 : f64, tensor<?x?xf64>, f64
}

// The index of an extreme, and the rows of a reversed matrix, are others.
// TURNED-LABEL: func.func @not_turned(
// TURNED: tok.aggregate index_max row %0
// TURNED: tok.aggregate sum row %2
func.func @not_turned(%x: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.aggregate index_max row %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.native "rev"(%x) : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.aggregate sum row %2 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1, %3 : tensor<?x?xf64>, tensor<?x?xf64>
}

// JOIN-LABEL: func.func @join(
// JOIN: %[[S:.*]] = tok.aggregate sum full %arg0
// JOIN: %[[M:.*]] = tok.aggregate min full %arg0
// JOIN: return %[[S]], %[[M]]
func.func @join(%x: tensor<?x?xf64>) -> (f64, f64) {
  %0 = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %2 = tok.aggregate min column %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %3 = tok.aggregate min full %2 : tensor<?x?xf64> -> f64
  return %1, %3 : f64, f64
}

// Another aggregate inside, or one that is needed itself.
// JOIN-LABEL: func.func @no_join(
// JOIN: tok.aggregate max row
// JOIN: tok.aggregate sum full %0
// JOIN: tok.aggregate sum row
// JOIN: tok.aggregate sum full %2
func.func @no_join(%x: tensor<?x?xf64>) -> (f64, f64, tensor<?x?xf64>) {
  %0 = tok.aggregate max row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate sum full %0 : tensor<?x?xf64> -> f64
  %2 = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %3 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
  return %1, %3, %2 : f64, f64, tensor<?x?xf64>
}
