// Tiles are not cut from d2, along which the second result does not run: each place along it is scanned anew.
func.func @main() {
  %from = tok.constant 1.0 : f64
  %to = tok.constant 24.0 : f64
  %step = tok.constant 1.0 : f64
  %two = tok.constant 2 : i64
  %three = tok.constant 3 : i64
  %four = tok.constant 4 : i64
  %line = tok.seq %from, %to, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %X = tok.view %line [%two, %three, %four] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  %S, %T = plan.operator (%x = %X [2, 3, 4]) axes [2, 3 scanned, 4] -> [2, 3, 4], [2] : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?xf64>) {
    %0 = plan.read %x (d0, d1, d2) -> (d0, d1, d2) : tensor<?x?x?xf64> -> !plan.cell<(d0, d1, d2) -> f64>
    %1 = plan.read %x (d0, d1, d2) -> (d0, 1, 1) : tensor<?x?x?xf64> -> !plan.cell<(d0) -> f64>
    %2 = plan.scan sum %0 over [d1] in f64 : !plan.cell<(d0, d1, d2) -> f64> -> !plan.cell<(d0, d1, d2) -> f64>
    plan.write %2 to 0 (d0, d1, d2) -> (d0, d1, d2) : !plan.cell<(d0, d1, d2) -> f64>
    plan.write %1 to 1 (d0, d1, d2) -> (d0) : !plan.cell<(d0) -> f64>
  }
  tok.print %S : (tensor<?x?x?xf64>) -> ()
  tok.print %T : (tensor<?xf64>) -> ()
  return
}
