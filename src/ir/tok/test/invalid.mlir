// What the verifiers refuse.
// RUN: tokamak-opt %s -split-input-file -verify-diagnostics

func.func @unknown_operator(%x: f64) {
  // expected-error @+1 {{unknown unary operator 'expp'}}
  %0 = tok.unary expp %x : f64 -> f64
  return
}

// -----

func.func @boolean_arithmetic(%x: f64, %b: i1) {
  // expected-error @+1 {{result type does not follow from the operands'}}
  %0 = tok.binary add %x, %b : (f64, i1) -> f64
  return
}

// -----

func.func @full_aggregate_is_scalar(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{a full aggregate is a scalar, one over rows or columns an array}}
  %0 = tok.aggregate sum full %x : tensor<?x?xf64> -> tensor<?x?xf64>
  return
}

// -----

func.func @index_over_columns(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{index_max and index_min are of rows}}
  %0 = tok.aggregate index_max column %x : tensor<?x?xf64> -> tensor<?x?xf64>
  return
}

// -----

func.func @branch_types(%c: i1, %n: i64, %x: f64) {
  // expected-error @+1 {{both branches must yield the types of the results}}
  %0 = tok.if %c -> i64 {
    tok.yield %n : i64
  } else {
    tok.yield %x : f64
  }
  return
}

// -----

func.func @unknown_function(%n: i64) {
  // expected-error @+1 {{no function @nowhere}}
  %0 = tok.call @nowhere(%n) : (i64) -> i64
  return
}

// -----

func.func @carried_types(%c: i1, %n: i64, %x: f64) {
  // expected-error @+1 {{the carried values must have the same types everywhere}}
  %0 = tok.while carrying (%a = %n) : i64 {
    tok.condition %c, %a : i64
  } do {
    tok.yield %x : f64
  }
  return
}
