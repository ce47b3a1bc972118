// Nothing that is written runs over d1.
func.func @main() {
  %from = tok.constant 1.0 : f64
  %to = tok.constant 12.0 : f64
  %step = tok.constant 1.0 : f64
  %three = tok.constant 3 : i64
  %four = tok.constant 4 : i64
  %line = tok.seq %from, %to, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %X = tok.view %line [%three, %four] : tensor<?x?xf64> -> tensor<?x?xf64>
  %S = plan.operator (%x = %X [3, 4]) axes [1, 4] -> [1] : (tensor<?x?xf64>) -> tensor<?xf64> {
    %0 = plan.read %x (d0, d1) -> (0, d1) : tensor<?x?xf64> -> !plan.cell<(d0, d1) -> f64>
    %1 = plan.read %x (d0, d1) -> (d0, 0) : tensor<?x?xf64> -> !plan.cell<(d0) -> f64>
    %2 = plan.binary add %1, %1 : (!plan.cell<(d0) -> f64>, !plan.cell<(d0) -> f64>) -> !plan.cell<(d0) -> f64>
    plan.write %2 to 0 (d0, d1) -> (d0) : !plan.cell<(d0) -> f64>
  }
  tok.print %S : (tensor<?xf64>) -> ()
  return
}
