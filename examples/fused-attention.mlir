// The attention of a transformer as one operator, softmax(Q %*% t(K) / sqrt(width) + mask) %*% V, for all heads of a batch:
// the square of scores is in memory for eight queries at a time, never as a whole.
//
//   ./dev run examples/fused-attention.mlir                       one kernel, beside the same in five operations
//   ./dev run examples/fused-attention.mlir --explain=schedule    how its loops are arranged
//   ./dev run examples/fused-attention.mlir --engine=reference    the plain interpreter
//
// docs/plan-ir.md explains the operator. Axes: batch d0, head d1, query d2, key d3, width of queries and keys d4, of values d5.
!heads = tensor<?x?x?x?xf32>
!matrix = tensor<?x?xf32>
!q = !plan.cell<(d0, d1, d2, d4) -> f32>
!k = !plan.cell<(d0, d1, d3, d4) -> f32>
!v = !plan.cell<(d0, d1, d3, d5) -> f32>
!qk = !plan.cell<(d0, d1, d2, d3, d4) -> f32>
!score = !plan.cell<(d0, d1, d2, d3) -> f32>
!mask = !plan.cell<(d2, d3) -> f32>
!row = !plan.cell<(d0, d1, d2) -> f32>
!pv = !plan.cell<(d0, d1, d2, d3, d5) -> f32>
!o = !plan.cell<(d0, d1, d2, d5) -> f32>
!one = !plan.cell<() -> f32>

func.func @fused(%Q: !heads, %K: !heads, %V: !heads, %M: !matrix, %S: f64) -> !heads {
  %r = plan.operator (%q = %Q [s0, s1, s2, s4], %k = %K [s0, s1, s3, s4], %v = %V [s0, s1, s3, s5], %m = %M [s2, s3], %s = %S)
      axes [s0, s1, s2, s3 reduced, s4 reduced, s5] -> [s0, s1, s2, s5] : (!heads, !heads, !heads, !matrix, f64) -> !heads {
    %0 = plan.read %q (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d4) : !heads -> !q
    %1 = plan.read %k (d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4) : !heads -> !k
    %2 = plan.binary mul %0, %1 : (!q, !k) -> !qk
    %3 = plan.reduce sum %2 over [d4] in f32 : !qk -> !score
    %4 = plan.read %s (d0, d1, d2, d3, d4, d5) -> () : f64 -> !plan.cell<() -> f64>
    %5 = plan.cast %4 : !plan.cell<() -> f64> -> !one
    %6 = plan.binary div %3, %5 : (!score, !one) -> !score
    %7 = plan.read %m (d0, d1, d2, d3, d4, d5) -> (d2, d3) : !matrix -> !mask
    %8 = plan.binary add %6, %7 : (!score, !mask) -> !score
    %9 = plan.reduce max %8 over [d3] in f64 : !score -> !row
    %10 = plan.binary sub %8, %9 : (!score, !row) -> !score
    %11 = plan.unary exp %10 : !score -> !score
    %12 = plan.reduce sum %11 over [d3] in f64 : !score -> !row
    %13 = plan.binary div %11, %12 : (!score, !row) -> !score
    %14 = plan.read %v (d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5) : !heads -> !v
    %15 = plan.binary mul %13, %14 : (!score, !v) -> !pv
    %16 = plan.reduce sum %15 over [d3] in f32 : !pv -> !o
    plan.write %16 to 0 (d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5) : !o
  }
  return %r : !heads
}

// The same as operations on arrays: each makes one.
func.func @separate(%Q: !heads, %K: !heads, %V: !heads, %M: !matrix, %S: f64) -> !heads {
  %transposed = tok.transpose %K : (!heads) -> !heads
  %products = tok.matmul %Q, %transposed : (!heads, !heads) -> !heads
  %scaled = tok.binary div %products, %S : (!heads, f64) -> !heads
  %scores = tok.binary add %scaled, %M : (!heads, !matrix) -> !heads
  %largest = tok.aggregate max row %scores : !heads -> !heads
  %shifted = tok.binary sub %scores, %largest : (!heads, !heads) -> !heads
  %exponents = tok.unary exp %shifted : !heads -> !heads
  %sums = tok.aggregate sum row %exponents : !heads -> !heads
  %weights = tok.binary div %exponents, %sums : (!heads, !heads) -> !heads
  %taken = tok.matmul %weights, %V : (!heads, !heads) -> !heads
  return %taken : !heads
}

// Random cells of a batch of 2 with 3 heads: `length` places of a width.
func.func @draw(%seed: i64, %length: i64, %width: i64) -> !heads {
  %batch = tok.constant 2 : i64
  %heads = tok.constant 3 : i64
  %six = tok.constant 6 : i64
  %rows = tok.binary mul %six, %length : (i64, i64) -> i64
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
  %zero = tok.constant 0.0 : f64
  %queries = tok.constant 19 : i64
  %keys = tok.constant 21 : i64
  %width = tok.constant 16 : i64
  %values = tok.constant 10 : i64
  %Q = tok.call @draw(%one, %queries, %width) : (i64, i64, i64) -> !heads
  %K = tok.call @draw(%two, %keys, %width) : (i64, i64, i64) -> !heads
  %V = tok.call @draw(%three, %keys, %values) : (i64, i64, i64) -> !heads
  // The mask lets query i see the keys up to number i: it adds -1000 behind them.
  %firstRow = tok.constant 1.0 : f64
  %lastRow = tok.constant 19.0 : f64
  %lastColumn = tok.constant 21.0 : f64
  %none = tok.constant unit : none
  %rows = tok.seq %firstRow, %lastRow, %none : (f64, f64, none) -> !matrix
  %columns = tok.seq %firstRow, %lastColumn, %none : (f64, f64, none) -> !matrix
  %row = tok.transpose %columns : (!matrix) -> !matrix
  %isLater = tok.binary lt %rows, %row : (!matrix, !matrix) -> !matrix
  %far = tok.constant -1000.0 : f64
  %mask = tok.binary mul %isLater, %far : (!matrix, f64) -> !matrix
  %root = tok.constant 4.0 : f64

  %taken = tok.call @fused(%Q, %K, %V, %mask, %root) : (!heads, !heads, !heads, !matrix, f64) -> !heads
  %expected = tok.call @separate(%Q, %K, %V, %mask, %root) : (!heads, !heads, !heads, !matrix, f64) -> !heads
  %difference = tok.binary sub %taken, %expected : (!heads, !heads) -> !heads
  %distance = tok.unary abs %difference : !heads -> !heads
  %most = tok.aggregate max full %distance : !heads -> f64
  %bound = tok.constant 1.0e-5 : f64
  %isSmall = tok.binary lt %most, %bound : (f64, f64) -> i1
  %agrees = tok.constant "the fused operator agrees with separate operations:" : !tok.string
  tok.print %agrees : (!tok.string) -> ()
  tok.print %isSmall : (i1) -> ()
  %sizes = tok.constant "of each head %d queries take values of width %d" : !tok.string
  %length = tok.size %taken[3] : !heads
  %wide = tok.size %taken[4] : !heads
  tok.print %sizes, %length, %wide : (!tok.string, i64, i64) -> ()
  return
}
