// Operands of size 1 are repeated, on either side and in any dimension; one of the patterns needs an expansion.
!t = tensor<?x?x?xf64>
func.func @main() {
  %x = tok.literal dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf64>
  %last = tok.literal dense<[[[10.0, 20.0]]]> : tensor<1x1x2xf64>
  %middle = tok.literal dense<[[[100.0], [200.0]]]> : tensor<1x2x1xf64>
  %first = tok.literal dense<[[[1000.0]], [[2000.0]]]> : tensor<2x1x1xf64>
  %one = tok.literal dense<[[[0.5]]]> : tensor<1x1x1xf64>

  %0 = tok.binary sub %last, %x : (!t, !t) -> !t
  tok.print %0 : (!t) -> ()
  %1 = tok.binary sub %x, %middle : (!t, !t) -> !t
  tok.print %1 : (!t) -> ()
  %2 = tok.binary add %first, %middle : (!t, !t) -> !t
  tok.print %2 : (!t) -> ()
  %3 = tok.binary div %one, %x : (!t, !t) -> !t
  tok.print %3 : (!t) -> ()
  %4 = tok.binary gt %x, %one : (!t, !t) -> !t
  %5 = tok.ifelse %4, %first, %last : (!t, !t, !t) -> !t
  tok.print %5 : (!t) -> ()
  %6 = tok.binary add %first, %last : (!t, !t) -> !t
  %7 = tok.aggregate sum full %6 : !t -> f64
  tok.print %7 : (f64) -> ()
  return
}
