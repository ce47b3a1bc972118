// RUN: tokamak-opt --loop-invariant-code-motion --tok-sink-cells %s | FileCheck %s

// -X is hoisted, and comes back to the product with a vector; a step of two cheap operators does, too.
// CHECK-LABEL: func.func @product(
// CHECK: tok.for
// CHECK-NEXT: tok.assume
// CHECK-NEXT: %[[N:.*]] = tok.unary neg %[[X:.*]] :
// CHECK-NEXT: %[[H:.*]] = tok.binary mul %[[N]], %{{.*}}
// CHECK-NEXT: tok.matmul %[[H]]
func.func @product(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %n: i64) -> tensor<?x?xf64> {
  %x = tok.assume %a [-1, -2] : tensor<?x?xf64> -> tensor<?x?xf64>
  %v = tok.assume %b [-2, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %half = tok.constant 0.5 : f64
  %one = tok.constant 1 : i64
  %r = tok.for %i = %one to %n step %one carrying (%u = %v) : tensor<?x?xf64> {
    %w = tok.assume %u [-2, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
    %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
    %1 = tok.binary mul %0, %half : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %2 = tok.matmul %1, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield %2 : tensor<?x?xf64>
  }
  return %r : tensor<?x?xf64>
}

// With cells and aggregates, one copy for each reader.
// CHECK-LABEL: func.func @cells(
// CHECK: tok.for
// CHECK: %[[N:.*]] = tok.unary neg %arg0
// CHECK: tok.binary mul %[[N]], %{{.*}}
// CHECK: %[[M:.*]] = tok.unary neg %arg0
// CHECK: tok.binary add %[[M]]
func.func @cells(%x: tensor<?x?xf64>, %n: i64, %start: f64) -> f64 {
  %one = tok.constant 1 : i64
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : f64 {
    %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
    %1 = tok.binary mul %0, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %2 = tok.binary add %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %3 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
    tok.yield %3 : f64
  }
  return %r : f64
}

// What stays outside: operators that take longer than an addition, one of two matrices, one whose result a
// native reads, and the factor of a product that may be one of matrices.
// CHECK-LABEL: func.func @stays(
// CHECK: tok.binary mul %arg0, %arg1
// CHECK: tok.unary exp %arg0
// CHECK: tok.unary neg %arg0
// CHECK: tok.unary abs %arg0
// CHECK: tok.for
// CHECK-NOT: tok.unary
// CHECK: tok.yield
func.func @stays(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>, %n: i64, %start: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %1 = tok.binary mul %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : tensor<?x?xf64> {
    %0 = tok.unary exp %x : tensor<?x?xf64> -> tensor<?x?xf64>
    %2 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
    %3 = tok.unary abs %x : tensor<?x?xf64> -> tensor<?x?xf64>
    %4 = tok.binary add %s, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %5 = tok.binary add %4, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    %6 = tok.insert %5, %2, %one, %n, %one, %n : (tensor<?x?xf64>, tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
    %7 = tok.matmul %3, %6 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
    tok.yield %7 : tensor<?x?xf64>
  }
  return %r : tensor<?x?xf64>
}

// Read behind the loop, too, by what can not compute it: then there is a copy anyway.
// CHECK-LABEL: func.func @needed(
// CHECK: tok.unary neg %arg0
// CHECK: tok.for
// CHECK-NOT: tok.unary
// CHECK: return
func.func @needed(%x: tensor<?x?xf64>, %n: i64, %start: f64) -> (f64, tensor<?x?xf64>) {
  %one = tok.constant 1 : i64
  %0 = tok.unary neg %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : f64 {
    %1 = tok.binary mul %0, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %2 = tok.aggregate sum full %1 : tensor<?x?xf64> -> f64
    tok.yield %2 : f64
  }
  return %r, %0 : f64, tensor<?x?xf64>
}

// A division takes as long as reading the cell.
// CHECK-LABEL: func.func @divided(
// CHECK: tok.binary div %arg0, %arg1
// CHECK: tok.for
// CHECK-NOT: tok.binary div
// CHECK: return
func.func @divided(%x: tensor<?x?xf64>, %d: f64, %n: i64, %start: f64) -> f64 {
  %one = tok.constant 1 : i64
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : f64 {
    %0 = tok.binary div %x, %d : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %1 = tok.binary mul %0, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %2 = tok.aggregate sum full %1 : tensor<?x?xf64> -> f64
    tok.yield %2 : f64
  }
  return %r : f64
}

// Only where the sizes are sure to agree: the error would come later, or not at all.
// CHECK-LABEL: func.func @agrees(
// CHECK: tok.binary sub %{{.*}}, %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>)
// CHECK: tok.for
// CHECK: tok.binary add %{{.*}}, %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>)
// CHECK-NOT: tok.binary sub
// CHECK: return
func.func @agrees(%x: tensor<?x?xf64>, %a: tensor<?x?xf64>, %n: i64, %start: f64) -> f64 {
  %one = tok.constant 1 : i64
  %v = tok.aggregate sum row %x : tensor<?x?xf64> -> tensor<?x?xf64>
  %w = tok.assume %a [-1, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.binary add %x, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.binary sub %x, %w : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = tok.for %i = %one to %n step %one carrying (%s = %start) : f64 {
    %2 = tok.binary mul %0, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %3 = tok.binary mul %1, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
    %4 = tok.aggregate sum full %2 : tensor<?x?xf64> -> f64
    %5 = tok.aggregate sum full %3 : tensor<?x?xf64> -> f64
    %6 = tok.binary add %4, %5 : (f64, f64) -> f64
    tok.yield %6 : f64
  }
  return %r : f64
}
