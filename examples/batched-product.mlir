// A product of the matrices of a batch with what follows, max(A %*% B + bias, 0), as one operator; then a running mean and two
// matrices side by side, each computed in place.
//
//   ./dev run examples/batched-product.mlir
//   ./dev run examples/batched-product.mlir --explain=schedule    how the loops are arranged
//   ./dev run examples/batched-product.mlir --engine=reference    the plain interpreter
!batch = tensor<?x?x?xf64>
!matrix = tensor<?x?xf64>
!one = !plan.cell<() -> f64>
!i = !plan.cell<(d0) -> f64>
!ij = !plan.cell<(d0, d1) -> f64>
!ik = !plan.cell<(d0, d2) -> f64>
!ijk = !plan.cell<(d0, d1, d2) -> f64>
!k = !plan.cell<(d2) -> f64>

// Axes: matrix, row, column; what is summed over.
func.func @product(%A: !batch, %B: !batch, %C: !matrix) -> !batch {
  %r = plan.operator (%a = %A [s0, s1, s2], %b = %B [s0, s2, s3], %c = %C [1, s3])
      axes [s0, s1, s3, s2 reduced] -> [s0, s1, s3] : (!batch, !batch, !matrix) -> !batch {
    %0 = plan.read %a (d0, d1, d2, d3) -> (d0, d1, d3) : !batch -> !plan.cell<(d0, d1, d3) -> f64>
    %1 = plan.read %b (d0, d1, d2, d3) -> (d0, d3, d2) : !batch -> !plan.cell<(d0, d2, d3) -> f64>
    %2 = plan.binary mul %0, %1 : (!plan.cell<(d0, d1, d3) -> f64>, !plan.cell<(d0, d2, d3) -> f64>)
        -> !plan.cell<(d0, d1, d2, d3) -> f64>
    %3 = plan.reduce sum %2 over [d3] in f64 : !plan.cell<(d0, d1, d2, d3) -> f64> -> !ijk
    %4 = plan.read %c (d0, d1, d2, d3) -> (0, d2) : !matrix -> !k
    %5 = plan.binary add %3, %4 : (!ijk, !k) -> !ijk
    %6 = plan.constant 0.0 : f64 : !one
    %7 = plan.binary max %5, %6 : (!ijk, !one) -> !ijk
    plan.write %7 to 0 (d0, d1, d2, d3) -> (d0, d1, d2) : !ijk
  }
  return %r : !batch
}

// The mean of each column's cells up to each row: cumsum(X) / seq.
func.func @running_mean(%X: !matrix, %W: !matrix) -> !matrix {
  %r = plan.operator (%x = %X [s0, s1], %w = %W [s0, 1]) axes [s0 scanned, s1] -> [s0, s1] : (!matrix, !matrix) -> !matrix {
    %0 = plan.read %x (d0, d1) -> (d0, d1) : !matrix -> !ij
    %1 = plan.scan sum %0 over [d0] in f64 : !ij -> !ij
    %2 = plan.read %w (d0, d1) -> (d0, 0) : !matrix -> !i
    %3 = plan.binary div %1, %2 : (!ij, !i) -> !ij
    plan.write %3 to 0 (d0, d1) -> (d0, d1) : !ij
  }
  return %r : !matrix
}

// cbind(X[3:(2 + nrow(Y)), ] * 2, exp(Y)): a slice is a place that begins at 2, each part is written where it belongs.
func.func @side_by_side(%X: !matrix, %Y: !matrix) -> !matrix {
  %r = plan.operator (%x = %X [s3, s1], %y = %Y [s0, s2]) axes [s0, s1, s2] -> [s0, "s1 + s2"] : (!matrix, !matrix) -> !matrix {
    %0 = plan.read %x (d0, d1, d2) -> (d0 + 2, d1) outside 0.0 : !matrix -> !ij
    %1 = plan.constant 2.0 : f64 : !one
    %2 = plan.binary mul %0, %1 : (!ij, !one) -> !ij
    plan.write %2 to 0 (d0, d1, d2) -> (d0, d1) : !ij
    %3 = plan.read %y (d0, d1, d2) -> (d0, d2) : !matrix -> !ik
    %4 = plan.unary exp %3 : !ik -> !ik
    %5 = plan.size "s1" : !plan.cell<() -> i64>
    plan.write %4 to 0 (d0, d1, d2)[s0] -> (d0, d2 + s0) at %5 : !plan.cell<() -> i64> : !ik
  }
  return %r : !matrix
}

func.func @main() {
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %n3 = tok.constant 3 : i64
  %n4 = tok.constant 4 : i64
  %n5 = tok.constant 5 : i64
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %n24 = tok.constant 24.0 : f64
  %line = tok.seq %one, %n24, %none : (f64, f64, none) -> !matrix
  %A = tok.view %line [%n2, %n3, %n4] : !matrix -> !batch
  %B = tok.view %line [%n2, %n4, %n3] : !matrix -> !batch
  %low = tok.constant -200.0 : f64
  %C = tok.fill %low, %n1, %n3 : (f64, i64, i64) -> !matrix
  %P = tok.call @product(%A, %B, %C) : (!batch, !batch, !matrix) -> !batch
  tok.print %P : (!batch) -> ()

  %six = tok.constant 6 : i64
  %X = tok.view %line [%six, %n4] : !matrix -> !matrix
  %last = tok.constant 6.0 : f64
  %W = tok.seq %one, %last, %none : (f64, f64, none) -> !matrix
  %means = tok.call @running_mean(%X, %W) : (!matrix, !matrix) -> !matrix
  tok.print %means : (!matrix) -> ()

  %zero = tok.constant 0.0 : f64
  %Y = tok.fill %zero, %n3, %n2 : (f64, i64, i64) -> !matrix
  %both = tok.call @side_by_side(%X, %Y) : (!matrix, !matrix) -> !matrix
  tok.print %both : (!matrix) -> ()
  return
}
