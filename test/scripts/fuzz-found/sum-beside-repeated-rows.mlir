// A sum of all cells beside a result of which an operand has only some of the outer dimensions: tiles are along an axis that
// is written and summed over.
func.func @main() {
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %three = tok.constant 3 : i64
  %from = tok.constant 1.0 : f64
  %to = tok.constant 12.0 : f64
  %few = tok.constant 4.0 : f64
  %step = tok.constant 1.0 : f64
  %s = tok.seq %from, %to, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %t = tok.seq %from, %few, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %x = tok.view %s [%two, %three, %two] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  %y = tok.view %t [%two, %one, %two] : tensor<?x?xf64> -> tensor<?x?x?xf64>
  %rows = tok.aggregate max row %x : tensor<?x?x?xf64> -> tensor<?x?x?xf64>
  %sum = tok.aggregate sum full %rows : tensor<?x?x?xf64> -> f64
  %least = tok.binary min %x, %y : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  tok.print %least : (tensor<?x?x?xf64>) -> ()
  tok.print %sum : (f64) -> ()
  return
}
