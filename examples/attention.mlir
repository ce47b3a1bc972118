// Attention of a transformer, written in the dialect's own text: four dimensions, single precision.
//
//   ./dev run examples/attention.mlir                       what each position takes from all others
//   ./dev run examples/attention.mlir --explain=fusion      products and softmax are one kernel, without an array of scores
//   ./dev run examples/attention.mlir --engine=reference    the same on the plain interpreter
//
// Arrays are batch x heads x length x width. Sizes are no part of a type.
!heads = tensor<?x?x?x?xf32>
!matrix = tensor<?x?xf32>

// The softmax over the last dimension.
func.func @softmax(%scores: !heads) -> !heads {
  %largest = tok.aggregate max row %scores : !heads -> !heads
  %shifted = tok.binary sub %scores, %largest : (!heads, !heads) -> !heads
  %exponents = tok.unary exp %shifted : !heads -> !heads
  %sums = tok.aggregate sum row %exponents : !heads -> !heads
  %weights = tok.binary div %exponents, %sums : (!heads, !heads) -> !heads
  return %weights : !heads
}

// A random array of 2 x 4 x 6 x 8: drawn as a matrix, viewed in four dimensions.
func.func @draw(%seed: i64) -> !heads {
  %batch = tok.constant 2 : i64
  %heads = tok.constant 4 : i64
  %length = tok.constant 6 : i64
  %width = tok.constant 8 : i64
  %rows = tok.constant 48 : i64
  %zero = tok.constant 0.0 : f64
  %one = tok.constant 1.0 : f64
  %normal = tok.constant "normal" : !tok.string
  %drawn = tok.rand %rows, %width, %zero, %one, %one, %seed, %normal, %one : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> !matrix
  %array = tok.view %drawn [%batch, %heads, %length, %width] : !matrix -> !heads
  return %array : !heads
}

func.func @main() {
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %three = tok.constant 3 : i64
  %queries = tok.call @draw(%one) : (i64) -> !heads
  %keys = tok.call @draw(%two) : (i64) -> !heads
  %values = tok.call @draw(%three) : (i64) -> !heads

  // How well each position's query fits each position's key, scaled by the root of the width.
  %transposed = tok.transpose %keys : (!heads) -> !heads
  %products = tok.matmul %queries, %transposed : (!heads, !heads) -> !heads
  %width = tok.size %queries[4] : !heads
  %root = tok.unary sqrt %width : i64 -> f64
  %scores = tok.binary div %products, %root : (!heads, f64) -> !heads
  %weights = tok.call @softmax(%scores) : (!heads) -> !heads
  %taken = tok.matmul %weights, %values : (!heads, !heads) -> !heads

  // The weights of a position add up to 1.
  %sums = tok.aggregate sum row %weights : !heads -> !heads
  %least = tok.aggregate min full %sums : !heads -> f64
  %most = tok.aggregate max full %sums : !heads -> f64
  %format = tok.constant "sums of weights between %.4f and %.4f" : !tok.string
  tok.print %format, %least, %most : (!tok.string, f64, f64) -> ()
  %title = tok.constant "what the positions of the first head take from each other:" : !tok.string
  tok.print %title : (!tok.string) -> ()
  %cells = tok.length %taken : !heads
  %columns = tok.binary intdiv %cells, %width : (i64, i64) -> i64
  %rows = tok.view %taken [%columns, %width] : !heads -> !matrix
  %six = tok.constant 6 : i64
  %first = tok.slice %rows, %one, %six, %one, %width : (!matrix, i64, i64, i64, i64) -> !matrix
  tok.print %first : (!matrix) -> ()
  return
}
