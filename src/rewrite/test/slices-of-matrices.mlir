// RUN: tokamak-opt --pass-pipeline='builtin.module(func.func(tok-slices-of-matrices))' %s | FileCheck %s

// CHECK-LABEL: func.func @inside(
// CHECK-DAG: %[[FIRST:.*]] = tok.constant 129
// CHECK-DAG: %[[LAST:.*]] = tok.constant 256
// CHECK: tok.slice %{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST]], %[[LAST]]
// CHECK-NOT: strided_slice
func.func @inside(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %a = tok.assume %x [7, 512] : tensor<?x?xf32> -> tensor<?x?xf32>
  %one = tok.constant 1 : i64
  %rows = tok.constant 7 : i64
  %begin = tok.constant 129 : i64
  %columns = tok.constant 128 : i64
  %0 = tok.native "strided_slice"(%a, %one, %rows, %one, %begin, %columns, %one) : (tensor<?x?xf32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// One cell too many, steps, no column at all, a begin that isn't known, integers, another rank.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: tok.slice
// CHECK-COUNT-6: strided_slice
func.func @others(%x: tensor<?x?xf32>, %i: tensor<?x?xi32>, %c: tensor<?x?x?xf32>, %b: i64) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?x?xf32>) {
  %a = tok.assume %x [7, 512] : tensor<?x?xf32> -> tensor<?x?xf32>
  %n = tok.assume %i [7, 512] : tensor<?x?xi32> -> tensor<?x?xi32>
  %d = tok.assume %c [7, 512, 9] : tensor<?x?x?xf32> -> tensor<?x?x?xf32>
  %zero = tok.constant 0 : i64
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %rows = tok.constant 7 : i64
  %all = tok.constant 512 : i64
  %some = tok.constant 9 : i64
  %0 = tok.native "strided_slice"(%a, %one, %rows, %one, %two, %all, %one) : (tensor<?x?xf32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?xf32>
  %1 = tok.native "strided_slice"(%a, %one, %rows, %one, %two, %some, %two) : (tensor<?x?xf32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?xf32>
  %2 = tok.native "strided_slice"(%a, %one, %rows, %one, %two, %zero, %one) : (tensor<?x?xf32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?xf32>
  %3 = tok.native "strided_slice"(%a, %one, %rows, %one, %b, %some, %one) : (tensor<?x?xf32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?xf32>
  %4 = tok.native "strided_slice"(%n, %one, %rows, %one, %two, %some, %one) : (tensor<?x?xi32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?xi32>
  %5 = tok.native "strided_slice"(%d, %one, %rows, %one, %two, %some, %one) : (tensor<?x?x?xf32>, i64, i64, i64, i64, i64, i64) -> tensor<?x?x?xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?x?xf32>
}
