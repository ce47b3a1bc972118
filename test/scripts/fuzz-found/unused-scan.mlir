// Nothing is scanned along d1, and nothing reduced along d2, after what nobody reads was removed.
func.func @main() {
  %from = tok.constant 1.0 : f64
  %to = tok.constant 12.0 : f64
  %step = tok.constant 1.0 : f64
  %three = tok.constant 3 : i64
  %four = tok.constant 4 : i64
  %line = tok.seq %from, %to, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %X = tok.view %line [%three, %four] : tensor<?x?xf64> -> tensor<?x?xf64>
  %S = plan.operator (%x = %X [s0, s1]) axes [s0, s1 scanned, s1 reduced] -> [s0, s1] : (tensor<?x?xf64>) -> tensor<?x?xf64> {
    %0 = plan.read %x (d0, d1, d2) -> (d0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    %1 = plan.read %x (d0, d1, d2) -> (d0, d2) : tensor<?x?xf64> -> !plan.cell<(d0, d2) -> f64>
    %2 = plan.scan sum %0 over [d1] in f64 : !plan.cell<(d0, d1) -> f64> -> !plan.cell<(d0, d1) -> f64>
    %3 = plan.reduce sum %1 over [d2] in f64 : !plan.cell<(d0, d2) -> f64> -> !plan.cell<(d0) -> f64>
    %4 = plan.binary add %0, %0 : (!plan.cell<(d0, d1) -> f64>, !plan.cell<(d0, d1) -> f64>) -> !plan.cell<(d0, d1) -> f64>
    plan.write %4 to 0 (d0, d1, d2) -> (d0, d1) : !plan.cell<(d0, d1) -> f64>
  }
  tok.print %S : (tensor<?x?xf64>) -> ()
  return
}
