// Results of one cell and of three: without the axis of one place there is none that tiles of both are cut from.
func.func @main() {
  %one = tok.constant 1 : i64
  %three = tok.constant 3 : i64
  %from = tok.constant -2.0 : f64
  %step = tok.constant 1.0 : f64
  %x = tok.fill %from, %one, %three : (f64, i64, i64) -> tensor<?x?xf64>
  %s = tok.seq %from, %from, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %v = tok.view %s [%one] : tensor<?x?xf64> -> tensor<?xf64>
  %a, %b = plan.operator (%p0 = %x [1, 3], %p1 = %v [1]) axes [1, 3] -> [1], [1, 3] : (tensor<?x?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64>) {
    %c0 = plan.read %p0 (d0, d1) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    %c1 = plan.read %p1 (d0, d1) -> (d0) : tensor<?xf64> -> !plan.cell<(d0) -> f64>
    %c2 = plan.unary abs %c1 : !plan.cell<(d0) -> f64> -> !plan.cell<(d0) -> f64>
    plan.write %c2 to 0 (d0, d1) -> (d0) : !plan.cell<(d0) -> f64>
    plan.write %c0 to 1 (d0, d1) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  }
  tok.print %a : (tensor<?xf64>) -> ()
  tok.print %b : (tensor<?x?xf64>) -> ()
  return
}
