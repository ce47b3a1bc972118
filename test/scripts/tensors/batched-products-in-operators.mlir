// Products of each matrix of a batch as parts of operators: with bias and ReLU, of one matrix for the whole batch, as
// attention of four dimensions; of doubles and of single precision.
// tolerance: 1e-6
!t3 = tensor<?x?x?xf64>
!t4 = tensor<?x?x?x?xf32>
!m = tensor<?x?xf64>
!s = tensor<?x?xf32>
func.func @draw(%rows: i64, %columns: i64, %seed: i64) -> !m {
  %one = tok.constant 1.0 : f64
  %low = tok.constant -1.0 : f64
  %uniform = tok.constant "uniform" : !tok.string
  %drawn = tok.rand %rows, %columns, %low, %one, %one, %seed, %uniform, %one : (i64, i64, f64, f64, f64, i64, !tok.string, f64) -> !m
  return %drawn : !m
}
func.func @show(%x: !m) {
  %sum = tok.aggregate sum full %x : !m -> f64
  %square = tok.binary mul %x, %x : (!m, !m) -> !m
  %squares = tok.aggregate sum full %square : !m -> f64
  %format = tok.constant "%.6f %.6f" : !tok.string
  tok.print %format, %sum, %squares : (!tok.string, f64, f64) -> ()
  return
}
func.func @layer(%a: !t3, %b: !t3, %c: !m) -> !t3 {
  %zero = tok.constant 0.0 : f64
  %0 = tok.matmul %a, %b : (!t3, !t3) -> !t3
  %1 = tok.binary add %0, %c : (!t3, !m) -> !t3
  %2 = tok.binary max %1, %zero : (!t3, f64) -> !t3
  return %2 : !t3
}
func.func @attention(%q: !t4, %k: !t4, %v: !t4) -> !t4 {
  %turned = tok.transpose %k : (!t4) -> !t4
  %products = tok.matmul %q, %turned : (!t4, !t4) -> !t4
  %eight = tok.constant 8.0 : f64
  %scores = tok.binary div %products, %eight : (!t4, f64) -> !t4
  %largest = tok.aggregate max row %scores : !t4 -> !t4
  %shifted = tok.binary sub %scores, %largest : (!t4, !t4) -> !t4
  %exponents = tok.unary exp %shifted : !t4 -> !t4
  %sums = tok.aggregate sum row %exponents : !t4 -> !t4
  %weights = tok.binary div %exponents, %sums : (!t4, !t4) -> !t4
  %taken = tok.matmul %weights, %v : (!t4, !t4) -> !t4
  return %taken : !t4
}
func.func @main() {
  %one = tok.constant 1 : i64
  %two = tok.constant 2 : i64
  %three = tok.constant 3 : i64
  %four = tok.constant 4 : i64
  %six = tok.constant 6 : i64
  %seventy = tok.constant 70 : i64
  %eighty = tok.constant 80 : i64
  %66 = tok.constant 66 : i64
  %210 = tok.constant 210 : i64
  %240 = tok.constant 240 : i64
  %rowsA = tok.call @draw(%210, %eighty, %one) : (i64, i64, i64) -> !m
  %a = tok.view %rowsA [%three, %seventy, %eighty] : !m -> !t3
  %rowsB = tok.call @draw(%240, %66, %two) : (i64, i64, i64) -> !m
  %b = tok.view %rowsB [%three, %eighty, %66] : !m -> !t3
  %c = tok.call @draw(%one, %66, %three) : (i64, i64, i64) -> !m
  %layer = tok.call @layer(%a, %b, %c) : (!t3, !t3, !m) -> !t3
  %flat = tok.view %layer [%210, %66] : !t3 -> !m
  tok.call @show(%flat) : (!m) -> ()

  // One matrix for all.
  %rowsOne = tok.call @draw(%eighty, %66, %four) : (i64, i64, i64) -> !m
  %shared = tok.view %rowsOne [%one, %eighty, %66] : !m -> !t3
  %other = tok.call @layer(%a, %shared, %c) : (!t3, !t3, !m) -> !t3
  %flatOther = tok.view %other [%210, %66] : !t3 -> !m
  tok.call @show(%flatOther) : (!m) -> ()

  // Two batches of three heads: 70 queries and 80 keys of width 66.
  %420 = tok.constant 420 : i64
  %480 = tok.constant 480 : i64
  %drawnQ = tok.call @draw(%420, %66, %one) : (i64, i64, i64) -> !m
  %drawnK = tok.call @draw(%480, %66, %two) : (i64, i64, i64) -> !m
  %drawnV = tok.call @draw(%480, %seventy, %three) : (i64, i64, i64) -> !m
  %singleQ = tok.cast %drawnQ : !m -> !s
  %singleK = tok.cast %drawnK : !m -> !s
  %singleV = tok.cast %drawnV : !m -> !s
  %q = tok.view %singleQ [%two, %three, %seventy, %66] : !s -> !t4
  %k = tok.view %singleK [%two, %three, %eighty, %66] : !s -> !t4
  %v = tok.view %singleV [%two, %three, %eighty, %seventy] : !s -> !t4
  %taken = tok.call @attention(%q, %k, %v) : (!t4, !t4, !t4) -> !t4
  %flatTaken = tok.view %taken [%420, %seventy] : !t4 -> !s
  %doubles = tok.cast %flatTaken : !s -> !m
  tok.call @show(%doubles) : (!m) -> ()
  return
}
