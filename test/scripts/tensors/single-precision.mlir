// Cells are rounded after each operation, sums at the end; f32 and f64 side by side.
// prints: 0.3333333432674408
// prints: 16777217
// prints: 1.6777216E7
// prints: 16777220.0
// prints: Infinity
// prints: 3.4028234663852886E38
// prints: 0.10000000149011612 0.1
// prints: 0.20000000298023224
!s = tensor<?x?xf32>
!d = tensor<?x?xf64>
func.func @main() {
  %one = tok.literal dense<[[1.0]]> : tensor<1x1xf32>
  %three = tok.constant 3.0 : f64
  %third = tok.binary div %one, %three : (!s, f64) -> !s
  %0 = tok.cast %third : !s -> f64
  tok.print %0 : (f64) -> ()

  // 2^24 + 1 is no f32: as a sum in f64 it exists, as a cell it is rounded.
  %large = tok.literal dense<[[16777216.0, 1.0]]> : tensor<1x2xf32>
  %full = tok.aggregate sum full %large : !s -> f64
  %whole = tok.cast %full : f64 -> i64
  tok.print %whole : (i64) -> ()
  %row = tok.aggregate sum row %large : !s -> !s
  %1 = tok.cast %row : !s -> f64
  tok.print %1 : (f64) -> ()
  // 2^24 + 1 + 3: in f64 before it is rounded, 16777220, not ((2^24 + 1) rounded) + 3.
  %many = tok.literal dense<[[16777216.0, 1.0, 3.0]]> : tensor<1x3xf32>
  %rows = tok.aggregate sum row %many : !s -> !s
  %2 = tok.cast %rows : !s -> f64
  %3 = tok.cast %2 : f64 -> i64
  %text = tok.constant ".0" : !tok.string
  %4 = tok.concat %3, %text : i64, !tok.string
  tok.print %4 : (!tok.string) -> ()

  %huge = tok.literal dense<[[3.4028234663852886e38]]> : tensor<1x1xf32>
  %twice = tok.binary add %huge, %huge : (!s, !s) -> !s
  %5 = tok.cast %twice : !s -> f64
  tok.print %5 : (f64) -> ()
  %wide = tok.cast %huge : !s -> !d
  %6 = tok.cast %wide : !d -> f64
  tok.print %6 : (f64) -> ()

  %tenth = tok.literal dense<[[0.1]]> : tensor<1x1xf64>
  %rounded = tok.cast %tenth : !d -> !s
  %again = tok.cast %rounded : !s -> !d
  %a = tok.cast %again : !d -> f64
  %b = tok.cast %tenth : !d -> f64
  %format = tok.constant "%s %s" : !tok.string
  tok.print %format, %a, %b : (!tok.string, f64, f64) -> ()

  // Numbers in a text are rounded as well.
  %cell = tok.constant "0.2" : !tok.string
  %n = tok.constant 1 : i64
  %filled = tok.fill %cell, %n, %n : (!tok.string, i64, i64) -> !s
  %7 = tok.cast %filled : !s -> f64
  tok.print %7 : (f64) -> ()
  return
}
