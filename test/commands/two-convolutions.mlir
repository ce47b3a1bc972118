// A convolution with a bias and what is above zero, as two layers of a network compute it: images and weights have other
// sizes, rows are of one length.
func.func @main() {
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1 : i64
  %from = tok.constant -1.0 : f64
  %to = tok.constant 1.0 : f64
  %all = tok.constant 1.0 : f64
  %seed = tok.constant 7 : i64
  %uniform = tok.constant "uniform" : !tok.string
  %none = tok.constant 0 : i64
  %7680 = tok.constant 7680 : i64
  %aimagem = tok.rand %one, %7680, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %16 = tok.constant 16 : i64
  %20 = tok.constant 20 : i64
  %24 = tok.constant 24 : i64
  %aimage = tok.view %aimagem [%one, %16, %20, %24] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %32 = tok.constant 32 : i64
  %144 = tok.constant 144 : i64
  %aweightsm = tok.rand %32, %144, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %3 = tok.constant 3 : i64
  %aweights = tok.view %aweightsm [%32, %16, %3, %3] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %abiasm = tok.rand %one, %32, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %abias = tok.view %abiasm [%one, %32, %one, %one] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %asums = tok.native "convolve"(%aimage, %aweights, %one, %20, %3, %none, %one, %one, %one, %24, %3, %none, %one, %one, %one) : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> tensor<?x?x?x?xf32>
  %amoved = tok.binary add %asums, %abias : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %aresult = tok.binary max %amoved, %zero : (tensor<?x?x?x?xf32>, f64) -> tensor<?x?x?x?xf32>
  %480 = tok.constant 480 : i64
  %arows = tok.view %aresult [%32, %480] : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  %asome = tok.slice %arows, %32, %32, %one, %3 : (tensor<?x?xf32>, i64, i64, i64, i64) -> tensor<?x?xf32>
  tok.print %asome : (tensor<?x?xf32>) -> ()
  %6912 = tok.constant 6912 : i64
  %bimagem = tok.rand %one, %6912, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %12 = tok.constant 12 : i64
  %bimage = tok.view %bimagem [%one, %24, %12, %24] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %48 = tok.constant 48 : i64
  %216 = tok.constant 216 : i64
  %bweightsm = tok.rand %48, %216, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %bweights = tok.view %bweightsm [%48, %24, %3, %3] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %bbiasm = tok.rand %one, %48, %from, %to, %all, %seed, %uniform, %all : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> tensor<?x?xf32>
  %bbias = tok.view %bbiasm [%one, %48, %one, %one] : tensor<?x?xf32> -> tensor<?x?x?x?xf32>
  %bsums = tok.native "convolve"(%bimage, %bweights, %one, %12, %3, %none, %one, %one, %one, %24, %3, %none, %one, %one, %one) : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> tensor<?x?x?x?xf32>
  %bmoved = tok.binary add %bsums, %bbias : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %bresult = tok.binary max %bmoved, %zero : (tensor<?x?x?x?xf32>, f64) -> tensor<?x?x?x?xf32>
  %288 = tok.constant 288 : i64
  %brows = tok.view %bresult [%48, %288] : tensor<?x?x?x?xf32> -> tensor<?x?xf32>
  %bsome = tok.slice %brows, %48, %48, %one, %3 : (tensor<?x?xf32>, i64, i64, i64, i64) -> tensor<?x?xf32>
  tok.print %bsome : (tensor<?x?xf32>) -> ()
  return
}
