// exit: 1
// error-contains: sizes do not agree: 600x1 * 500x1; expected equal sizes, or 1 where they differ
// error-line: 19
func.func @main() {
  %one = tok.constant 1.0 : f64
  %n = tok.constant 500.5 : f64
  %m = tok.constant 600.5 : f64
  %step = tok.constant 0.5 : f64
  %a = tok.seq %one, %m, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %b = tok.seq %one, %n, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %two = tok.constant 2 : i64
  %single = tok.constant 1 : i64
  %half0 = tok.rows %a : tensor<?x?xf64>
  %other0 = tok.rows %b : tensor<?x?xf64>
  %half = tok.binary intdiv %half0, %two : (i64, i64) -> i64
  %other = tok.binary intdiv %other0, %two : (i64, i64) -> i64
  %x = tok.slice %a, %single, %half, %single, %single : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  %y = tok.slice %b, %single, %other, %single, %single : (tensor<?x?xf64>, i64, i64, i64, i64) -> tensor<?x?xf64>
  %0 = tok.binary mul %x, %y : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  tok.print %0 : (tensor<?x?xf64>) -> ()
  return
}
