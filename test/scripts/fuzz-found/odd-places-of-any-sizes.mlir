// Of an axis of floordiv(n, 2) places, those at 2 * d + 1 lie inside of an array of n, whatever n is.
func.func @main() {
  %v67 = tok.constant 2 : i64
  %v68 = tok.constant 1 : i64
  %v69 = tok.constant -2.0000 : f64
  %v70 = tok.constant 3.0000 : f64
  %v71 = tok.constant 1.0000 : f64
  %v72 = tok.constant 1.0000 : f64
  %v73 = tok.constant 865 : i64
  %v74 = tok.constant "uniform" : !tok.string
  %v66 = tok.rand %v67, %v68, %v69, %v70, %v72, %v73, %v74, %v71 : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf64>
  %v76 = tok.constant 1 : i64
  %v77 = tok.constant 2 : i64
  %v78 = tok.constant 1 : i64
  %v75 = tok.view %v66 [%v76, %v77, %v78] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  %v80 = tok.constant 1000000000000000000.0000 : f64
  %v79 = tok.binary mul %v75, %v80 : (tensor<?x?x?xf64>, f64) -> tensor<?x?x?xf64>
  %v81 = tok.cast %v79 : tensor<?x?x?xf64> -> tensor<?x?x?xi64>
  %o65_0 = plan.operator (%p0 = %v81 [s2, 2, s0]) axes [s0, 1, s2 reduced] -> [1, s0] : (tensor<?x?x?xi64>) -> (tensor<?x?xi64>) {
    %c0 = plan.read %p0 (d0, d1, d2) -> (d2, 2 * d1 + 1, d0) : tensor<?x?x?xi64> -> !plan.cell<(d0, d1, d2) -> i64>
    %c1 = plan.binary mul %c0, %c0 : (!plan.cell<(d0, d1, d2) -> i64>, !plan.cell<(d0, d1, d2) -> i64>) -> !plan.cell<(d0, d1, d2) -> i64>
    %c3 = plan.reduce sum %c1 over [d2] in i64 : !plan.cell<(d0, d1, d2) -> i64> -> !plan.cell<(d0, d1) -> i64>
    plan.write %c3 to 0 (d0, d1, d2) -> (d1, d0) : !plan.cell<(d0, d1) -> i64>
  }
  tok.print %o65_0 : (tensor<?x?xi64>) -> ()
  return
}
