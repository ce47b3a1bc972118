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
  // expected-error @+1 {{indices of extremes are of rows}}
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
  // expected-error @+1 {{a full aggregate of floats is an f64, one of integers an i64}}
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

func.func @one_repeated_beside_a_scalar(%x: tensor<?x?xf64>, %y: f64) {
  // expected-error @+1 {{one_repeated is of two arrays}}
  %0 = tok.binary add one_repeated %x, %y : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return
}

// -----

func.func @one_whole_of_scalars(%c: i1, %x: f64) {
  // expected-error @+1 {{one_whole is of arrays}}
  %0 = tok.ifelse one_whole %c, %x, %x : (i1, f64, f64) -> f64
  return
}

// -----

func.func @precisions_differ(%x: tensor<?x?xf64>, %y: tensor<?x?xf32>) {
  // expected-error @+1 {{operands and result have the same rank, the operands the same element type}}
  %0 = tok.matmul %x, %y : (tensor<?x?xf64>, tensor<?x?xf32>) -> tensor<?x?xf64>
  return
}

// -----

func.func @product_of_truths(%x: tensor<?x?xi1>) {
  // expected-error @+1 {{i1 is converted by tok.cast}}
  %0 = tok.matmul %x, %x : (tensor<?x?xi1>, tensor<?x?xi1>) -> tensor<?x?xi1>
  return
}

// -----

func.func @narrower_product(%x: tensor<?x?xi32>) {
  // expected-error @+1 {{the result has the operands' element type, or a wider signed one}}
  %0 = tok.matmul %x, %x : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi8>
  return
}

// -----

func.func @function_of_integers(%x: tensor<?x?xui8>) {
  // expected-error @+1 {{'exp' is not of cells of this type: convert 'tensor<?x?xui8>' by tok.cast}}
  %0 = tok.unary exp %x : tensor<?x?xui8> -> tensor<?x?xui8>
  return
}

// -----

func.func @sum_of_truths(%x: tensor<?xi1>) {
  // expected-error @+1 {{'add' is not of cells of this type: convert 'tensor<?xi1>' by tok.cast}}
  %0 = tok.binary add %x, %x : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
  return
}

// -----

func.func @double_beside_integers(%x: tensor<?xi32>, %a: f64) {
  // expected-error @+1 {{result type does not follow from the operands'}}
  %0 = tok.binary add %x, %a : (tensor<?xi32>, f64) -> tensor<?xi32>
  return
}

// -----

func.func @truth_of_a_sum(%x: tensor<?xi32>) {
  // expected-error @+1 {{result type does not follow from the operands'}}
  %0 = tok.binary add %x, %x : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  return
}

// -----

func.func @mean_of_integers(%x: tensor<?x?xi32>) {
  // expected-error @+1 {{'mean' is not of cells of this type}}
  %0 = tok.aggregate mean full %x : tensor<?x?xi32> -> f64
  return
}

// -----

func.func @count_of_truths(%x: tensor<?x?xi1>) {
  // expected-error @+1 {{sums and counts of i1 are}}
  %0 = tok.aggregate sum row %x : tensor<?x?xi1> -> tensor<?x?xi1>
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

func.func @literal_of_odd_integers() {
  // expected-error @+1 {{must be an array of f64, f32, f16, bf16, i8 to i64, ui8 to ui64 or i1, but got 'tensor<?xi5>'}}
  %0 = tok.literal dense<[1, 2]> : tensor<2xi5>
  return
}

// -----

func.func @cast_of_rank(%x: tensor<?x?xf64>) {
  // expected-error @+1 {{changes the element type of an array, not its rank: use tok.view}}
  %0 = tok.cast %x : tensor<?x?xf64> -> tensor<?x?x?xf32>
  return
}
