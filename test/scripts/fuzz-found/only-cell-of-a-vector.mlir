// The smallest cell of an array of one dimension and one cell: a scalar is what is left of an aggregate, even of one place.
func.func @main() {
  %one = tok.constant 1 : i64
  %from = tok.constant 3.0 : f64
  %step = tok.constant 1.0 : f64
  %s = tok.seq %from, %from, %step : (f64, f64, f64) -> tensor<?x?xf64>
  %v = tok.view %s [%one] : tensor<?x?xf64> -> tensor<?xf64>
  %d = tok.binary add %v, %v : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %m = tok.aggregate min full %d : tensor<?xf64> -> f64
  tok.print %m : (f64) -> ()
  return
}
