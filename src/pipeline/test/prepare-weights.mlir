// RUN: tokamak-opt --split-input-file --tok-prepare-weights %s | FileCheck %s

// The scale is computed once, and so are views; the transposition stays with the product, which absorbs it. Weights that
// nothing else reads go, one that is read stays, and what is computed comes last.
// CHECK-LABEL: func.func private @prepare_weights(
// CHECK-SAME: %[[GAMMA:.*]]: tensor<?xf64> {tok.sizes = [8]}, %[[SPREAD:.*]]: tensor<?xf64> {tok.sizes = [8]},
// CHECK-SAME: %[[FILTER:.*]]: tensor<?x?xf64> {tok.sizes = [8, 4]})
// CHECK: %[[ROOT:.*]] = tok.unary sqrt %[[SPREAD]]
// CHECK: %[[SCALE:.*]] = tok.binary div %[[GAMMA]], %[[ROOT]]
// CHECK: %[[SCALES:.*]] = tok.view %[[SCALE]]
// CHECK: %[[GAMMAS:.*]] = tok.view %[[GAMMA]]
// CHECK: return %[[FILTER]], %[[SCALES]], %[[GAMMAS]]
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<?x?xf64>, %[[FILTER:.*]]: tensor<?x?xf64> {tok.sizes = [8, 4]}, %[[SCALES:.*]]: tensor<?x?xf64> {tok.sizes = [8, 1]},
// CHECK-SAME: %[[GAMMAS:.*]]: tensor<?x?xf64> {tok.sizes = [8, 1]})
// CHECK-SAME: tok.weights = 3
// CHECK-NOT: tok.view
// CHECK: tok.binary mul %{{.*}}, %[[SCALES]]
// CHECK: tok.binary add %{{.*}}, %[[GAMMAS]]
// CHECK: tok.transpose %[[FILTER]]
func.func @main(%x: tensor<?x?xf64>, %gamma: tensor<?xf64> {tok.sizes = [8]}, %spread: tensor<?xf64> {tok.sizes = [8]},
                %filter: tensor<?x?xf64> {tok.sizes = [8, 4]}) -> (tensor<?x?xf64>, tensor<?x?xf64>)
    attributes {tok.weights = 3 : i64} {
  %one = tok.constant 1 : i64
  %eight = tok.constant 8 : i64
  %0 = tok.unary sqrt %spread : tensor<?xf64> -> tensor<?xf64>
  %1 = tok.binary div %gamma, %0 : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %2 = tok.view %1[%eight, %one] : tensor<?xf64> -> tensor<?x?xf64>
  %3 = tok.binary mul %x, %2 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %4 = tok.view %gamma[%eight, %one] : tensor<?xf64> -> tensor<?x?xf64>
  %5 = tok.binary add %3, %4 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %6 = tok.transpose %filter : (tensor<?x?xf64>) -> tensor<?x?xf64>
  %7 = tok.matmul %6, %5 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %5, %7 : tensor<?x?xf64>, tensor<?x?xf64>
}

// -----

// What would take more memory than the weights, what another branch may never compute, and what may differ from call
// to call are computed in each call.
// CHECK-NOT: @prepare_weights
// CHECK-LABEL: func.func @main(%{{.*}}: i1
// CHECK: tok.binary mul
// CHECK: tok.if
// CHECK: tok.unary sqrt
func.func @main(%choice: i1, %column: tensor<?x?xf64> {tok.sizes = [8, 1]}, %row: tensor<?x?xf64> {tok.sizes = [1, 8]})
    -> (tensor<?x?xf64>, tensor<?x?xf64>) attributes {tok.weights = 2 : i64} {
  %0 = tok.binary mul %column, %row : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %1 = tok.if %choice -> tensor<?x?xf64> {
    %2 = tok.unary sqrt %column : tensor<?x?xf64> -> tensor<?x?xf64>
    tok.yield %2 : tensor<?x?xf64>
  } else {
    tok.yield %column : tensor<?x?xf64>
  }
  return %0, %1 : tensor<?x?xf64>, tensor<?x?xf64>
}
