// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-use-fills-as-scalars))' %s | FileCheck %s

// CHECK-LABEL: func.func @fill(
// CHECK: %[[C:.*]] = tok.constant 3
// CHECK: tok.binary mul %{{.*}}, %[[C]] : (tensor<?x?xf64>, f64)
// CHECK: tok.binary sub %[[C]], %{{.*}} : (f64, tensor<?x?xf64>)
// CHECK: tok.binary add %{{.*}}, %[[C]] : (tensor<?x?xf64>, f64)
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

// Sizes that are not known, and a filled operand that is not repeated.
// CHECK-LABEL: func.func @no_fill(
// CHECK: tok.binary mul %arg0, %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>)
// CHECK: tok.binary sub %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>)
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

// A filled vector on the left is broadcast.
// CHECK-LABEL: func.func @left_vector(
// CHECK: %[[C:.*]] = tok.constant 3
// CHECK: tok.binary sub %[[C]], %{{.*}} : (f64, tensor<?x?xf64>)
// CHECK: tok.binary sub %[[C]], %{{.*}} : (f64, tensor<?x?xf64>)
func.func @left_vector(%a: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %x = tok.assume %a [20, 30] : tensor<?x?xf64> -> tensor<?x?xf64>
  %c = tok.constant 3.0 : f64
  %one = tok.constant 1 : i64
  %columns = tok.constant 30 : i64
  %0 = tok.fill %c, %one, %columns : (f64, i64, i64) -> tensor<?x?xf64>
  %1 = tok.binary sub %0, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary sub one_repeated %0, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1, %2 : tensor<?x?xf64>, tensor<?x?xf64>
}

// An operand that is stored as one number.
// CHECK-LABEL: func.func @repeated(
// CHECK: %[[C:.*]] = tok.repeated_cell %arg1
// CHECK: tok.binary mul %arg0, %[[C]] : (tensor<?x?xf64>, f64)
func.func @repeated(%x: tensor<?x?xf64> {tok.sizes = [2000, 3000]},
                    %r: tensor<?x?xf64> {tok.repeated, tok.sizes = [2000, 3000]}) -> tensor<?x?xf64> {
  %0 = tok.binary mul %x, %r : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// The filled matrix is the larger one, but the result is used beside a matrix of its sizes.
// CHECK-LABEL: func.func @larger(
// CHECK: %[[C:.*]] = tok.repeated_cell %arg1
// CHECK: %[[V:.*]] = tok.binary mul %[[C]], %arg0 : (f64, tensor<?x?xf64>)
// CHECK: tok.binary sub %arg2, %[[V]]
func.func @larger(%v: tensor<?x?xf64> {tok.sizes = [2000, 1]},
                  %r: tensor<?x?xf64> {tok.repeated, tok.sizes = [2000, 3000]},
                  %y: tensor<?x?xf64> {tok.sizes = [2000, 3000]}) -> tensor<?x?xf64> {
  %0 = tok.binary mul %r, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.binary sub %y, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// Here something needs the matrix itself, or twice.
// CHECK-LABEL: func.func @larger_kept(
// CHECK: tok.binary mul %arg1, %arg0 : (tensor<?x?xf64>, tensor<?x?xf64>)
// CHECK: tok.binary sub %arg1, %arg0 : (tensor<?x?xf64>, tensor<?x?xf64>)
func.func @larger_kept(%v: tensor<?x?xf64> {tok.sizes = [2000, 1]},
                       %r: tensor<?x?xf64> {tok.repeated, tok.sizes = [2000, 3000]},
                       %y: tensor<?x?xf64> {tok.sizes = [2000, 3000]})
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.binary mul %r, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.binary sub %y, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.binary sub %r, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.binary mul %2, %2 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %0, %1, %3 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}
