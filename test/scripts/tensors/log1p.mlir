// log(1 + x) with all digits for small x, where 1 + x has lost them; in kernels of f64 and f32, and
// in scalars.
// prints: 0.000 -0.000 0.693
// prints: -Infinity NaN Infinity
// prints:
// prints: 9.999999999500001E-11
// prints: 1.000000082690371E-10
// prints: 9.999999682655225E-21
// prints: 0.6931471805599453
!m = tensor<?x?xf64>
!s = tensor<?x?xf32>
func.func @main() {
  %x = tok.literal dense<[[0.0, -1.0e-10, 1.0], [-1.0, -2.0, 0x7FF0000000000000]]> : tensor<2x3xf64>
  %0 = tok.unary log1p %x : !m -> !m
  tok.print %0 : (!m) -> ()

  %one = tok.constant 1.0 : f64
  %small = tok.literal dense<[[1.0e-10]]> : tensor<1x1xf64>
  %1 = tok.unary log1p %small : !m -> !m
  %2 = tok.cast %1 : !m -> f64
  tok.print %2 : (f64) -> ()
  %3 = tok.binary add %small, %one : (!m, f64) -> !m
  %4 = tok.unary log %3 : !m -> !m
  %5 = tok.cast %4 : !m -> f64
  tok.print %5 : (f64) -> ()

  %f = tok.literal dense<[[1.0e-20]]> : tensor<1x1xf32>
  %6 = tok.unary log1p %f : !s -> !s
  %7 = tok.cast %6 : !s -> !m
  %8 = tok.cast %7 : !m -> f64
  tok.print %8 : (f64) -> ()
  %9 = tok.unary log1p %one : f64 -> f64
  tok.print %9 : (f64) -> ()
  return
}
