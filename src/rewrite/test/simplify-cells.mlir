// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-neutral-operands))' %s | FileCheck %s --check-prefix=NEUTRAL
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-double-negation))' %s | FileCheck %s --check-prefix=NEGATION
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-negate-equalities))' %s | FileCheck %s --check-prefix=EQUALITY
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-drop-rounding-of-truth))' %s | FileCheck %s --check-prefix=TRUTH
// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-use-fills-as-scalars))' %s | FileCheck %s --check-prefix=FILL

// NEUTRAL-LABEL: func.func @neutral(
// NEUTRAL-NOT: tok.binary
// NEUTRAL: return %arg0, %arg0, %arg0, %arg0
func.func @neutral(%x: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %one = tok.constant 1.0 : f64
  %integer = tok.constant 1 : i64
  %zero = tok.constant 0.0 : f64
  %0 = tok.binary mul %x, %one : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary mul %integer, %x : (i64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary pow %x, %integer : (tensor<?x?xf64>, i64) -> tensor<?x?xf64>
  %3 = tok.binary sub %x, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return %0, %1, %2, %3 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// -0 + 0 is 0 and 0 - 0 is 0; 0 * NaN is NaN; 1 / X and 1 ^ X are not X.
// NEUTRAL-LABEL: func.func @not_neutral(
// NEUTRAL-COUNT-6: tok.binary
func.func @not_neutral(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1.0 : f64
  %zero = tok.constant 0.0 : f64
  %minus_zero = tok.constant -0.0 : f64
  %0 = tok.binary add %x, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary sub %zero, %0 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary mul %1, %zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %3 = tok.binary div %one, %2 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.binary pow %one, %3 : (f64, tensor<?x?xf64>) -> tensor<?x?xf64>
  %5 = tok.binary sub %4, %minus_zero : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  return %5 : tensor<?x?xf64>
}

// NEGATION-LABEL: func.func @twice(
// NEGATION: return %arg0
func.func @twice(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.unary neg %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// NEGATION-LABEL: func.func @not_twice(
// NEGATION: %[[A:.*]] = tok.unary abs
// NEGATION: tok.unary neg %[[A]]
func.func @not_twice(%x: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.unary abs %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.unary neg %1 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// EQUALITY-LABEL: func.func @equality(
// EQUALITY: %[[R:.*]] = tok.binary ne %arg0, %arg1
// EQUALITY: return %[[R]]
func.func @equality(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary eq %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary not %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// !(NaN < 1) is true, NaN >= 1 is not.
// EQUALITY-LABEL: func.func @order(
// EQUALITY: tok.binary lt
// EQUALITY: tok.unary not
func.func @order(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary lt %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary not %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// TRUTH-LABEL: func.func @truth(
// TRUTH: %[[R:.*]] = tok.binary gt
// TRUTH: return %[[R]]
func.func @truth(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.binary gt %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary round %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.unary abs %1 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// TRUTH-LABEL: func.func @no_truth(
// TRUTH: tok.unary sign
// TRUTH: tok.unary exp
func.func @no_truth(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.binary sub %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.unary sign %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %2 = tok.binary eq %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.unary exp %2 : tensor<?x?xf64> -> tensor<?x?xf64>
  return %1, %3 : tensor<?x?xf64>, tensor<?x?xf64>
}

// FILL-LABEL: func.func @fill(
// FILL: %[[C:.*]] = tok.constant 3
// FILL: tok.binary mul %{{.*}}, %[[C]] : (tensor<?x?xf64>, f64)
// FILL: tok.binary sub %[[C]], %{{.*}} : (f64, tensor<?x?xf64>)
// FILL: tok.binary add %{{.*}}, %[[C]] : (tensor<?x?xf64>, f64)
func.func @fill(%a: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %x = tok.assume %a [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %c = tok.constant 3.0 : f64
  %one = tok.constant 1 : i64
  %rows = tok.constant 20 : i64
  %columns = tok.constant 30 : i64
  %0 = tok.fill %c, %rows, %columns : (f64, i64, i64) -> tensor<?x?xf64>
  %1 = tok.fill %c, %rows, %one : (f64, i64, i64) -> tensor<?x?xf64>
  %2 = tok.binary mul %x, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.binary sub %0, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.binary add %x, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2, %3, %4 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// Sizes that are not known, and a left operand that gives the result its size.
// FILL-LABEL: func.func @no_fill(
// FILL: tok.binary mul %arg0, %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>)
// FILL: tok.binary sub %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>)
func.func @no_fill(%x: tensor<?x?xf64>, %a: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %v = tok.assume %a [20, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %c = tok.constant 3.0 : f64
  %rows = tok.constant 20 : i64
  %columns = tok.constant 30 : i64
  %0 = tok.fill %c, %rows, %columns : (f64, i64, i64) -> tensor<?x?xf64>
  %1 = tok.binary mul %x, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary sub %0, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1, %2 : tensor<?x?xf64>, tensor<?x?xf64>
}
