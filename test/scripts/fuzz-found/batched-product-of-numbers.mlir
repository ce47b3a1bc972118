// A batched product of matrices of one row or column: no kernel computes it, and the native does.
// prints: [1,,]
// prints: 7.500
// prints: [2,,]
// prints: -3.000
// prints:
func.func @main() {
  %0 = tok.literal dense<[[[2.5]], [[-1.0]]]> : tensor<2x1x1xf64>
  %1 = tok.constant 3.0 : f64
  %2 = tok.unary sign %0 : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %3 = tok.unary abs %2 : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %4 = tok.binary mul %3, %1 : (tensor<?x?x?xf64>, f64) -> tensor<?x?x?xf64>
  %5 = tok.matmul %0, %4 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  tok.print %5 : (tensor<?x?x?xf64>) -> ()
  return
}
