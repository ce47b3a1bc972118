// f16 and bf16: each operator is computed in f32 and rounded, aggregates add up in f64.
!h = tensor<?x?xf16>
!b = tensor<?x?xbf16>
func.func @main() {
  %x = tok.literal dense<[[2048.0]]> : tensor<1x1xf16>
  %one = tok.constant 1.0 : f64
  // 2049 lies between two numbers, 2050 is one.
  %0 = tok.binary add %x, %one : (!h, f64) -> !h
  tok.print %0 : (!h) -> ()
  %two = tok.constant 2.0 : f64
  %1 = tok.binary add %x, %two : (!h, f64) -> !h
  tok.print %1 : (!h) -> ()
  %s = tok.literal dense<[[2048.0, 1.0, 2048.0]]> : tensor<1x3xf16>
  %2 = tok.aggregate sum full %s : !h -> f64
  tok.print %2 : (f64) -> ()
  %most = tok.literal dense<[[65504.0]]> : tensor<1x1xf16>
  %3 = tok.binary mul %most, %two : (!h, f64) -> !h
  tok.print %3 : (!h) -> ()
  %4 = tok.binary add %most, %one : (!h, f64) -> !h
  tok.print %4 : (!h) -> ()
  %y = tok.literal dense<[[256.0]]> : tensor<1x1xbf16>
  %5 = tok.binary add %y, %one : (!b, f64) -> !b
  tok.print %5 : (!b) -> ()
  %6 = tok.binary add %y, %two : (!b, f64) -> !b
  tok.print %6 : (!b) -> ()
  %three = tok.constant 3.0 : f64
  %ones = tok.literal dense<[[1.0, 1.0]]> : tensor<1x2xf16>
  %7 = tok.binary div %ones, %three : (!h, f64) -> !h
  tok.print %7 : (!h) -> ()
  %e = tok.literal dense<[[0.0, 1.0]]> : tensor<1x2xf16>
  %8 = tok.unary exp %e : !h -> !h
  tok.print %8 : (!h) -> ()

  // The sum exceeds the largest f16, the mean does not; equal cells have no variance.
  %n = tok.constant 100 : i64
  %value = tok.constant 40000.0 : f64
  %many = tok.fill %value, %n, %n : (f64, i64, i64) -> !h
  %9 = tok.aggregate mean row %many : !h -> !h
  %i = tok.constant 1 : i64
  %10 = tok.slice %9, %i, %i, %i, %i : (!h, i64, i64, i64, i64) -> !h
  tok.print %10 : (!h) -> ()
  %11 = tok.aggregate var row %many : !h -> !h
  %12 = tok.slice %11, %i, %i, %i, %i : (!h, i64, i64, i64, i64) -> !h
  tok.print %12 : (!h) -> ()
  return
}
