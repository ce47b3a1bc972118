// Places of cells found, and parts written to places: of integers with all 64 bits, of floats with NaN.
// prints: 3 2
// prints: 1 3
// prints:
// prints: 1 2
// prints: 2 1
// prints:
// prints: 3 1
// prints:
// prints: 2 4 5 6
// prints:
// prints: 2
// prints: 1
// prints: 2
// prints: 3
// prints:
// prints: 7 8
// prints: 0 1
// prints: 5 6
// prints: 0 1
// prints:
// prints: 8 9
// prints: 0 1
// prints: 6 9
// prints: 0 1
// prints:
// prints: 9007199254740994 9007199254740996
// prints:
// prints: 0.000 1.500
// prints: 2.500 7.500
// prints:
// prints: 1 1 1
// prints: 1 1 3
// prints: 2 1 2
// prints:
// prints: -2.000 6.000
// prints:
// prints: 2 1 4
// prints:
// prints: 3037000500 2
// prints: -9223372036709301616 6
// prints: 290948384 30
// prints:
!m = tensor<?x?xf64>
!i = tensor<?x?xi64>
!v = tensor<?xi64>
!p = tensor<?xf64>
!c = tensor<?x?x?xf64>
func.func @main() {
  %n2 = tok.constant 2 : i64
  %yes = tok.constant true
  %no = tok.constant false

  // Of equal cells the first one comes first; 2^53 and its neighbours differ.
  %t1 = tok.literal dense<[[9007199254740992, 9007199254740993, 9007199254740994], [7, -1, 6]]> : tensor<2x3xi64>
  %0 = tok.native "top_places"(%t1, %n2, %yes) : (!i, i64, i1) -> !i
  tok.print %0 : (!i) -> ()
  %f = tok.literal dense<[[1.0, 2.0, 0x7FF8000000000000], [3.0, -0.5, 3.0]]> : tensor<2x3xf64>
  %1 = tok.native "top_places"(%f, %n2, %no) : (!m, i64, i1) -> !i
  tok.print %1 : (!i) -> ()
  %row = tok.literal dense<[[2.0, 1.0, 0x7FF8000000000000]]> : tensor<1x3xf64>
  %2 = tok.native "top_places"(%row, %n2, %yes) : (!m, i64, i1) -> !i
  tok.print %2 : (!i) -> ()

  %z = tok.literal dense<[[0, 1, 0], [-3, 4, 5]]> : tensor<2x3xi64>
  %3 = tok.native "nonzero_places"(%z) : (!i) -> !v
  tok.print %3 : (!v) -> ()
  %rows = tok.literal dense<[[1, 9007199254740992], [0, 5], [1, 9007199254740992], [1, 9007199254740993]]> : tensor<4x2xi64>
  %4 = tok.native "row_ranks"(%rows) : (!i) -> !i
  tok.print %4 : (!i) -> ()

  // The last update of a place stays.
  %parts = tok.literal dense<[[0, 1], [0, 1], [0, 1], [0, 1]]> : tensor<4x2xi64>
  %updates = tok.literal dense<[[3, 4], [5, 6], [7, 8]]> : tensor<3x2xi64>
  %at = tok.literal dense<[1, 3, 1]> : tensor<3xi64>
  %5 = tok.native "scatter"(%parts, %updates, %at) : (!i, !i, !v) -> !i
  tok.print %5 : (!i) -> ()
  %ones = tok.literal dense<[[1, 1], [1, 3]]> : tensor<2x2xi64>
  %two = tok.literal dense<[1, 3]> : tensor<2xi64>
  %add = tok.constant "add" : !tok.string
  %6 = tok.native "scatter_reduce"(%5, %ones, %two, %add) : (!i, !i, !v, !tok.string) -> !i
  tok.print %6 : (!i) -> ()
  %large = tok.literal dense<[[9007199254740993, 9007199254740993]]> : tensor<1x2xi64>
  %more = tok.literal dense<[[1, 3]]> : tensor<1x2xi64>
  %first = tok.literal dense<[1]> : tensor<1xi64>
  %7 = tok.native "scatter_reduce"(%large, %more, %first, %add) : (!i, !i, !v, !tok.string) -> !i
  tok.print %7 : (!i) -> ()
  %max = tok.constant "max" : !tok.string
  %g = tok.literal dense<[[0.0, 1.5], [2.5, 3.5]]> : tensor<2x2xf64>
  %h = tok.literal dense<[[1.0, 7.5], [2.0, 4.0]]> : tensor<2x2xf64>
  %twice = tok.literal dense<[2.0, 2.0]> : tensor<2xf64>
  %8 = tok.native "scatter_reduce"(%g, %h, %twice, %max) : (!m, !m, !p, !tok.string) -> !m
  tok.print %8 : (!m) -> ()

  // Box 2 overlaps box 1 by more than a half; the second image's third box is not good enough.
  %boxes = tok.literal dense<[[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 10.0, 1.0, 11.0]], [[1.0, 1.0, 0.0, 0.0], [0.0, 0.1, 1.0, 1.1], [0.0, 10.0, 1.0, 11.0]]]> : tensor<2x3x4xf64>
  %scores = tok.literal dense<[[[0.9, 0.8, 0.7]], [[0.5, 0.6, 0.1]]]> : tensor<2x1x3xf64>
  %half = tok.constant 0.5 : f64
  %least = tok.constant 0.2 : f64
  %9 = tok.native "separate_boxes"(%boxes, %scores, %n2, %half, %least, %no) : (!c, !c, i64, f64, f64, i1) -> !i
  tok.print %9 : (!i) -> ()

  %squares = tok.literal dense<[[[1.0, 2.0], [3.0, 4.0]], [[0.0, -2.0], [3.0, 5.0]]]> : tensor<2x2x2xf64>
  %10 = tok.native "determinants"(%squares) : (!c) -> !p
  tok.print %10 : (!p) -> ()

  %sorted = tok.literal dense<[9007199254740992, 9007199254740993, 9007199254740994]> : tensor<3xi64>
  %searched = tok.literal dense<[[9007199254740993, 0, 9007199254740995]]> : tensor<1x3xi64>
  %11 = tok.native "sorted_places"(%searched, %sorted, %no) : (!i, !v, i1) -> !i
  tok.print %11 : (!i) -> ()
  // Products wrap.
  %factors = tok.literal dense<[[3037000500, 2], [3037000500, 3], [2, 5]]> : tensor<3x2xi64>
  %12 = tok.native "cumprodcells"(%factors) : (!i) -> !i
  tok.print %12 : (!i) -> ()
  return
}
