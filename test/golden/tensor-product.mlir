// Matrix products over leading dimensions, one of which the right operand has only once, in double precision.
// tolerance: 1e-8
func.func @main() {
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %seven = tok.constant 7.0 : f64
  %thirteen = tok.constant 13.0 : f64
  %tenth = tok.constant 0.1 : f64
  %a = tok.constant 2 : i64
  %b = tok.constant 3 : i64
  %c = tok.constant 4 : i64
  %d = tok.constant 5 : i64
  %single = tok.constant 1 : i64

  %last = tok.constant 120.0 : f64
  %n0 = tok.seq %one, %last, %none : (f64, f64, none) -> tensor<?x?xf64>
  %n1 = tok.binary mul %n0, %seven : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %n2 = tok.binary mod %n1, %thirteen : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %n3 = tok.binary mul %n2, %tenth : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %x = tok.view %n3 [%a, %b, %c, %d] : tensor<?x?xf64> -> tensor<?x?x?x?xf64>

  %thirty = tok.constant 30.0 : f64
  %m0 = tok.seq %one, %thirty, %none : (f64, f64, none) -> tensor<?x?xf64>
  %m1 = tok.unary sqrt %m0 : tensor<?x?xf64> -> tensor<?x?xf64>
  %y = tok.view %m1 [%single, %b, %d, %a] : tensor<?x?xf64> -> tensor<?x?x?x?xf64>

  %z = tok.matmul %x, %y : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %decimals = tok.constant 9 : i64
  %text = tok.to_string %z, %none, %none, %decimals, %none, %none, %none : (tensor<?x?x?x?xf64>, none, none, i64, none, none, none) -> !tok.string
  tok.print %text : (!tok.string) -> ()
  return
}
