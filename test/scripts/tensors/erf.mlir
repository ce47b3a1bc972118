// The error function; in kernels of f64 and f32, and in scalars.
// prints: 0.000 0.520 0.843
// prints: -0.843 -1.000 1.000
// prints:
// prints: 1.1283791670955126E-10
// prints: 0.9953222650189527
// prints: 0.8427007794380188
// prints: 0.8427007929497149
!m = tensor<?x?xf64>
!s = tensor<?x?xf32>
func.func @main() {
  %x = tok.literal dense<[[0.0, 0.5, 1.0], [-1.0, -7.0, 0x7FF0000000000000]]> : tensor<2x3xf64>
  %0 = tok.unary erf %x : !m -> !m
  tok.print %0 : (!m) -> ()

  %small = tok.literal dense<[[1.0e-10]]> : tensor<1x1xf64>
  %1 = tok.unary erf %small : !m -> !m
  %2 = tok.cast %1 : !m -> f64
  tok.print %2 : (f64) -> ()
  %two = tok.literal dense<[[2.0]]> : tensor<1x1xf64>
  %3 = tok.unary erf %two : !m -> !m
  %4 = tok.cast %3 : !m -> f64
  tok.print %4 : (f64) -> ()

  %f = tok.literal dense<[[1.0]]> : tensor<1x1xf32>
  %6 = tok.unary erf %f : !s -> !s
  %7 = tok.cast %6 : !s -> !m
  %8 = tok.cast %7 : !m -> f64
  tok.print %8 : (f64) -> ()
  %one = tok.constant 1.0 : f64
  %9 = tok.unary erf %one : f64 -> f64
  tok.print %9 : (f64) -> ()
  return
}
