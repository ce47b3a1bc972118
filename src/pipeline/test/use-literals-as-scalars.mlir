// RUN: tokamak-opt --tok-use-literals-as-scalars --canonicalize %s | FileCheck %s

// Beside an array of the result's rank, whatever rank the literal is shown with.
// CHECK-LABEL: func.func @beside_arrays(
// CHECK-DAG: %[[EIGHT:.*]] = tok.constant 8.0
// CHECK-DAG: %[[LEAST:.*]] = tok.constant -1.0
// CHECK: %[[SHARE:.*]] = tok.binary div %arg0, %[[EIGHT]] : (tensor<?x?xf32>, f64) -> tensor<?x?xf32>
// CHECK: tok.ifelse %arg1, %[[SHARE]], %[[LEAST]] : (tensor<?x?xi1>, tensor<?x?xf32>, f64) -> tensor<?x?xf32>
func.func @beside_arrays(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %one = tok.constant 1 : i64
  %eight = tok.literal dense<8.0> : tensor<f32>
  %0 = tok.view %eight[%one, %one] : tensor<f32> -> tensor<?x?xf32>
  %1 = tok.binary div one_repeated %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %least = tok.literal dense<-1.0> : tensor<1xf32>
  %2 = tok.ifelse %mask, %1, %least : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// Several cells, a result of the literal's rank, integers, an array of another type.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: f64)
// CHECK: return
func.func @others(%x: tensor<?xf32>, %n: tensor<?xi32>, %mask: tensor<?xi1>)
    -> (tensor<?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>) {
  %two = tok.literal dense<[2.0, 4.0]> : tensor<2xf32>
  %0 = tok.binary mul %x, %two : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %row = tok.literal dense<2.0> : tensor<1x1xf32>
  %1 = tok.binary mul %x, %row : (tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %three = tok.literal dense<3> : tensor<1xi32>
  %2 = tok.binary mul %n, %three : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  %half = tok.literal dense<0.5> : tensor<1xf32>
  %3 = tok.ifelse %mask, %half, %half : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?xf32>
}
