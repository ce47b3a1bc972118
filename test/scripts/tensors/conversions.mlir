// Conversions between element types: floats to integers are truncated and saturate, integers keep their lowest bits, 16-bit
// floats are rounded from f32.
!d = tensor<?xf64>
!h = tensor<?xf16>
!bf = tensor<?xbf16>
func.func @main() {
  %x = tok.literal dense<[2.9, -2.9, 300.0, -300.0, 0x7FF8000000000000]> : tensor<5xf64>
  %0 = tok.cast %x : !d -> tensor<?xi8>
  tok.print %0 : (tensor<?xi8>) -> ()
  %1 = tok.cast %x : !d -> tensor<?xui8>
  tok.print %1 : (tensor<?xui8>) -> ()
  %y = tok.literal dense<[1.0e19, -1.0e19, -0.5]> : tensor<3xf64>
  %2 = tok.cast %y : !d -> tensor<?xi64>
  tok.print %2 : (tensor<?xi64>) -> ()
  %z = tok.literal dense<[300, 200, -1]> : tensor<3xi32>
  %3 = tok.cast %z : tensor<?xi32> -> tensor<?xi8>
  tok.print %3 : (tensor<?xi8>) -> ()
  %4 = tok.cast %z : tensor<?xi32> -> tensor<?xui8>
  tok.print %4 : (tensor<?xui8>) -> ()
  %t = tok.literal dense<[0.5, -0.0, 0x7FF8000000000000]> : tensor<3xf64>
  %5 = tok.cast %t : !d -> tensor<?xi1>
  tok.print %5 : (tensor<?xi1>) -> ()
  %6 = tok.cast %5 : tensor<?xi1> -> tensor<?xi16>
  tok.print %6 : (tensor<?xi16>) -> ()

  // Rounded to the nearest, ties to even; f32 in one step, not by way of f64.
  %large = tok.literal dense<[9007199254740993, 9007199254740995]> : tensor<2xi64>
  %7 = tok.cast %large : tensor<?xi64> -> !d
  tok.print %7 : (!d) -> ()
  %odd = tok.literal dense<[16777217]> : tensor<1xi32>
  %8 = tok.cast %odd : tensor<?xi32> -> tensor<?xf32>
  tok.print %8 : (tensor<?xf32>) -> ()
  %h = tok.literal dense<[2049.0, 2051.0, 65520.0, 1.0e-8]> : tensor<4xf64>
  %9 = tok.cast %h : !d -> !h
  tok.print %9 : (!h) -> ()
  %b = tok.literal dense<[257.0, 259.0, 0x7FF8000000000000]> : tensor<3xf64>
  %10 = tok.cast %b : !d -> !bf
  tok.print %10 : (!bf) -> ()
  %tenth = tok.literal dense<[0.1, 0.1]> : tensor<2xf16>
  %11 = tok.cast %tenth : !h -> !bf
  tok.print %11 : (!bf) -> ()

  // Scalars.
  %one = tok.literal dense<[[3]]> : tensor<1x1xui8>
  %12 = tok.cast %one : tensor<?x?xui8> -> i64
  tok.print %12 : (i64) -> ()
  %number = tok.constant 9007199254740993 : i64
  %13 = tok.cast %number : i64 -> tensor<?x?xi64>
  %14 = tok.cast %13 : tensor<?x?xi64> -> i64
  tok.print %14 : (i64) -> ()
  %true = tok.literal dense<[[1]]> : tensor<1x1xi1>
  %15 = tok.cast %true : tensor<?x?xi1> -> i1
  tok.print %15 : (i1) -> ()
  %most = tok.literal dense<[[18446744073709551615]]> : tensor<1x1xui64>
  %16 = tok.cast %most : tensor<?x?xui64> -> f64
  tok.print %16 : (f64) -> ()
  return
}
