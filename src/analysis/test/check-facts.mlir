// Operands that can never be right are errors before the run.
// RUN: tokamak-opt --tok-report-contradictions %s -split-input-file -verify-diagnostics -o /dev/null

func.func @product(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) {
  %a = tok.assume %x [-1, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %y [4, 2] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-error @+1 {{%*%: the inner dimensions differ: nx3 %*% 4x2}}
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// A vector is broadcast on either side; with one_repeated not on both, with one_whole not all of them.
func.func @broadcast(%x: tensor<?x?xf64>, %v: tensor<?x?xf64>, %u: tensor<?x?xf64>) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %v [4, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %c = tok.assume %u [1, 2] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.binary mul one_repeated %b, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-error @+1 {{sizes do not agree: 4x1 * 1x2; expected equal sizes, or one operand that is a vector of matching length; outer(u, v, "*") combines a column with a row}}
  %1 = tok.binary mul one_repeated %b, %c : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary mul %b, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.binary mul %b, %c : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-error @+1 {{sizes do not agree: 4x3 * 1x2; expected equal sizes, or 1 where they differ}}
  %4 = tok.binary mul %2, %c : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %5 = tok.ifelse %b, %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %6 = tok.ifelse one_whole %b, %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-error @+1 {{ifelse: sizes do not agree: 4x1, 1x2 and 1x2; expected equal sizes, or vectors of matching length beside a matrix}}
  %8 = tok.ifelse one_whole %b, %c, %c : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-error @+1 {{ifelse: sizes do not agree: 4x1, 4x3 and 1x2; expected equal sizes, or 1 where they differ}}
  %7 = tok.ifelse %b, %a, %c : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// Dimensions are aligned at the last one.
func.func @ranks(%x: tensor<?x?x?xf64>, %y: tensor<?x?xf64>, %z: tensor<?xf64>) {
  %a = tok.assume %x [4, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [4, 6] : tensor<?x?xf64> -> tensor<?x?xf64>
  %c = tok.assume %z [6] : tensor<?xf64> -> tensor<?xf64>
  // expected-error @+1 {{sizes do not agree: 4x6 + 4x5x6; expected equal sizes, or 1 where they differ}}
  %0 = tok.binary add %b, %a : (tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %1 = tok.binary add one_repeated %c, %a : (tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  // expected-error @+1 {{ifelse: sizes do not agree: 6, 4x6 and 4x5x6; expected equal sizes, or 1 where they differ}}
  %2 = tok.ifelse %c, %b, %a : (tensor<?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @index(%x: tensor<?x?xf64>) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  %one = tok.constant 1 : i64
  %five = tok.constant 5 : i64
  // expected-error @+1 {{index out of range: row 5 of a 4x3 matrix}}
  %0 = tok.slice %a, %five, %five, %one, %one : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  return
}

// -----

// Code that never runs may be wrong.
func.func @dead(%x: tensor<?x?xf64>) {
  %false = tok.constant false
  tok.if %false {
    %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
    %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield
  } else {
    tok.yield
  }
  return
}

// -----

func.func @tensors(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>, %n: i64) {
  %a = tok.assume %x [4, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [4, 2, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %c = tok.assume %y [1, 5, -1] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  // expected-error @+1 {{sizes do not agree: 4x5x6 + 4x2x6; expected equal sizes, or 1 where they differ}}
  %0 = tok.binary add %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %1 = tok.binary add %c, %a : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  // expected-error @+1 {{ifelse: sizes do not agree: 1x5xn, 4x5x6 and 4x2x6; expected equal sizes, or 1 where they differ}}
  %2 = tok.ifelse %c, %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  // expected-error @+1 {{%*%: the inner dimensions differ: 4x5x6 %*% 4x2x6}}
  %3 = tok.matmul %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %two = tok.constant 2 : i64
  %six = tok.constant 6 : i64
  // expected-error @+1 {{an array of 4x5x6 has not as many cells as one of 6x6}}
  %4 = tok.view %a [%six, %six] : tensor<?x?x?xf64> -> tensor<?x?xf64>
  %5 = tok.view %a [%n, %six] : tensor<?x?x?xf64> -> tensor<?x?xf64>
  // expected-error @+1 {{expand: only dimensions of size 1 can be repeated, not 5 to 2}}
  %6 = tok.expand %c [%six, %two, %n] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  return
}

// -----

func.func @leading(%x: tensor<?x?x?xf64>, %y: tensor<?x?x?xf64>) {
  %a = tok.assume %x [4, 5, 6] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %b = tok.assume %y [3, 6, 2] : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  // expected-error @+1 {{%*%: the leading dimensions differ: 4x5x6 %*% 3x6x2}}
  %0 = tok.matmul %a, %b : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

// What is wrong only if control gets to it is a warning.
func.func @maybe(%x: tensor<?x?xf64>, %c: i1, %n: i64) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  %true = tok.constant true
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  tok.if %c {
    // expected-warning @+1 {{%*%: the inner dimensions differ: 4x3 %*% 4x3 (an error if the program gets here)}}
    %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield
  } else {
    tok.yield
  }
  tok.for %i = %one to %n step %one {
    // expected-warning @+1 {{%*%: the inner dimensions differ}}
    %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield
  }
  tok.for %i = %one to %two step %one {
    // expected-error @+1 {{%*%: the inner dimensions differ}}
    %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield
  }
  tok.if %true {
    // expected-error @+1 {{%*%: the inner dimensions differ}}
    %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield
  } else {
    tok.yield
  }
  return
}

// -----

// Behind what may end the program nothing is certain, behind what certainly does nothing is reached.
func.func private @ends(%c: i1) {
  tok.assert %c : (i1) -> ()
  return
}
func.func @behind(%x: tensor<?x?xf64>, %c: i1) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-error @+1 {{%*%: the inner dimensions differ}}
  %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  tok.call @ends(%c) : (i1) -> ()
  // expected-warning @+1 {{%*%: the inner dimensions differ}}
  %1 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %text = tok.constant "no"
  tok.stop %text : (!tok.string) -> ()
  %2 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// A function is reached as well as its calls, and not at all without one.
func.func private @certain(%x: tensor<?x?xf64>) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-error @+1 {{%*%: the inner dimensions differ}}
  %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}
func.func private @possible(%x: tensor<?x?xf64>) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  // expected-warning @+1 {{%*%: the inner dimensions differ}}
  %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}
func.func private @uncalled(%x: tensor<?x?xf64>) {
  %a = tok.assume %x [4, 3] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}
func.func @calls(%x: tensor<?x?xf64>, %c: i1) {
  tok.if %c {
    tok.call @certain(%x) : (tensor<?x?xf64>) -> ()
    tok.call @possible(%x) : (tensor<?x?xf64>) -> ()
    tok.yield
  } else {
    tok.yield
  }
  tok.call @certain(%x) : (tensor<?x?xf64>) -> ()
  return
}

// -----

// Sizes that differ whatever they are: those of an unread file and one more.
func.func @one_more(%x: tensor<?x?xf64>) {
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1 : i64
  %n = tok.rows %x : tensor<?x?xf64>
  %w = tok.fill %zero, %n, %one : (f64, i64, i64) -> tensor<?x?xf64>
  %b = tok.cbind %x, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %t = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  // expected-error @+1 {{%*%: the inner dimensions differ: nx(m + 1) %*% mxn}}
  %0 = tok.matmul %b, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

// A vector of n + 1 rows may have one row, which is repeated: no error.
func.func @may_broadcast(%x: tensor<?x?xf64>) {
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1 : i64
  %n = tok.rows %x : tensor<?x?xf64>
  %more = tok.binary add %n, %one : (i64, i64) -> i64
  %m = tok.columns %x : tensor<?x?xf64>
  %w = tok.fill %zero, %more, %m : (f64, i64, i64) -> tensor<?x?xf64>
  %0 = tok.binary add %x, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}
