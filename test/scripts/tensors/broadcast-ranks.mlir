// Operands of different ranks: their dimensions are aligned at the last one, and a missing one is repeated.
!v = tensor<?xf64>
!m = tensor<?x?xf64>
!t = tensor<?x?x?xf64>
!f = tensor<?x?x?x?xf64>
func.func @main() {
  %x = tok.literal dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf64>
  %m = tok.literal dense<[[100.0, 200.0], [300.0, 400.0]]> : tensor<2x2xf64>
  %v = tok.literal dense<[10.0, 20.0]> : tensor<2xf64>
  %column = tok.literal dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf64>
  %w = tok.literal dense<[[[[1000.0]]], [[[2000.0]]]]> : tensor<2x1x1x1xf64>
  %choice = tok.literal dense<[1.0, 0.0]> : tensor<2xf64>

  %0 = tok.binary sub %v, %x : (!v, !t) -> !t
  tok.print %0 : (!t) -> ()
  %1 = tok.binary add %x, %m : (!t, !m) -> !t
  tok.print %1 : (!t) -> ()
  %2 = tok.ifelse %choice, %m, %x : (!v, !m, !t) -> !t
  tok.print %2 : (!t) -> ()
  %3 = tok.binary mul %column, %v : (!m, !v) -> !m
  tok.print %3 : (!m) -> ()
  %4 = tok.binary add %w, %x : (!f, !t) -> !f
  %5 = tok.aggregate sum full %4 : !f -> f64
  tok.print %5 : (f64) -> ()
  %6 = tok.binary sub one_repeated %x, %v : (!t, !v) -> !t
  %7 = tok.aggregate min full %6 : !t -> f64
  tok.print %7 : (f64) -> ()
  return
}
