// exit: 2
// error-contains: arrays of one operation have the same element type, not 'tensor<?x?xf64>' and 'tensor<?x?xf32>'
// error-contains: ^~~
// error-line: 8
func.func @main() {
  %0 = tok.literal dense<[[1.0, 2.0]]> : tensor<1x2xf64>
  %1 = tok.literal dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %2 = tok.binary add %0, %1 : (tensor<?x?xf64>, tensor<?x?xf32>) -> tensor<?x?xf64>
  return
}
