// The softmax over the last of four dimensions, in double precision.
// tolerance: 1e-8
func.func @main() {
  %one = tok.constant 1.0 : f64
  %last = tok.constant 120.0 : f64
  %none = tok.constant unit : none
  %numbers = tok.seq %one, %last, %none : (f64, f64, none) -> tensor<?x?xf64>
  %seven = tok.constant 7.0 : f64
  %eleven = tok.constant 11.0 : f64
  %four = tok.constant 4.0 : f64
  %products = tok.binary mul %numbers, %seven : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %rests = tok.binary mod %products, %eleven : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %quarters = tok.binary div %rests, %four : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %a = tok.constant 2 : i64
  %b = tok.constant 3 : i64
  %c = tok.constant 4 : i64
  %d = tok.constant 5 : i64
  %x = tok.view %quarters [%a, %b, %c, %d] : tensor<?x?xf64> -> tensor<?x?x?x?xf64>

  %largest = tok.aggregate max row %x : tensor<?x?x?x?xf64> -> tensor<?x?x?x?xf64>
  %shifted = tok.binary sub %x, %largest : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  %exponents = tok.unary exp %shifted : tensor<?x?x?x?xf64> -> tensor<?x?x?x?xf64>
  %sums = tok.aggregate sum row %exponents : tensor<?x?x?x?xf64> -> tensor<?x?x?x?xf64>
  %softmax = tok.binary div %exponents, %sums : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>

  %decimals = tok.constant 9 : i64
  %text = tok.to_string %softmax, %none, %none, %decimals, %none, %none, %none : (tensor<?x?x?x?xf64>, none, none, i64, none, none, none) -> !tok.string
  tok.print %text : (!tok.string) -> ()
  return
}
