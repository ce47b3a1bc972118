// Every form of the dialect's text reads back as it was written.
// RUN: tokamak-opt %s | tokamak-opt | FileCheck %s

// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: f64, %n: i64, %any: !tok.scalar) -> !tok.string {
  // CHECK: tok.constant 3 : i64
  %three = tok.constant 3 : i64
  // CHECK: tok.constant "text" : !tok.string
  %text = tok.constant "text" : !tok.string
  // CHECK: tok.constant unit : none
  %none = tok.constant unit : none
  // CHECK: tok.constant true
  %true = tok.constant true
  // CHECK: tok.undef "y" : f64
  %undef = tok.undef "y" : f64
  // CHECK: tok.binary add %{{.*}}, %{{.*}} : (i64, i64) -> i64
  %sum = tok.binary add %n, %three : (i64, i64) -> i64
  // CHECK: tok.binary div %{{.*}}, %{{.*}} : (i64, i64) -> f64
  %quotient = tok.binary div %n, %three : (i64, i64) -> f64
  // CHECK: tok.unary exp %{{.*}} : f64 -> f64
  %exp = tok.unary exp %x : f64 -> f64
  // CHECK: tok.cast %{{.*}} : !tok.scalar -> f64
  %cast = tok.cast %any : !tok.scalar -> f64
  // CHECK: tok.concat %{{.*}}, %{{.*}} : !tok.string, f64
  %joined = tok.concat %text, %cast : !tok.string, f64
  return %joined : !tok.string
}

// CHECK-LABEL: func.func @arrays
func.func @arrays(%x: tensor<?x?xf64>, %v: tensor<?x?xf64>, %n: i64) -> f64 {
  // CHECK: tok.matmul %{{.*}}, %{{.*}} : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %0 = tok.matmul %x, %v : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  // CHECK: tok.aggregate index_max row %{{.*}} : tensor<?x?xf64> -> tensor<?x?xf64>
  %1 = tok.aggregate index_max row %0 : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  %2 = tok.slice %1, %n, %n, %n, %n : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  // CHECK: tok.native "order"(%{{.*}}, %{{.*}}) : (tensor<?x?xf64>, i64) -> tensor<?x?xf64>
  %3 = tok.native "order"(%2, %n) : (tensor<?x?xf64>, i64) -> tensor<?x?xf64>
  // CHECK: tok.assume %{{.*}} [10, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  %4 = tok.assume %3 [10, -1] : tensor<?x?xf64> -> tensor<?x?xf64>
  // CHECK: tok.aggregate sum full %{{.*}} : tensor<?x?xf64> -> f64
  %5 = tok.aggregate sum full %4 : tensor<?x?xf64> -> f64
  return %5 : f64
}

// CHECK-LABEL: func.func @control
func.func @control(%c: i1, %n: i64, %s: i64) -> i64 {
  // CHECK: tok.if %{{.*}} -> i64 {
  %0 = tok.if %c -> i64 {
    tok.yield %n : i64
  } else {
    tok.yield %s : i64
  }
  // CHECK: tok.while carrying (%[[A:.*]] = %{{.*}}) : i64 {
  %1 = tok.while carrying (%a = %0) : i64 {
    // CHECK: tok.condition %{{.*}}, %[[A]] : i64
    tok.condition %c, %a : i64
  } do {
    tok.yield %a : i64
  }
  // CHECK: tok.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} carrying (%{{.*}} = %{{.*}}) : i64 {
  %2 = tok.for %i = %n to %n step %s carrying (%b = %1) : i64 {
    tok.yield %i : i64
  }
  // CHECK: tok.parfor %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
  tok.parfor %i = %n to %n step %s {
    // CHECK: tok.barrier
    tok.barrier
    tok.yield
  }
  // CHECK: tok.call @control(%{{.*}}, %{{.*}}, %{{.*}}) : (i1, i64, i64) -> i64
  %3 = tok.call @control(%c, %n, %2) : (i1, i64, i64) -> i64
  return %3 : i64
}

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<?x?xf64>, %n: i64) -> tensor<?x?x?xf32> {
  // CHECK: tok.literal dense<{{\[}}[1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
  %0 = tok.literal dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  // CHECK: tok.cast %{{.*}} : tensor<?x?xf32> -> tensor<?x?xf64>
  %1 = tok.cast %0 : tensor<?x?xf32> -> tensor<?x?xf64>
  // CHECK: tok.view %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?xf32> -> tensor<?x?x?xf32>
  %2 = tok.view %0 [%n, %n, %n] : tensor<?x?xf32> -> tensor<?x?x?xf32>
  // CHECK: tok.size %{{.*}}[3] : tensor<?x?x?xf32>
  %3 = tok.size %2[3] : tensor<?x?x?xf32>
  // CHECK: tok.expand %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  %4 = tok.expand %2 [%n, %3, %n] : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  // CHECK: tok.aggregate max full %{{.*}} : tensor<?x?x?xf32> -> f64
  %5 = tok.aggregate max full %4 : tensor<?x?x?xf32> -> f64
  // CHECK: tok.ifelse %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x?x?xf32>, f64, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %6 = tok.ifelse %4, %5, %2 : (tensor<?x?x?xf32>, f64, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %6 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @broadcasts
func.func @broadcasts(%x: tensor<?x?x?xf64>, %y: tensor<?xf64>, %c: i1) -> tensor<?x?x?xf64> {
  // CHECK: tok.binary add %{{.*}}, %{{.*}} : (tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %0 = tok.binary add %y, %x : (tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  // CHECK: tok.binary sub one_repeated %{{.*}}, %{{.*}} : (tensor<?x?x?xf64>, tensor<?xf64>) -> tensor<?x?x?xf64>
  %1 = tok.binary sub one_repeated %x, %y : (tensor<?x?x?xf64>, tensor<?xf64>) -> tensor<?x?x?xf64>
  // CHECK: tok.ifelse %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?xf64>, tensor<?x?x?xf64>, f64) -> tensor<?x?x?xf64>
  %half = tok.constant 0.5 : f64
  %2 = tok.ifelse %y, %0, %half : (tensor<?xf64>, tensor<?x?x?xf64>, f64) -> tensor<?x?x?xf64>
  // CHECK: tok.ifelse one_whole %{{.*}}, %{{.*}}, %{{.*}} : (i1, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %3 = tok.ifelse one_whole %c, %1, %2 : (i1, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %3 : tensor<?x?x?xf64>
}
