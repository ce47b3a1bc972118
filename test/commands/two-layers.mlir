// A bias for each channel and the larger one of that and zero, as two layers of a network compute them.
func.func @main() {
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1 : i64
  %from = tok.constant -1.0 : f64
  %to = tok.constant 1.0 : f64
  %all = tok.constant 1.0 : f64
  %seed = tok.constant 7 : i64
  %uniform = tok.constant "uniform" : !tok.string
  %64 = tok.constant 64 : i64
  %56 = tok.constant 56 : i64
  %3136 = tok.constant 3136 : i64
  %2048 = tok.constant 2048 : i64
  %7 = tok.constant 7 : i64
  %49 = tok.constant 49 : i64
  %x2 = tok.rand %64, %3136, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %b2 = tok.rand %64, %one, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %y2 = tok.rand %2048, %49, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %c2 = tok.rand %2048, %one, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %x = tok.view %x2 [%one, %64, %56, %56] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %b = tok.view %b2 [%one, %64, %one, %one] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %y = tok.view %y2 [%one, %2048, %7, %7] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %c = tok.view %c2 [%one, %2048, %one, %one] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %xb = tok.binary add %x, %b : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %p = tok.binary max %xb, %zero : (tensor<?x?x?x?xf32>, f64) -> tensor<?x?x?x?xf32>
  %yc = tok.binary add %y, %c : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %q = tok.binary max %yc, %zero : (tensor<?x?x?x?xf32>, f64) -> tensor<?x?x?x?xf32>
  %p2 = tok.view %p [%64, %3136] : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  %q2 = tok.view %q [%2048, %49] : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  %pv = tok.slice %p2, %64, %64, %one, %7 : (tensor<?x?xf32>, i64, i64, i64, i64) -> tensor<?x?xf32>
  %qv = tok.slice %q2, %2048, %2048, %one, %7 : (tensor<?x?xf32>, i64, i64, i64, i64) -> tensor<?x?xf32>
  tok.print %pv : (tensor<?x?xf32>) -> ()
  tok.print %qv : (tensor<?x?xf32>) -> ()
  return
}
