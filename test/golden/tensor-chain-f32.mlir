// A chain over arrays of three dimensions, each of another size in some of them, in single precision:
// max((x * gains + biases) / scales, 0) with x 2x3x5, gains 1x1x5, biases 2x3x1, scales 1x3x5, and its sum.
// tolerance: 2e-6
func.func @main() {
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %a = tok.constant 2 : i64
  %b = tok.constant 3 : i64
  %c = tok.constant 5 : i64
  %last = tok.constant 30.0 : f64
  %n0 = tok.seq %one, %last, %none : (f64, f64, none) -> tensor<?x?xf32>
  %n1 = tok.unary sin %n0 : tensor<?x?xf32> -> tensor<?x?xf32>
  %x = tok.view %n1 [%a, %b, %c] : tensor<?x?xf32> -> tensor<?x?x?xf32>
  %gains = tok.literal dense<[[[0.5, 1.5, 2.5, -1.0, 3.0]]]> : tensor<1x1x5xf32>
  %biases = tok.literal dense<[[[0.1], [0.2], [0.3]], [[-0.4], [-0.5], [0.6]]]> : tensor<2x3x1xf32>
  %scales = tok.literal dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [0.1, 0.2, 0.3, 0.4, 0.5]]]> : tensor<1x3x5xf32>

  %scaled = tok.binary mul %x, %gains : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %moved = tok.binary add %biases, %scaled : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %divided = tok.binary div %moved, %scales : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %zero = tok.constant 0.0 : f64
  %result = tok.binary max %divided, %zero : (tensor<?x?x?xf32>, f64) -> tensor<?x?x?xf32>

  %decimals = tok.constant 9 : i64
  %text = tok.to_string %result, %none, %none, %decimals, %none, %none, %none : (tensor<?x?x?xf32>, none, none, i64, none, none, none) -> !tok.string
  tok.print %text : (!tok.string) -> ()
  %sum = tok.aggregate sum full %result : tensor<?x?x?xf32> -> f64
  tok.print %sum : (f64) -> ()
  return
}
