// RUN: tokamak-opt --tok-keep-products-apart --tok-cse %s | FileCheck %s

// Two products U %*% t(V) stay two; equal products of other forms are joined.
// CHECK: tok.matmul %{{.*}}, %{{.*}} {tok.written = 0 : i64}
// CHECK: tok.matmul %{{.*}}, %{{.*}} {tok.written = 1 : i64}
// CHECK: %[[P:.*]] = tok.matmul %arg0, %arg1 :
// CHECK-NOT: tok.matmul
// CHECK: return %{{.*}}, %{{.*}}, %[[P]], %[[P]]
func.func @main(%u: tensor<?x?xf64>, %v: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %t = tok.transpose %v : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %0 = tok.matmul %u, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.matmul %u, %t : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %2 = tok.matmul %u, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %3 = tok.matmul %u, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %0, %1, %2, %3 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}
