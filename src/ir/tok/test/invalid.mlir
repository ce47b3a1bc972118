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

// -----

func.func @full_aggregate_is_f64(%x: tensor<?x?xf32>) {
  // expected-error @+1 {{a full aggregate is an f64, any other has the type of its operand}}
  %0 = tok.aggregate sum full %x : tensor<?x?xf32> -> f32
  return
}

// -----

func.func @columns_of_matrices(%x: tensor<?x?x?xf64>) {
  // expected-error @+1 {{columns are aggregated of matrices only}}
  %0 = tok.aggregate sum column %x : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  return
}

// -----

func.func @element_types_differ(%x: tensor<?x?x?xf64>, %y: tensor<?x?xf32>) {
  // expected-error @+1 {{arrays of one operation have the same element type, not 'tensor<?x?x?xf64>' and 'tensor<?x?xf32>'}}
  %0 = tok.binary add %x, %y : (tensor<?x?x?xf64>, tensor<?x?xf32>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @rank_of_a_result(%x: tensor<?x?xf64>, %y: tensor<?x?x?xf64>) {
  // expected-error @+1 {{result type does not follow from the operands'}}
  %0 = tok.binary add %x, %y : (tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @rank_of_a_choice(%x: tensor<?x?xf64>, %y: tensor<?x?x?xf64>) {
  // expected-error @+1 {{result type does not follow from the operands'}}
  %0 = tok.ifelse %x, %y, %x : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @left_sizes_of_a_smaller_rank(%x: tensor<?x?xf64>, %y: tensor<?x?x?xf64>) {
  // expected-error @+1 {{left_sizes is of two arrays, the right one of no larger rank}}
  %0 = tok.binary add left_sizes %x, %y : (tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @left_sizes_beside_a_scalar(%x: tensor<?x?xf64>, %y: f64) {
  // expected-error @+1 {{left_sizes is of two arrays, the right one of no larger rank}}
  %0 = tok.binary add left_sizes %x, %y : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return
}

// -----

func.func @equal_sizes_of_two_ranks(%x: tensor<?x?xf64>, %y: tensor<?xf64>) {
  // expected-error @+1 {{equal_sizes is of arrays of one rank}}
  %0 = tok.ifelse equal_sizes %x, %y, %x : (tensor<?x?xf64>, tensor<?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @precisions_differ(%x: tensor<?x?xf64>, %y: tensor<?x?xf32>) {
  // expected-error @+1 {{operands and result have the same rank and element type}}
  %0 = tok.matmul %x, %y : (tensor<?x?xf64>, tensor<?x?xf32>) -> tensor<?x?xf64>
  return
}

// -----

func.func @product_of_vectors(%x: tensor<?xf64>) {
  // expected-error @+1 {{the operands have at least two dimensions}}
  %0 = tok.matmul %x, %x : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return
}

// -----

func.func @no_fourth_dimension(%x: tensor<?x?x?xf64>) {
  // expected-error @+1 {{there is no dimension 4: they count from 1 to 3}}
  %0 = tok.size %x[4] : tensor<?x?x?xf64>
  return
}

// -----

func.func @rows_of_a_tensor(%x: tensor<?x?x?xf64>) {
  // expected-error @+1 {{an array of another rank than 2 has no rows: use tok.size}}
  %0 = tok.rows %x : tensor<?x?x?xf64>
  return
}

// -----

func.func @too_few_sizes(%x: tensor<?x?xf64>, %n: i64) {
  // expected-error @+1 {{as many sizes as the result has dimensions expected: 3}}
  %0 = tok.view %x [%n, %n] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  return
}

// -----

func.func @literal_of_integers() {
  // expected-error @+1 {{the cells are written as dense<...> of numbers of type f64 or f32}}
  %0 = tok.literal dense<[1, 2]> : tensor<2xi64>
  return
}

// -----

func.func @cast_of_rank(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{changes the element type of an array, not its rank: use tok.view}}
  %0 = tok.cast %x : tensor<?x?xf64> -> tensor<?x?x?xf32>
  return
}
