// Sizes through branches, loops and integer arithmetic.
// RUN: tokamak-opt --tok-print-facts %s -split-input-file -verify-diagnostics -o /dev/null

func.func @sizes_flow(%x: tensor<?x?xf64>) {
  // expected-remark @+1 {{100 x 10}}
  %a = tok.assume %x [100, 10] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-remark @+1 {{= 10}}
  %n = tok.columns %a : tensor<?x?xf64>
  // expected-remark @+1 {{= 1}}
  %one = tok.constant 1 : i64
  // expected-remark @+1 {{= 11}}
  %m = tok.binary add %n, %one : (i64, i64) -> i64
  %zero = tok.constant 0.0 : f64
  // expected-remark @+1 {{11 x 1}}
  %w = tok.fill %zero, %m, %one : (f64, i64, i64) -> tensor<?x?xf64>
  // expected-remark @+1 {{10 x 100}}
  %t = tok.transpose %a : (tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-remark @+1 {{10 x 10}}
  %g = tok.matmul %t, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// The symbol of an unread size reaches what is made from it.
func.func @symbols(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) {
  // expected-remark @+1 {{= s}}
  %n = tok.rows %x : tensor<?x?xf64>
  // expected-remark @+1 {{= 1}}
  %one = tok.constant 1 : i64
  %zero = tok.constant 0.0 : f64
  // expected-remark @+1 {{s1000 x 1}}
  %w = tok.fill %zero, %n, %one : (f64, i64, i64) -> tensor<?x?xf64>
  // expected-remark @+1 {{s1000 x s1001 + 1}}
  %b = tok.cbind %x, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// A carried size that changes becomes a symbol of its own, one that does not is kept.
func.func @loops(%c: i1, %x: tensor<?x?xf64>) {
  // expected-remark @+1 {{5 x 2}}
  %a = tok.assume %x [5, 2] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-remark @+2 {{5 x s}}
  // expected-remark @+1 {{5 x 2}}
  %r:2 = tok.while carrying (%grow = %a, %keep = %a) : tensor<?x?xf64>, tensor<?x?xf64> {
    tok.condition %c, %grow, %keep : tensor<?x?xf64>, tensor<?x?xf64>
  } do {
    // expected-remark @+1 {{5 x s}}
    %g = tok.cbind %grow, %keep : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    // expected-remark @+1 {{5 x 2}}
    %k = tok.unary exp %keep : tensor<?x?xf64> -> tensor<?x?xf64>
    tok.yield %g, %k : tensor<?x?xf64>, tensor<?x?xf64>
  }
  return
}

// -----

// Arrays of any rank: sizes of 1 are repeated on either side, products run over leading dimensions.
func.func @tensors(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) {
  // expected-remark @+1 {{4 x 1 x 6}}
  %a = tok.assume %x [4, 1, 6] : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // expected-remark @+1 {{1 x 5 x 6}}
  %b = tok.assume %y [1, 5, 6] : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // expected-remark @+1 {{4 x 5 x 6}}
  %c = tok.binary add %a, %b : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  // expected-remark @+1 {{4 x 5 x 1}}
  %d = tok.aggregate max row %c : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // expected-remark @+1 {{4 x 6 x 5}}
  %e = tok.transpose %c : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  // expected-remark @+1 {{4 x 5 x 5}}
  %f = tok.matmul %b, %e : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  // expected-remark @+1 {{= 100}}
  %g = tok.length %f : tensor<?x?x?xf32>
  // expected-remark @+1 {{= 5}}
  %h = tok.size %f[3] : tensor<?x?x?xf32>
  // expected-remark @+1 {{100 x 5}}
  %i = tok.view %f [%g, %h] : tensor<?x?x?xf32> -> tensor<?x?xf32>
  // expected-remark @+1 {{1 x 2 x 3}}
  %j = tok.literal dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<1x2x3xf32>
  return
}

// -----

// The rows of a symbolic size are the same symbol in every rank.
func.func @tensor_symbols(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>) {
  // expected-remark @+1 {{= s1000}}
  %n = tok.size %x[1] : tensor<?x?x?xf64>
  // expected-remark @+1 {{s1000 x s1001 x 1}}
  %a = tok.aggregate sum row %x : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  // expected-remark @+1 {{s1000 x s1001 x s1002}}
  %b = tok.binary sub %a, %x : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

// Sizes are computed with as numbers are.
func.func @algebra(%x: tensor<?x?xf64> {tok.sizes = ["s0", "s1~500"]}, %k: i64 {tok.sizes = ["s2:1..100"]}) {
  // expected-remark @+1 {{= s0}}
  %n = tok.rows %x : tensor<?x?xf64>
  // expected-remark @+1 {{= s1}}
  %m = tok.columns %x : tensor<?x?xf64>
  // expected-remark @+1 {{= 1}}
  %one = tok.constant 1 : i64
  // expected-remark @+1 {{= 2}}
  %two = tok.constant 2 : i64
  // expected-remark @+1 {{= s0*s1~500}}
  %length = tok.length %x : tensor<?x?xf64>
  // expected-remark @+1 {{= 2*s0}}
  %double = tok.binary mul %two, %n : (i64, i64) -> i64
  // expected-remark @+1 {{= 2*s0 - 1}}
  %odd = tok.binary sub %double, %one : (i64, i64) -> i64
  // expected-remark @+1 {{= s0}}
  %half = tok.binary intdiv %double, %two : (i64, i64) -> i64
  // expected-remark @+1 {{= floordiv(s0, s2:1..100)}}
  %quotient = tok.binary intdiv %n, %k : (i64, i64) -> i64
  // expected-remark @+1 {{= min(s0, s1~500)}}
  %least = tok.binary min %m, %n : (i64, i64) -> i64
  // expected-remark @+1 {{= max(s0, 2*s0 - 1)}}
  %most = tok.binary max %n, %odd : (i64, i64) -> i64
  // expected-remark @+1 {{= -s2}}
  %negative = tok.unary neg %k : i64 -> i64
  // expected-remark @+1 {{2*s0 - 2 x s1~500}}
  %rows = tok.slice %x, %two, %odd, %one, %m : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return
}

// -----

// Operands of tok.binary and tok.ifelse are broadcast to each other's sizes, at every rank.
func.func @broadcasts(%u: tensor<?xf64> {tok.sizes = ["s3"]}, %c: tensor<?x?xf64> {tok.sizes = ["s2", 1]},
                      %x: tensor<?x?x?xf64> {tok.sizes = ["s1", "s2", "s3"]}, %w: tensor<?x?x?x?xf64>) {
  // expected-remark @+1 {{s2 x s3}}
  %0 = tok.binary add %u, %c : (tensor<?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-remark @+1 {{s1 x s2 x s3}}
  %1 = tok.binary add %0, %x : (tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  // expected-remark @+1 {{2 x 1 x 5 x 1}}
  %2 = tok.assume %w [2, 1, 5, 1] : tensor<?x?x?x?xf64> -> tensor<?x?x?x?xf64>
  // expected-remark @+1 {{3 x 1 x 7}}
  %3 = tok.assume %x [3, 1, 7] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  // expected-remark @+1 {{2 x 3 x 5 x 7}}
  %4 = tok.binary mul %3, %2 : (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  // expected-remark @+1 {{2 x 3 x 5 x 7}}
  %5 = tok.ifelse %3, %2, %2 : (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return
}

// -----

// Which of two unknown sizes is repeated is open, unless one operand is repeated elsewhere and only one may be.
func.func @one_repeated(%x: tensor<?x?xf64> {tok.sizes = ["s0", "s1"]}, %y: tensor<?x?xf64> {tok.sizes = ["s2", "s1"]}) {
  // expected-remark @+1 {{s1000 x s1}}
  %0 = tok.binary add %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-remark @+1 {{s1001 x s1}}
  %1 = tok.binary add one_repeated %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-remark @+1 {{7 x 1}}
  %2 = tok.assume %y [7, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-remark @+1 {{7 x s1}}
  %3 = tok.binary add one_repeated %x, %2 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-remark @+1 {{7 x s1}}
  %4 = tok.ifelse one_whole %x, %2, %y : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// Sequences of constants in steps of 1 or -1; one that leads away from its end fails when it runs.
func.func @sequences(%n: f64) {
  %one = tok.constant 1.0 : f64
  %ten = tok.constant 10.0 : f64
  %half = tok.constant 0.5 : f64
  %none = tok.constant unit : none
  // expected-remark @+1 {{10 x 1}}
  %0 = tok.seq %one, %ten, %none : (f64, f64, none) -> tensor<?x?xf64>
  // expected-remark @+1 {{10 x 1}}
  %1 = tok.seq %ten, %one, %none : (f64, f64, none) -> tensor<?x?xf64>
  // expected-remark @+1 {{s1000 x 1}}
  %2 = tok.seq %ten, %one, %one : (f64, f64, f64) -> tensor<?x?xf64>
  // expected-remark @+1 {{s1001 x 1}}
  %3 = tok.seq %one, %ten, %half : (f64, f64, f64) -> tensor<?x?xf64>
  // expected-remark @+1 {{s1002 x 1}}
  %4 = tok.seq %one, %n, %none : (f64, f64, none) -> tensor<?x?xf64>
  return
}
