// RUN: tokamak-opt --split-input-file --tok-fold-scales %s | FileCheck %s

// One number for each of the 8 filters multiplies the filters, and the bias between them.
// CHECK-LABEL: func.func @main(
// CHECK: %[[COLUMN:.*]] = tok.view %arg3[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: %[[SCALED:.*]] = tok.binary mul %arg1, %[[COLUMN]]
// CHECK: %[[Y:.*]] = tok.native "convolve"(%arg0, %[[SCALED]],
// CHECK: %[[BIAS:.*]] = tok.binary mul %arg2, %arg3
// CHECK: %[[SUM:.*]] = tok.binary add %[[Y]], %[[BIAS]]
// CHECK: return %[[SUM]]
func.func @main(%x: tensor<?x?x?x?xf64>, %w: tensor<?x?x?x?xf64> {tok.sizes = [8, 3, 1, 1]},
                %b: tensor<?x?x?xf64> {tok.sizes = [8, 1, 1]}, %s: tensor<?x?x?xf64> {tok.sizes = [8, 1, 1]})
    -> tensor<?x?x?x?xf64> attributes {tok.weights = 3 : i64} {
  %0 = tok.constant 0 : i64
  %1 = tok.constant 1 : i64
  %2 = tok.constant 7 : i64
  %3 = tok.native "convolve"(%x, %w, %1, %2, %1, %0, %1, %1, %1, %2, %1, %0, %1, %1, %1) : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> tensor<?x?x?x?xf64>
  %4 = tok.binary add %b, %3 : (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %5 = tok.binary mul %s, %4 : (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %5 : tensor<?x?x?x?xf64>
}

// -----

// Numbers for each column are not for each filter, though there are as many; and what is read elsewhere is needed as it is.
// CHECK-LABEL: func.func @main(
// CHECK: %[[Y:.*]] = tok.native "convolve"(%{{.*}}, %arg1,
// CHECK-NOT: tok.native
// CHECK: tok.binary mul %[[Y]], %arg2
// CHECK: %[[Z:.*]] = tok.native "convolve"(%{{.*}}, %arg1,
// CHECK: tok.binary mul %[[Z]], %arg3
func.func @main(%x: tensor<?x?x?x?xf64>, %w: tensor<?x?x?x?xf64> {tok.sizes = [8, 3, 1, 1]},
                %c: tensor<?x?x?xf64> {tok.sizes = [1, 1, 8]}, %s: tensor<?x?x?xf64> {tok.sizes = [8, 1, 1]})
    -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) attributes {tok.weights = 3 : i64} {
  %0 = tok.constant 0 : i64
  %1 = tok.constant 1 : i64
  %2 = tok.constant 8 : i64
  %3 = tok.native "convolve"(%x, %w, %1, %2, %1, %0, %1, %1, %1, %2, %1, %0, %1, %1, %1) : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> tensor<?x?x?x?xf64>
  %4 = tok.binary mul %3, %c : (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %5 = tok.native "convolve"(%x, %w, %1, %2, %1, %0, %2, %1, %1, %2, %1, %0, %2, %1, %1) : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> tensor<?x?x?x?xf64>
  %6 = tok.binary mul %5, %s : (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %4, %5, %6 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}
