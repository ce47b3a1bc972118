// Vectors are repeated on either side of a matrix, and a column beside a row.
!v = tensor<?xf64>
!m = tensor<?x?xf64>
func.func @main() {
  %column = tok.literal dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf64>
  %row = tok.literal dense<[[10.0, 20.0]]> : tensor<1x2xf64>
  %cell = tok.literal dense<[[0.5]]> : tensor<1x1xf64>
  %x = tok.binary add %column, %row : (!m, !m) -> !m
  tok.print %x : (!m) -> ()
  %0 = tok.binary sub %row, %x : (!m, !m) -> !m
  tok.print %0 : (!m) -> ()
  %1 = tok.binary mul %column, %x : (!m, !m) -> !m
  tok.print %1 : (!m) -> ()
  %2 = tok.binary mul %cell, %x : (!m, !m) -> !m
  tok.print %2 : (!m) -> ()
  %limit = tok.constant 1.0 : f64
  %3 = tok.binary gt %column, %limit : (!m, f64) -> !m
  %4 = tok.ifelse %3, %row, %x : (!m, !m, !m) -> !m
  tok.print %4 : (!m) -> ()

  // A dimension of size 0 is one that others are repeated to, not at all.
  %none = tok.constant 0 : i64
  %two = tok.constant 2 : i64
  %v = tok.literal dense<[1.0, 2.0]> : tensor<2xf64>
  %empty = tok.fill %limit, %none, %two : (f64, i64, i64) -> !m
  %5 = tok.binary add %row, %empty : (!m, !m) -> !m
  %6 = tok.binary add %5, %v : (!m, !v) -> !m
  %rows = tok.rows %6 : !m
  %columns = tok.columns %6 : !m
  tok.print %rows : (i64) -> ()
  tok.print %columns : (i64) -> ()
  return
}
