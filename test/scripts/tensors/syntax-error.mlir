// exit: 2
// error-contains: expected '->'
// error-contains: %1 = tok.unary exp %0 : tensor<?x?xf64>
// error-line: 8
func.func @main() {
  %0 = tok.literal dense<[[1.0, 2.0]]> : tensor<1x2xf64>
  // The result's type is missing.
  %1 = tok.unary exp %0 : tensor<?x?xf64>
  return
}
