// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-compute-fills-once))' %s | FileCheck %s

// A chain of operators on an operand that is stored as one number.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[C:.*]] = tok.repeated_cell %arg0
// CHECK: %[[D:.*]] = tok.binary mul %[[C]], %arg1 : (f64, f64) -> f64
// CHECK: %[[E:.*]] = tok.binary sub %{{.*}}, %[[D]] : (f64, f64) -> f64
// CHECK: tok.fill %[[E]]
func.func @chain(%r: tensor<?x?xf64> {tok.repeated, tok.sizes = [2000, 3000]}, %s: f64) -> tensor<?x?xf64> {
  %one = tok.constant 1 : i64
  %0 = tok.binary mul %r, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %1 = tok.binary sub %one, %0 : (i64, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// A vector and a matrix, both filled: the result has the sizes of the matrix.
// CHECK-LABEL: func.func @broadcast(
// CHECK: %[[R:.*]] = tok.constant 20
// CHECK: %[[C:.*]] = tok.constant 30
// CHECK: %[[S:.*]] = tok.binary add %{{.*}} : (f64, f64) -> f64
// CHECK: tok.fill %[[S]], %[[R]], %[[C]]
func.func @broadcast() -> tensor<?x?xf64> {
  %c = tok.constant 3.0 : f64
  %c1 = tok.constant 1 : i64
  %c20 = tok.constant 20 : i64
  %c30 = tok.constant 30 : i64
  %0 = tok.fill %c, %c20, %c30 : (f64, i64, i64) -> tensor<?x?xf64>
  %1 = tok.fill %c, %c20, %c1 : (f64, i64, i64) -> tensor<?x?xf64>
  %2 = tok.binary add %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// Other operands, operators whose scalar form may round otherwise, and f32.
// CHECK-LABEL: func.func @others(
// CHECK: tok.binary mul %arg0, %arg1 : (tensor<?x?xf64>, tensor<?x?xf64>)
// CHECK: tok.binary pow %arg0
// CHECK: tok.binary mul %arg2
func.func @others(%r: tensor<?x?xf64> {tok.repeated, tok.sizes = [2000, 3000]},
                  %x: tensor<?x?xf64> {tok.sizes = [2000, 3000]},
                  %f: tensor<?x?xf32> {tok.repeated, tok.sizes = [2000, 3000]}, %s: f64)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf32>) {
  %0 = tok.binary mul %r, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.binary pow %r, %s : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %2 = tok.binary mul %f, %s : (tensor<?x?xf32>, f64) -> tensor<?x?xf32>
  return %0, %1, %2 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf32>
}
