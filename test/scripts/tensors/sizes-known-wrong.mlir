// Sizes that are proved wrong are reported before anything runs.
// exit: 2
// error-contains: sizes do not agree: 1x2x2 + 1x3x2; expected equal sizes, or 1 where they differ
// error-line: 9
// engines: native (the reference finds it when it gets there)
func.func @main() {
  %0 = tok.literal dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf64>
  %1 = tok.literal dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]> : tensor<1x3x2xf64>
  %2 = tok.binary add %0, %1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  tok.print %2 : (tensor<?x?x?xf64>) -> ()
  return
}
