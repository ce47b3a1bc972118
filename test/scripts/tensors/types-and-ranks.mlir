// Operands of other ranks than the result, where the result or the condition has a type of its own.
!v = tensor<?xf32>
!m = tensor<?x?xf32>
!b = tensor<?x?xi1>
!bv = tensor<?xi1>
func.func @main() {
  %x = tok.literal dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %v = tok.literal dense<[3.0, 2.0, 1.0]> : tensor<3xf32>
  %0 = tok.binary gt %v, %x : (!v, !m) -> !b
  tok.print %0 : (!b) -> ()
  %choice = tok.literal dense<[1, 0, 1]> : tensor<3xi1>
  %1 = tok.ifelse %choice, %x, %v : (!bv, !m, !v) -> !m
  tok.print %1 : (!m) -> ()
  %column = tok.literal dense<[[1], [0]]> : tensor<2x1xi1>
  %2 = tok.binary or %choice, %column : (!bv, !b) -> !b
  tok.print %2 : (!b) -> ()
  return
}
