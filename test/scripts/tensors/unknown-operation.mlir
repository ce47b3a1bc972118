// exit: 2
// error-contains: custom op 'tok.matmull' is unknown
// error-line: 6
func.func @main() {
  %0 = tok.literal dense<[[1.0, 2.0]]> : tensor<1x2xf64>
  %1 = tok.matmull %0, %0 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}
