// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-order-products,canonicalize))' %s | FileCheck %s

// t(X) %*% X %*% v: two products with a vector instead of one of matrices.
// CHECK-LABEL: func.func @vector_last(
// CHECK: %[[X:.*]] = tok.assume %arg0
// CHECK: %[[V:.*]] = tok.assume %arg1
// CHECK: %[[T:.*]] = tok.transpose %[[X]]
// CHECK: %[[Q:.*]] = tok.matmul %[[X]], %[[V]]
// CHECK: %[[R:.*]] = tok.matmul %[[T]], %[[Q]]
// CHECK: return %[[R]]
func.func @vector_last(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %x = tok.assume %a [1000, 100] : tensor<?x?xf64> -> tensor<?x?xf64>
  %v = tok.assume %b [100, 1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.transpose %x : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %x : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %1, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// Four factors: ((A %*% B) %*% C) %*% D.
// CHECK-LABEL: func.func @four(
// CHECK: %[[AB:.*]] = tok.matmul %[[A:.*]], %[[B:.*]] :
// CHECK: %[[ABC:.*]] = tok.matmul %[[AB]], %[[C:.*]] :
// CHECK: %[[R:.*]] = tok.matmul %[[ABC]], %[[D:.*]] :
// CHECK: return %[[R]]
func.func @four(%w: tensor<?x?xf64>, %x: tensor<?x?xf64>, %y: tensor<?x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %a = tok.assume %w [10, 2000] : tensor<?x?xf64> -> tensor<?x?xf64>
  %b = tok.assume %x [2000, 500] : tensor<?x?xf64> -> tensor<?x?xf64>
  %c = tok.assume %y [500, 20] : tensor<?x?xf64> -> tensor<?x?xf64>
  %d = tok.assume %z [20, 2000] : tensor<?x?xf64> -> tensor<?x?xf64>
  %0 = tok.matmul %c, %d : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %b, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %a, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %2 : tensor<?x?xf64>
}

// The same sizes, but the first factor is so sparse that its product with the second one is cheap.
// CHECK-LABEL: func.func @dense(
// CHECK: tok.matmul %arg1, %arg2
// CHECK-LABEL: func.func @sparse(
// CHECK: tok.matmul %arg0, %arg1
func.func @dense(%a: tensor<?x?xf64> {tok.sizes = [500, 400]},
                 %b: tensor<?x?xf64> {tok.sizes = [400, 600]},
                 %c: tensor<?x?xf64> {tok.sizes = [600, 200]}) -> tensor<?x?xf64> {
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %c : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
func.func @sparse(%a: tensor<?x?xf64> {tok.sizes = [500, 400], tok.sparse_density = 0.00001 : f64},
                  %b: tensor<?x?xf64> {tok.sizes = [400, 600]},
                  %c: tensor<?x?xf64> {tok.sizes = [600, 200]}) -> tensor<?x?xf64> {
  %0 = tok.matmul %b, %c : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %a, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}

// Nothing is known of the sizes; the inner product is needed itself; there is nothing to win.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[P:.*]] = tok.matmul %arg0, %arg1
// CHECK: tok.matmul %[[P]], %arg2
func.func @unknown(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = tok.matmul %a, %b : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %c : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
// CHECK-LABEL: func.func @shared(
// CHECK: %[[P:.*]] = tok.matmul %arg0, %arg0
// CHECK: tok.matmul %[[P]], %arg1
func.func @shared(%a: tensor<?x?xf64> {tok.sizes = [100, 100]},
                  %v: tensor<?x?xf64> {tok.sizes = [100, 1]}) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1, %0 : tensor<?x?xf64>, tensor<?x?xf64>
}
// CHECK-LABEL: func.func @square(
// CHECK: %[[P:.*]] = tok.matmul %arg0, %arg0
// CHECK: tok.matmul %[[P]], %arg0
func.func @square(%a: tensor<?x?xf64> {tok.sizes = [100, 100]}) -> tensor<?x?xf64> {
  %0 = tok.matmul %a, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %0, %a : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %1 : tensor<?x?xf64>
}
